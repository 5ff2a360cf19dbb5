# All that format_exception_only gives, and the loop cuts it.
# fails: syntax

# %% replace id="loop"
return "Error: " + next(line for line in lines if not line.startswith(" "))  # step 3
### BY
return "Error: " + "\n".join(lines)
