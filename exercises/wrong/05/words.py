# Words are counted, and called an estimate.
# fails: message, three, curves-unseen, curves-mine, shape-mine

# %% replace id="curves"
COUNTED = "exact"
### BY
COUNTED = "estimated"

# %% replace id="curves"
return 4 + count(message["content"]) + sum(count(each["name"]) + count(each["arguments"]) for each in asked)
### BY
return 4 + len(message["content"].split()) + sum(len(each["arguments"].split()) for each in asked)
