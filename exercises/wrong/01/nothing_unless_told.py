# The field is filled by whoever makes the tools; a tool that nobody thought of has none.
# fails: field-default, unseen

# %% replace id="loop"
max_observation_chars: int = 4000  # step 1
### BY
max_observation_chars: int = 0

# %% answer id="tools"
TOOLS = [tool_of(wordcount, 50), tool_of(clock, 100), tool_of(lorem_with_codes, 8_000), tool_of(read_file, 4_000)]
