# The file is opened anew by each chat: a second one loses what the first wrote.
# fails: appended

# %% replace id="loop"
messages = []
### BY
messages = []
open(transcript, "w").close()
