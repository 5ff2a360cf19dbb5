# The last line, which is a note where there are notes.
# fails: reason, reason-unseen, syntax

# %% replace id="loop"
return "Error: " + next(line for line in lines if not line.startswith(" "))  # step 3
### BY
return "Error: " + lines[-1]
