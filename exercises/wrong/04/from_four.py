# A threshold that finds all of them lists many that were asked for much.
# fails: high-monday, high-week

# %% replace id="high"
if line["iterations"] > files + 3:
### BY
if line["iterations"] >= 4:
