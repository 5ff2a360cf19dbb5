# The first item of format_exception_only, which for a SyntaxError is the place.
# fails: syntax

# %% replace id="loop"
return "Error: " + next(line for line in lines if not line.startswith(" "))  # step 3
### BY
return "Error: " + traceback.format_exception_only(error)[0]
