# The class alone.
# fails: reason, reason-unseen, syntax, exit

# %% replace id="loop"
return "Error: " + next(line for line in lines if not line.startswith(" "))  # step 3
### BY
return f"Error: {type(error).__name__}"
