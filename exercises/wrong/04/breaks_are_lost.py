# One line it is, since line breaks are made spaces: the prompt is not what the user said.
# fails: one-line

# %% replace id="loop"
file.write(json.dumps({"prompt": prompt, "reply": reply, "iterations": iterations}) + "\n")  # step 1
### BY
file.write(json.dumps({"prompt": " ".join(prompt.split()), "reply": reply, "iterations": iterations}) + "\n")
