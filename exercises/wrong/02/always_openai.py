# One counter for everybody.
# fails: right-counter, counter-asked, loop-counter

# %% replace id="counter"
if provider.name == "anthropic":
### BY
if provider.name == "claude":
