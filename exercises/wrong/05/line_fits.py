# A straight line explains most of every curve, so every curve is linear.
# fails: shape-known, shape-unseen, shape-mine

# %% answer id="shape"
def shape(values):
    explained = np.corrcoef(np.arange(len(values)), values)[0, 1] ** 2
    return "linear" if explained > 0.9 else "super-linear"


shapes = {name: shape(values) for name, values in mine["even"]["after"].items()}
