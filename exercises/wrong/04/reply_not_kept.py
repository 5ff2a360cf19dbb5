# What agent_step returns is still thrown away, and the prompt is logged alone.
# fails: logged, one-line, appended

# %% replace id="loop"
file.write(json.dumps({"prompt": prompt, "reply": reply, "iterations": iterations}) + "\n")  # step 1
### BY
file.write(json.dumps({"prompt": prompt, "iterations": iterations}) + "\n")
