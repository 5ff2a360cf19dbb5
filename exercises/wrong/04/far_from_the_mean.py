# More than two standard deviations above the mean: what was asked for does not matter.
# fails: high-monday, high-week

# %% answer id="high"
def struggling(lines):
    counts = pd.Series({line["id"]: line["iterations"] for line in lines})
    return list(counts[counts > counts.mean() + 2 * counts.std()].index)
