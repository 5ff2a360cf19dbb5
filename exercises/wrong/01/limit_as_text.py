# The limit is kept as text, as a configuration file would have it.
# fails: field-default, field-values

# %% replace id="loop"
max_observation_chars: int = 4000  # step 1
### BY
max_observation_chars: int = 4000

def __post_init__(self):
    self.max_observation_chars = str(self.max_observation_chars)

# %% replace id="loop"
limit = box[each.name].max_observation_chars  # step 2
### BY
limit = int(box[each.name].max_observation_chars)
