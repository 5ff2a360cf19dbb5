# The exception as Python writes it, which for a SyntaxError has the path in it.
# fails: syntax

# %% replace id="loop"
return "Error: " + next(line for line in lines if not line.startswith(" "))  # step 3
### BY
return f"Error: {error!r}"
