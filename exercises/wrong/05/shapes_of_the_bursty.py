# The shapes are those of the other session.
# fails: shape-mine

# %% replace id="shape"
shapes = {name: shape(values) for name, values in mine["even"]["after"].items()}
### BY
shapes = {name: shape(values) for name, values in mine["bursty"]["after"].items()}
