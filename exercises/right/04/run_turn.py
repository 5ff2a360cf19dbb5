# The package's run_turn knows the count; the loop in the cell is not used. What is usual is the median of what was asked alike.

# %% answer id="loop"
from agentlab.conversation import Conversation
from agentlab.loop import run_turn

MAX_ITERATIONS = 10


def chat(provider, read=input, write=print, transcript="transcript.jsonl"):
    talk = Conversation(system=SYSTEM)
    while prompt := next_line(read):
        turn = run_turn(talk, prompt, provider, tools=TOOLS, max_iterations=MAX_ITERATIONS)
        write(turn.text)
        line = {"iterations": turn.iterations, "reply": turn.text, "prompt": prompt, "status": turn.status}
        with open(transcript, "ab") as file:
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")


# %% answer id="high"
def struggling(lines):
    frame = pd.DataFrame(lines)
    frame["files"] = frame["prompt"].str.count(r"\w\.\w")
    usual = frame.groupby("files")["iterations"].transform("median")
    return set(frame.loc[frame["iterations"] >= usual + 2, "id"])


# %% answer id="low"
def without_looking(lines):
    """A file that an earlier turn of the session was about may be known already."""
    found, before = [], []
    for line in lines:
        if line["id"].endswith(".1"):
            before = []
        names = re.findall(r"[\w/]+\.\w+", line["prompt"])
        if names and line["iterations"] == 1 and not set(names) & set(before):
            found.append(line["id"])
        before += names
    return tuple(found)
