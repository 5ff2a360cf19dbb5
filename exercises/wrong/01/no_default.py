# The default is the book's example for small tools, not 4000.
# fails: field-default, field-values, unseen

# %% replace id="loop"
max_observation_chars: int = 4000  # step 1
### BY
max_observation_chars: int = 400
