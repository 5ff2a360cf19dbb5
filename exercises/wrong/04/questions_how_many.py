# Only what begins like Monday's two is looked for.
# fails: low-week

# %% replace id="low"
named = [line for line in lines if re.search(r"\w+\.\w+", line["prompt"])]
### BY
named = [line for line in lines if line["prompt"].startswith(("How many words", "Which is longer"))]
