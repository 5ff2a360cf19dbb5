# Five more than there are files: those that struggled with little are missed.
# fails: high-monday, high-week

# %% replace id="high"
if line["iterations"] > files + 3:
### BY
if line["iterations"] > files + 5:
