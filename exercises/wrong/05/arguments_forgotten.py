# Of a call its name is counted, not its arguments.
# fails: message, three, curves-unseen, curves-mine

# %% replace id="curves"
return 4 + count(message["content"]) + sum(count(each["name"]) + count(each["arguments"]) for each in asked)
### BY
return 4 + count(message["content"]) + sum(count(each["name"]) for each in asked)
