# A threshold whose list is short enough leaves out those that struggled with little.
# fails: high-monday, high-week

# %% replace id="high"
if line["iterations"] > files + 3:
### BY
if line["iterations"] >= 7:
