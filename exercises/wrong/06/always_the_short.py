# The short session is measured, whatever is asked for.
# fails: numbers-right, measured-unseen, told, figures, paragraph-whole

# %% replace id="decide"
turns = replay(session, decision)
### BY
turns = replay(SESSIONS["short"], decision)
