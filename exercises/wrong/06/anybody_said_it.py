# A text counts that anybody said, the user and the model too.
# fails: survive, both-unseen, middle-or-tail, numbers-right, paragraph-whole

# %% replace id="measuring"
shown = [each["content"] for each in request.messages if each["role"] == "tool"]
### BY
shown = [each["content"] for each in request.messages]
