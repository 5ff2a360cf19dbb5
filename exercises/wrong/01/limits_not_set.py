# The field is there, and no tool has been given its limit.
# fails: field-values

# %% answer id="tools"
TOOLS = [tool_of(wordcount), tool_of(clock), tool_of(lorem_with_codes), tool_of(read_file)]
