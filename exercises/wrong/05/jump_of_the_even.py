# The largest jump of the other session.
# fails: jump-mine

# %% replace id="jump"
jump = largest_jump(runs["bursty"]["after"])
### BY
jump = largest_jump(runs["even"]["after"])
