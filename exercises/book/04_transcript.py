# A reader who follows the chapter to the letter: the returned text, the user prompt and a count go into the file, and what
# is unusual is a count that is high, or one without any tool.

# %% replace id="loop"
before = len(messages)  # step 2
reply = agent_step(prompt, messages, provider, SYSTEM, paint)  # step 1
iterations = sum(message["role"] == "assistant" for message in messages[before:])  # step 2
with open(transcript, "a", encoding="utf-8") as file:  # step 1
    file.write(json.dumps({"prompt": prompt, "reply": reply, "iterations": iterations}) + "\n")  # step 1
### BY
start = len(messages)
reply = agent_step(prompt, messages, provider, SYSTEM, paint)
n = len([m for m in messages[start:] if m["role"] == "assistant"])
with open(transcript, "a") as f:
    f.write(json.dumps({"prompt": prompt, "reply": reply, "iterations": n}) + "\n")

# %% answer id="high"
def struggling(lines):
    return [line["id"] for line in lines if line["iterations"] >= 6]


# %% answer id="low"
def without_looking(lines):
    return [line["id"] for line in lines if line["iterations"] == 1]
