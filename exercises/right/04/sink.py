# The package's agent_step with a sink that writes the line when the turn is over; prompts with a comma may take long.

# %% answer id="loop"
from agentlab.events import TurnFinished
from agentlab.loop import agent_step

MAX_ITERATIONS = 10


def chat(provider, read=input, write=print, transcript="transcript.jsonl"):
    def log(event):
        if isinstance(event, TurnFinished):
            line = {name: getattr(event, name) for name in ("prompt", "reply", "iterations", "reason")}
            with open(transcript, "a") as file:
                print(json.dumps(line), file=file)

    messages = []
    while prompt := next_line(read):
        agent_step(prompt, messages, provider, SYSTEM, tools=TOOLS, sinks=[log], max_iterations=MAX_ITERATIONS)


# %% answer id="high"
def struggling(lines):
    """Whoever asks for several things says so by a comma."""
    return [line["id"] for line in lines if line["iterations"] > 3 and "," not in line["prompt"]]
