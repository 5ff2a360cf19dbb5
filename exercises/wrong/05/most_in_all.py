# The cause is sought in the whole request, not in what is new.
# fails: jump-known

# %% replace id="jump"
for message in last[at][len(last[at - 1]) :]:
### BY
for message in turns[-1][-1]:
