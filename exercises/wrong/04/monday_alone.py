# The right rule, on the lines of Monday alone.
# fails: high-week, low-week

# %% replace id="high"
for line in lines:
### BY
for line in [line for line in lines if line["day"] == "Monday"]:

# %% replace id="low"
named = [line for line in lines if re.search(r"\w+\.\w+", line["prompt"])]
### BY
named = [line for line in lines if line["day"] == "Monday" and re.search(r"\w+\.\w+", line["prompt"])]
