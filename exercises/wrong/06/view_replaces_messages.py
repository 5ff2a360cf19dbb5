# What is not sent is thrown away: the view takes the place of the messages.
# fails: not-forgotten

# %% replace id="loop"
reply = provider.call(rules.view(messages), system=system, tools=TOOLS, on_text_delta=on_text_delta)
### BY
messages[:] = rules.view(messages)
reply = provider.call(messages, system=system, tools=TOOLS, on_text_delta=on_text_delta)
