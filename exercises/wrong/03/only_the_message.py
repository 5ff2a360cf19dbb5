# The message without the class.
# fails: reason, reason-unseen, syntax

# %% replace id="loop"
return "Error: " + next(line for line in lines if not line.startswith(" "))  # step 3
### BY
return "Error: " + next(line for line in lines if not line.startswith(" ")).partition(": ")[2]
