# The list is there, and one of it is suggested all the same.
# fails: listed, listed-unseen

# %% replace id="loop"
return f"Error: there is no tool {name!r}. The tools are: {', '.join(names)}."  # step 2
### BY
return f"Error: there is no tool {name!r}, try {names[0]!r}. The tools are: {', '.join(names)}."
