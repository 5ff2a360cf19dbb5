# The turns that the text names, and no others.
# fails: high-week

# %% answer id="high"
def struggling(lines):
    return STRUGGLED
