# A text counts that anybody but the user said.
# fails: both-unseen, middle-or-tail, numbers-right, paragraph-whole

# %% replace id="measuring"
shown = [each["content"] for each in request.messages if each["role"] == "tool"]
### BY
shown = [each["content"] for each in request.messages if each["role"] != "user"]
