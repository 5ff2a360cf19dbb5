# The exponent is not rounded, so that nothing real is linear.
# fails: shape-unseen, shape-mine

# %% replace id="shape"
return "linear" if round(power, 1) == 1 else "super-linear" if power > 1 else "sub-linear"
### BY
return "linear" if abs(power - 1) < 1e-6 else "super-linear" if power > 1 else "sub-linear"
