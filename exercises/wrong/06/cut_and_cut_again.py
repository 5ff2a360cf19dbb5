# The chapter's cut stays, and what it leaves is shortened once more.
# fails: middle-or-tail, measured-unseen

# %% replace id="loop"
observation = rules.shorten(observation)
### BY
observation = rules.shorten(middle(observation))
