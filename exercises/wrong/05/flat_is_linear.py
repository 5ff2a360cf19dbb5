# What hardly grows is called linear.
# fails: shape-unseen

# %% replace id="shape"
return "linear" if round(power, 1) == 1 else "super-linear" if power > 1 else "sub-linear"
### BY
return "linear" if round(power, 1) == 1 or power < 0.2 else "super-linear" if power > 1 else "sub-linear"
