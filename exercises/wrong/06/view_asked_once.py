# The view is made once per turn, before the first call.
# fails: asked, not-forgotten, measured, numbers-right, measured-unseen, told, figures, paragraph-whole

# %% replace id="loop"
messages.append({"role": "user", "content": user_message})
### BY
messages.append({"role": "user", "content": user_message})
view = rules.view(messages)

# %% replace id="loop"
reply = provider.call(rules.view(messages), system=system, tools=TOOLS, on_text_delta=on_text_delta)
### BY
reply = provider.call(view, system=system, tools=TOOLS, on_text_delta=on_text_delta)
