# The first line of the traceback, taken literally.
# fails: reason, reason-unseen, syntax, exit

# %% replace id="loop"
return "Error: " + next(line for line in lines if not line.startswith(" "))  # step 3
### BY
return "Error: " + traceback.format_exc().splitlines()[0]
