# The caller appends the question and the reply as well.
# fails: kept, kept-unseen

# %% replace id="loop"
reply = agent_step(question, messages, provider, SYSTEM)
### BY
reply = agent_step(question, messages, provider, SYSTEM)
messages.append({"role": "assistant", "content": reply})
