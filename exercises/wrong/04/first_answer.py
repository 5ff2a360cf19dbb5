# The reply is taken from the first message after the prompt, which is no reply where a tool was called.
# fails: one-line

# %% replace id="loop"
reply = agent_step(prompt, messages, provider, SYSTEM, paint)  # step 1
### BY
agent_step(prompt, messages, provider, SYSTEM, paint)
reply = messages[before + 1]["content"]
