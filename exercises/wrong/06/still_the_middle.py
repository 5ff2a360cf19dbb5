# The loop asks rules what to send, and goes on cutting in the middle.
# fails: asked, not-forgotten, middle-or-tail, measured-unseen

# %% replace id="loop"
observation = rules.shorten(observation)
### BY
observation = middle(observation)
