# The system prompt and the tools are not counted: they stand in no message.
# fails: three, curves-unseen, curves-mine, shape-mine

# %% replace id="curves"
sent = [[BASE + sum(map(tokens_of, request)) for request in turn] for turn in turns]
### BY
sent = [[sum(map(tokens_of, request)) for request in turn] for turn in turns]
