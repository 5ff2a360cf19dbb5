# Each turn overwrites the one before.
# fails: logged, one-line, appended, counted, count-unseen

# %% replace id="loop"
with open(transcript, "a", encoding="utf-8") as file:  # step 1
### BY
with open(transcript, "w", encoding="utf-8") as file:
