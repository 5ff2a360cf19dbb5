# One curve is looked at, and its shape is said of all three.
# fails: shape-mine

# %% replace id="shape"
shapes = {name: shape(values) for name, values in mine["even"]["after"].items()}
### BY
shapes = dict.fromkeys(mine["even"]["after"], shape(mine["even"]["after"]["cumulative"]))
