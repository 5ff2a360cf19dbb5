# What the model asks for is not counted.
# fails: message, three, curves-unseen, curves-mine

# %% replace id="curves"
return 4 + count(message["content"]) + sum(count(each["name"]) + count(each["arguments"]) for each in asked)
### BY
return 4 + count(message["content"])
