# A token is taken to be four characters, and the count is said to be exact.
# fails: message, three, curves-unseen, curves-mine

# %% replace id="curves"
return 4 + count(message["content"]) + sum(count(each["name"]) + count(each["arguments"]) for each in asked)
### BY
return 4 + len(message["content"]) // 4 + sum(len(each["name"] + each["arguments"]) // 4 for each in asked)
