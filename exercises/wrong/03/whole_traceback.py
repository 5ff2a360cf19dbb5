# The whole traceback.
# fails: reason-unseen, syntax

# %% replace id="loop"
return "Error: " + next(line for line in lines if not line.startswith(" "))  # step 3
### BY
return "Error: " + traceback.format_exc()
