# All turns stand in one line.
# fails: logged, one-line, appended, counted, count-unseen

# %% replace id="loop"
file.write(json.dumps({"prompt": prompt, "reply": reply, "iterations": iterations}) + "\n")  # step 1
### BY
file.write(json.dumps({"prompt": prompt, "reply": reply, "iterations": iterations}))
