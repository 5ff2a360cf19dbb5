# The places are counted from 2, so that no logarithm is 0.
# fails: shape-known, shape-unseen, shape-mine

# %% replace id="shape"
places = np.arange(1, len(values) + 1)
### BY
places = np.arange(2, len(values) + 2)
