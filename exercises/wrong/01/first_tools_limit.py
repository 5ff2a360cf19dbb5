# All results are cut to the limit of the first tool in the list.
# fails: unseen

# %% replace id="loop"
limit = box[each.name].max_observation_chars  # step 2
### BY
limit = TOOLS[0].max_observation_chars
