# ---
# jupyter:
#   agentlab:
#     number: 4
#     title: "Keep the return value"
#     minutes: 30
#     tasks:
#     - {id: line, title: "A line for each turn"}
#     - {id: count, title: "Its iterations"}
#     - {id: high, title: "Turns that struggled"}
#     - {id: low, title: "Turns that looked at nothing"}
#     seams:
#     - agentlab.chat.chat
#     - agentlab.chat.Log
#     - agentlab.runner.Runner
#     - agentlab.transcript.SessionWriter
#     - agentlab.transcript.TurnWriter
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Exercise 4: keep the return value
#
# *About 30 minutes. Offline, no key. Four steps, about 14 lines of your own.*
#
# Since the loop itself appends to the history, `chat` throws away what `agent_step` returns. Keep it: one line for each
# turn in a file, with the question, the answer, and how many times the model was called for it. It is the cheapest log
# that an agent can have. In the second half you get such a log of a whole week, and find in it the turns that somebody
# should look at: where the agent struggled, and where it answered without looking.
#
# Run the cells from the top. Where it is your turn, the text says **Step**; the cell below a step checks it. More checks
# run when your notebook is graded. To see where you stand, write `%load_ext agentlab` and below it `%check` into a new
# cell: that runs all the checks that you can see.

# %% setup id="setup"
import json
import re
from itertools import count

import pandas as pd

from agentlab.builtin_tools import make_now, wordcount, workspace_tools
from agentlab.grading.building.beside import beside
from agentlab.grading.building.pictures import plot_turns, survivors, turn_tokens
from agentlab.grading.building.probe import as_message, data, only
from agentlab.grading.building.transcripts import Heard, cutting, look, plot_iterations, talk, talks, week
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.truncate import cut

SYSTEM = "Answer from what your tools show you."
clock = make_now(count(1_778_686_822, 41).__next__)
read_file = next(tool for tool in workspace_tools(data("observations")) if tool.name == "read_file")
TOOLS = [clock, wordcount, read_file]


def shorten(text):
    """What the model is shown of a result: both ends of it, 4,000 characters at most."""
    return cut(text, 4_000, "middle_snip").text


def next_line(read):
    """What the user says next; nothing at Ctrl-D."""
    try:
        return read("you: ")
    except EOFError:
        return ""


# %% [markdown]
# ## The loop and its chat, before this exercise
#
# `agent_step` is the chapter's loop. `chat` asks for a line, lets the loop answer, and paints the answer as it arrives. In
# steps 1 and 2 you edit this cell and run it again. You may also put here what you typed from the book, as long as
# `chat(provider)` runs it and the loop looks its tools up in `TOOLS`.

# %% answer id="loop" task="line"
MAX_ITERATIONS = 10


def agent_step(user_message, messages, provider, system, on_text_delta=None):
    messages.append({"role": "user", "content": user_message})
    for _ in range(MAX_ITERATIONS):
        reply = provider.call(messages, system=system, tools=TOOLS, on_text_delta=on_text_delta)
        messages.append(as_message(reply))
        if not reply.tool_calls:
            return reply.text
        box = {tool.name: tool for tool in TOOLS}
        for each in reply.tool_calls:
            try:
                observation = shorten(box[each.name].run(**each.arguments))
            except Exception as error:
                observation = f"Error: {type(error).__name__}: {error}"
            messages.append({"role": "tool", "tool_call_id": each.id, "name": each.name, "content": observation})
    return "I stopped: too many iterations."


def chat(provider, read=input, write=print, transcript="transcript.jsonl"):
    messages = []
    paint = lambda piece: write(piece, end="", flush=True)
    while prompt := next_line(read):
        ### BEGIN SOLUTION
        before = len(messages)  # step 2
        reply = agent_step(prompt, messages, provider, SYSTEM, paint)  # step 1
        iterations = sum(message["role"] == "assistant" for message in messages[before:])  # step 2
        with open(transcript, "a", encoding="utf-8") as file:  # step 1
            file.write(json.dumps({"prompt": prompt, "reply": reply, "iterations": iterations}) + "\n")  # step 1
        ### STUB
        # agent_step(prompt, messages, provider, SYSTEM, paint)  # step 1: and what it returns?
        ### END SOLUTION
        write()


# %% [markdown]
# ## Step 1: a line for each turn
#
# In `chat`, keep what `agent_step` returns, and write one line to the file `transcript`: a JSON object with the fields
# `prompt` and `reply`. A user may paste a text of several lines; it is one turn all the same, and one line. A second chat
# goes on in the same file: nothing that stands there is lost.
#
# To see it work, talk to it: run `chat(Heard())` in a cell of your own (`Heard` is the stand-in for a model that answers
# here), end it with an empty line, and delete the cell.
#
# <details><summary>Hint</summary>
#
# `json.dumps({"prompt": prompt, ...})` makes a text in which a line break is written `\n`. The mode in which `open`
# appends is `"a"`.
#
# </details>

# %% check id="logged" task="line" points=1 name="a line for each turn, with prompt and reply" because="step 1" hint="chat: json.dumps of prompt and reply, and a line break"
lines = talk(chat, ["How are you?", "And now?"], ScriptedModel(["Fine.", "Still fine."]))
found = [[line.get("prompt"), line.get("reply")] for line in lines]
wanted = [["How are you?", "Fine."], ["And now?", "Still fine."]]
assert found == wanted, f"expected the prompts and replies {wanted} in two lines, found {found}: look at what chat writes after agent_step, step 1"

# %% check id="one-line" task="line" points=1 name="one line for each turn, whatever stands in it" because="step 1" kind="output" hidden=true seeded=true hint="a prompt or a reply may have line breaks, quotes and letters of any script; the reply is the last text of the turn, also after a tool was called"
import random

drawn = random.Random(seed)
pieces = ["Read\nthis:", 'she said "no"', "naïve 東京", "a\tb", "C:\\temp\\new", "{}", "first\r\nsecond", "it's 50 %"]
said = [" ".join(drawn.sample(pieces, 4)) for _ in range(6)]
prompts, replies = said[:3], said[3:]
steps = [step for text in replies for step in (call("wordcount", text=text), text)]
lines = talk(chat, prompts, ScriptedModel(steps, unique_ids=True))
show([[line.get("prompt") == prompt, line.get("reply") == reply] for line, prompt, reply in zip(lines, prompts, replies, strict=True)])

# %% check id="appended" task="line" points=1 name="a second chat goes on in the file" because="step 1" kind="output" hidden=true hint="how is the file opened, and when?"
lines = talks(chat, (["One.", "Two."], ScriptedModel(["1", "2"])), (["Three."], ScriptedModel(["3"])))
show([[line.get("prompt"), line.get("reply")] for line in lines])

# %% [markdown]
# So this is your log after two turns. (`talk` runs your chat on given lines, in an empty folder, and reads the file that it
# wrote there.)

# %% given id="raw"
for line in talk(chat, ["What time is it?", "How many words are in\n'to be or not to be'?"], Heard()):
    print(json.dumps(line, ensure_ascii=False))

# %% [markdown]
# ## Step 2: its iterations
#
# One field more, `iterations`: how many times the model was called in this turn. `agent_step` returns a text and nothing
# else, so you need another way to the number. There are several: the messages that a turn has added, a second thing that
# `agent_step` returns, or the package's `run_turn`, which knows it. Take the one that you like.
#
# Two things to think of. A model may ask for several tools at once, and that is still one iteration. And a turn that is
# stopped after ten iterations has ten.
#
# <details><summary>Hint</summary>
#
# Each call of the model gives one message of the role `assistant`. How long was `messages` before the turn?
#
# </details>

# %% check id="counted" task="count" points=1 name="a turn has its own number of iterations" because="step 2" hint="chat: only what this turn has added counts"
lines = talk(chat, ["How many words has 'a b'?", "Hello!"], ScriptedModel([call("wordcount", text="a b"), "Two.", "Hello."]))
found = [line.get("iterations") for line in lines]
assert found == [2, 1], f"expected 2 iterations, for a call of a tool and an answer, and then 1, found {found}: look at what chat counts, step 2"

# %% check id="count-unseen" task="count" points=2 name="several tools at once, and a turn that is stopped" because="step 2" kind="output" hidden=true seeded=true hint="count calls of the model, not tools: two tools at once are one iteration, and a turn that is stopped at the cap has ten"
import random

drawn = random.Random(seed)
sizes = [drawn.randrange(2, 7), 1, MAX_ITERATIONS, drawn.randrange(2, 7), drawn.randrange(3, 9)]
steps = []
for size in sizes:
    for number in range(size - (size != MAX_ITERATIONS)):
        asked = [call("wordcount", text="so many words " * (number + 1 + more)) for more in range(drawn.randrange(1, 4))]
        steps.append([*asked, call("now")] if number == 0 else asked)
    steps += [] if size == MAX_ITERATIONS else ["Done."]
lines = talk(chat, [f"Question {number}." for number in range(len(sizes))], ScriptedModel(steps, unique_ids=True))
show([line.get("iterations") == size for line, size in zip(lines, sizes, strict=True)])

# %% [markdown]
# ## Ten questions, two cuts
#
# Your log is good for something at once: it says what a cut costs. Here are ten questions to the offline model, which is
# rule-based and no LLM. It reads a file, and where it does not see what it looks for, it reads on. The same ten are asked
# twice: once every result is cut to 4,000 characters by `middle_snip`, which keeps both ends, and once by `tail_cut`, which
# keeps the head.
#
# Which cut will need more iterations, do you think, and in which turns?

# %% given id="questions"
QUESTIONS = [
    "What time is it?",
    "Read build.log. How does it end?",
    "Find 'def price_baskets' in source.py.",
    "Read response.http. How does it end?",
    "Find 'code-end' in orders.json.",
    "Find 'code-head' in orders.json.",
    "Read services.yaml. How does it end?",
    "Find 'code-middle' in build.log.",
    "How many words are in 'to be or not to be'?",
    "How long has it been since I asked for the time?",
]

print(len(QUESTIONS), "questions to", Heard())

# %% [markdown]
# Now the session, twice, and from your log how many times the model was called in each turn:

# %% given id="session"
def session(strategy):
    model = Heard()
    with only(TOOLS, *cutting(TOOLS, strategy)):
        lines = talk(chat, QUESTIONS, model)
    return [line["iterations"] for line in lines], model.messages


(middle, middle_messages), (tail, tail_messages) = session("middle_snip"), session("tail_cut")
turns = pd.DataFrame({"asked": QUESTIONS, "middle_snip": middle, "tail_cut": tail}, index=range(1, 11))
plot_iterations(turns[["middle_snip", "tail_cut"]], "Your session: iterations per user turn")

# %% [markdown]
# The same as a table; `extra` is what `tail_cut` needs more, and below 0 it is `middle_snip` that has to ask again:

# %% given id="extra"
print("in all:", sum(middle), "iterations with middle_snip,", sum(tail), "with tail_cut")
turns.assign(extra=turns["tail_cut"] - turns["middle_snip"])

# %% [markdown]
# In all the two are nearly even, and yet other turns pay. To see why, look at where three of the things stand that were
# asked for, and whether a cut to 4,000 characters still shows them.

# %% given id="survive"
wanted = {"source.py": "def price_baskets", "orders.json": "code-end", "build.log": "code-middle"}
texts = {name: data(f"observations/{name}").read_text(encoding="utf-8") for name in wanted}
pd.concat([
    survivors(text, {f"{wanted[name]}, at {text.index(wanted[name]):,} of {len(text):,}": wanted[name]}, 4_000)
    for name, text in texts.items()
])

# %% [markdown]
# Turn 3 asks for something in the second 2,000 characters, turn 5 for something at the end, and turn 8 for the middle, which
# neither cut keeps. Where a cut has taken it away, the model reads on, part by part, and gives up after eight readings,
# found or not. So what a cut takes away is paid for later, in iterations. Each of them sends the whole history again, and
# costs more the later it comes:

# %% given id="tokens"
tokens = turn_tokens({"middle_snip": middle_messages, "tail_cut": tail_messages}, system=SYSTEM, tools=TOOLS)
plot_turns(tokens, "Your session: prompt tokens per user turn")

# %% [markdown]
# ## A week
#
# Now a log that is worth searching. `WEEK` holds the turns of a week, each with the three fields that you log, and with
# an id: `s07.3` is the third turn of the seventh session. Our loop recorded them, with the offline model over a folder of
# about thirty files. In 25 of the turns something was made to go wrong, and you will find these.

# %% given id="week"
WEEK = week()
print(WEEK[3])
print(len(WEEK), "turns; how many have 1, 2, 3 ... iterations:")
pd.Series([line["iterations"] for line in WEEK]).value_counts().sort_index().to_dict()

# %% [markdown]
# Somebody has read all of Monday and found five. In three of them the agent struggled: it guessed the name of a tool or of
# an argument, failed, and guessed again. In two it was asked about a file and called no tool, so what it said about the
# file is made up. `look` shows what became of a turn.

# %% given id="monday"
STRUGGLED, DID_NOT_LOOK = ["s01.7", "s06.4", "s08.6"], ["s04.5", "s09.3"]
look([*STRUGGLED, *DID_NOT_LOOK])

# %% [markdown]
# ## Step 3: turns that struggled
#
# In the whole week 15 turns struggled: with wrong names, with wrong arguments, or in search of what is not there, some of
# them up to the cap of ten. Write `struggling(lines)`, which returns the ids of turns that somebody should look at. All 15
# must be among them, and 30 ids are the most that somebody has time for.
#
# "Unusually many iterations" is the first thing that comes to mind. Here is Monday from four iterations up:

# %% given id="book-high"
print({f"{least} and more": sum(line["iterations"] >= least for line in WEEK) for least in (4, 5, 6, 7, 8)})
pd.DataFrame(
    [[line["id"], line["iterations"], line["id"] in STRUGGLED, line["prompt"][:45]]
     for line in WEEK if line["day"] == "Monday" and line["iterations"] >= 4],
    columns=["id", "iterations", "struggled", "prompt"],
).set_index("id").sort_values("iterations")

# %% [markdown]
# All but one of the longest turns are honest: they were asked to go through six or seven files, and did. And four iterations
# are two too many to tell the time. To have those as well you would have to list all 53 turns from four up, and 30 is the
# limit. Many or few is a question of what was *asked*.
#
# <details><summary>Hint 1</summary>
#
# How many iterations would an honest agent need? One for each file that the prompt names, and one for the answer. Allow
# for a slip or two.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `re.findall(r"\w+\.\w+", line["prompt"])` is the list of the files that a prompt names.
#
# </details>

# %% answer id="high" task="high"
def struggling(lines):
    """Ids of the turns that took more iterations than what was asked for explains."""
    ### BEGIN SOLUTION
    found = []
    for line in lines:
        files = len(re.findall(r"\w+\.\w+", line["prompt"]))
        if line["iterations"] > files + 3:
            found.append(line["id"])
    return found
    ### END SOLUTION


# %% check id="high-monday" task="high" points=1 name="Monday's three are found, in a list of 30 at most" because="step 3" hint="struggling: compare the count with what was asked"
found = list(struggling(WEEK))
known = {line["id"] for line in WEEK}
strange = [each for each in found if not isinstance(each, str) or each not in known]
assert not strange, f"expected ids such as 's01.7', found {str(strange[0])[:60]!r} in the list: look at what struggling returns, step 3"
missing = sorted(set(STRUGGLED) - set(found))
assert not missing, f"expected Monday's {STRUGGLED} in the list, and {missing} are not there: how many iterations had they, and what was asked? step 3"
assert len(set(found)) <= 30, f"expected a list of 30 ids at most, found {len(set(found))}: which of them were asked for much? step 3"

# %% check id="high-week" task="high" points=2 name="all that struggled in the week are found" because="step 3" kind="output" hidden=true hint="a turn that names one file and takes five iterations is worth a look as well; 30 ids at most"
planted = "s01.7 s06.4 s08.6 s14.5 s16.4 s20.4 s25.5 s28.3 s30.2 s34.4 s35.4 s37.6 s39.6 s42.5 s43.7".split()
found = set(struggling(week()))
show([all(each in found for each in planted), len(found) <= 30])

# %% [markdown]
# ## Step 4: turns that looked at nothing
#
# An agent that calls no tool has one iteration. In 10 turns of the week it was asked about a file and made the answer up.
# Write `without_looking(lines)`: their ids, in a list of at most 20. Here is Monday with one iteration:

# %% given id="book-low"
print("with one iteration in the week:", sum(line["iterations"] == 1 for line in WEEK))
pd.DataFrame(
    [[line["id"], line["id"] in DID_NOT_LOOK, line["prompt"], line["reply"][:45]]
     for line in WEEK if line["day"] == "Monday" and line["iterations"] == 1],
    columns=["id", "did not look", "prompt", "reply"],
).set_index("id")

# %% [markdown]
# Nobody needs a tool to say "You are welcome". Again the count alone is not enough. Two of the others, s01.6 and s08.4, ask
# about a file that the turn before has read. They are honest, but your list has room for a few like them.
#
# <details><summary>Hint</summary>
#
# Which of these prompts name a file?
#
# </details>

# %% answer id="low" task="low"
def without_looking(lines):
    """Ids of the turns that were asked about a file and called no tool."""
    ### BEGIN SOLUTION
    named = [line for line in lines if re.search(r"\w+\.\w+", line["prompt"])]
    return [line["id"] for line in named if line["iterations"] == 1]
    ### END SOLUTION


# %% check id="low-monday" task="low" points=1 name="Monday's two are found, in a list of 20 at most" because="step 4" hint="without_looking: one iteration, and a file in the prompt"
found = list(without_looking(WEEK))
known = {line["id"] for line in WEEK}
strange = [each for each in found if not isinstance(each, str) or each not in known]
assert not strange, f"expected ids such as 's04.5', found {str(strange[0])[:60]!r} in the list: look at what without_looking returns, step 4"
missing = sorted(set(DID_NOT_LOOK) - set(found))
assert not missing, f"expected Monday's {DID_NOT_LOOK} in the list, and {missing} are not there: look at their prompts, step 4"
assert len(set(found)) <= 20, f"expected a list of 20 ids at most, found {len(set(found))}: which of them ask about a file? step 4"

# %% check id="low-week" task="low" points=2 name="all that were made up in the week are found" because="step 4" kind="output" hidden=true hint="one iteration, and the prompt names a file, in whatever words it asks; 20 ids at most"
planted = "s04.5 s09.3 s11.3 s18.5 s21.2 s23.5 s31.3 s46.3 s48.4 s49.4".split()
found = set(without_looking(week()))
show([all(each in found for each in planted), len(found) <= 20])

# %% [markdown]
# ### Look at them
#
# A list like yours is where the work begins. Here are the first twelve: do the failed calls agree with you?

# %% given id="spot"
look([*list(struggling(WEEK))[:8], *list(without_looking(WEEK))[:4]])

# %% [markdown]
# Some are honest. "Read the biggest file in warehouse" needs two listings before it can read, and names no file. And
# "How many lines does warehouse/kettles.py have?" was answered without a tool because the turn *before* had read the file:
# that is continuation at work. A log with three fields cannot tell the two apart. Could one that you keep?
#
# ## The package's version
#
# All checks above have passed? Then compare. Left is your `chat`, right is the package's.
#
# **One question to take with you:** yours writes a line once `agent_step` has returned. The package's hands a *sink* to the
# loop, which is told when a turn is over, however it ended. A user presses Ctrl-C in the middle of a turn: which of the two
# transcripts has a line for it, and would it count as a struggle?

# %% shown id="package"
beside(chat, "agentlab.chat.chat")
