# The two runs are mixed up.
# fails: curves-mine, shape-mine

# %% replace id="curves"
mine = {title: {way: curves(turns) for way, turns in ways.items()} for title, ways in runs.items()}
### BY
mine = {title: dict(zip(ways, map(curves, reversed(ways.values())))) for title, ways in runs.items()}
