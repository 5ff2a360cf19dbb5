# The decision is always the chosen one, whatever is asked for.
# fails: numbers-right, measured-unseen, figures, paragraph-whole

# %% replace id="decide"
turns = replay(session, decision)
### BY
turns = replay(session, "placeholders")
