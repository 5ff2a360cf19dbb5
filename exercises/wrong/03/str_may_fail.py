# The chapter's line, which fails where the exception cannot say what it is.
# fails: reason, reason-unseen, syntax

# %% replace id="loop"
return "Error: " + next(line for line in lines if not line.startswith(" "))  # step 3
### BY
return f"Error: {type(error).__name__}: {str(error).split(chr(10))[0]}"
