# No tool is taken for no iteration.
# fails: low-monday, low-week

# %% replace id="low"
return [line["id"] for line in named if line["iterations"] == 1]
### BY
return [line["id"] for line in named if line["iterations"] == 0]
