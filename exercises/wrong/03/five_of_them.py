# The list ends after five tools.
# fails: listed-unseen

# %% replace id="loop"
return f"Error: there is no tool {name!r}. The tools are: {', '.join(names)}."  # step 2
### BY
return f"Error: there is no tool {name!r}. Some tools are: {', '.join(names[:5])}."
