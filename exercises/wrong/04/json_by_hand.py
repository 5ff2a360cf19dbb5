# The line is put together by hand: a line break or a quote in the prompt breaks it.
# fails: one-line

# %% replace id="loop"
file.write(json.dumps({"prompt": prompt, "reply": reply, "iterations": iterations}) + "\n")  # step 1
### BY
file.write(f'{{"prompt": "{prompt}", "reply": "{reply}", "iterations": {iterations}}}\n')
