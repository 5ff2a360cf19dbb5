# The lines themselves are returned, not their ids.
# fails: high-monday, high-week, low-monday, low-week

# %% replace id="high"
found.append(line["id"])
### BY
found.append(line)

# %% replace id="low"
return [line["id"] for line in named if line["iterations"] == 1]
### BY
return [line for line in named if line["iterations"] == 1]
