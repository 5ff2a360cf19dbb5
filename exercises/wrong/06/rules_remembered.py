# The two functions are taken from rules once, when the cell runs.
# fails: asked, not-forgotten, middle-or-tail, numbers-right, measured-unseen, figures, paragraph-whole

# %% replace id="loop"
MAX_ITERATIONS = 10
### BY
MAX_ITERATIONS = 10
SHORTEN, VIEW = rules.shorten, rules.view

# %% replace id="loop"
reply = provider.call(rules.view(messages), system=system, tools=TOOLS, on_text_delta=on_text_delta)
### BY
reply = provider.call(VIEW(messages), system=system, tools=TOOLS, on_text_delta=on_text_delta)

# %% replace id="loop"
observation = rules.shorten(observation)
### BY
observation = SHORTEN(observation)
