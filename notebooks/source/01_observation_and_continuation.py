# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Observation and continuation
#
# An agent is a loop: it calls a model, runs the tools that the model asks for, and shows it what they gave. This
# notebook builds that loop in a few lines, breaks it in three ways, and repairs it with the code that the package runs.
# You will see
#
# 1. how two looks at one file fill a window of 128,000 tokens,
# 2. how the obvious way to shorten a text returns more than it was allowed to,
# 3. which part of a long result a cut should keep, and what it costs to guess wrong,
# 4. what an agent forgets when its tool results are thrown away between two questions,
#
# and at the end a whole session over real files, with its token curve.
#
# It takes about 25 minutes. Everything runs offline. The model is a stand-in that is **rule-based, not an LLM**: it calls
# tools, has a window and counts its tokens, so it shows *mechanics*. It says nothing about how language models behave;
# where that matters, the text says so.

# %% [markdown]
# ## 1. Talk to an agent
#
# One call of `agent_step` is one turn: a question goes in, an answer comes out.

# %%
from pathlib import Path

from agentlab import show
from agentlab.loop import agent_step
from agentlab.providers.offline import OfflineModel

SYSTEM = "Answer from what your tools show you."
messages = []
agent_step("How many words are in 'to be or not to be'?", messages, OfflineModel(), SYSTEM)

# %% [markdown]
# The model did not count. It asked for a tool, and `messages` holds the exchange: the question, the call, what the tool
# gave (the **observation**), and the reply.

# %%
show.messages(messages)

# %% [markdown]
# A message is a plain dict, and an observation is one with the role `tool`. Its `content` is all that the model will
# ever know of what the tool did.

# %% tags=["nbval-check-output"]
messages[2]

# %% [markdown]
# ## 2. A first version
#
# What would you write first? Begin with a tool that reads a file. `tool` turns a function into what a model needs: a
# name, a description and a schema of its arguments.

# %%
from agentlab.builtin_tools import make_now, wordcount
from agentlab.tools import tool

DATA = Path("../data/observations")


@tool(name="read_file")
def read_whole_file(path: str) -> str:
    """Read a text file and return all of it."""
    return (DATA / path).read_text(encoding="utf-8")


{path.name: path.stat().st_size for path in sorted(DATA.iterdir())}

# %% [markdown]
# Next, the message in which a reply of the model goes into the history. Where the model asks for tools, the message says
# which, with their arguments as JSON text.

# %%
import json


def as_message(reply):
    calls = []
    for each in reply.tool_calls:
        function = {"name": each.name, "arguments": json.dumps(each.arguments)}
        calls.append({"id": each.id, "type": "function", "function": function})
    return {"role": "assistant", "content": reply.text} | ({"tool_calls": calls} if calls else {})


asked = [{"role": "user", "content": "How many words does source.py have?"}]
as_message(OfflineModel().call(asked, system=SYSTEM, tools=[read_whole_file]))

# %% [markdown]
# And the loop. It goes on until the model asks for nothing more. Read it twice: there is no limit in it anywhere.

# %%
def first_step(question, history, provider, system, tools):
    history.append({"role": "user", "content": question})
    box = {each.name: each for each in tools}
    while (reply := provider.call(history, system=system, tools=tools)).tool_calls:
        history.append(as_message(reply))
        for each in reply.tool_calls:
            result = {"content": box[each.name].run(**each.arguments)}
            history.append({"role": "tool", "tool_call_id": each.id, "name": each.name} | result)
    history.append(as_message(reply))
    return reply.text


first_step("How many words does source.py have?", [], OfflineModel(), SYSTEM, [read_whole_file])

# %% [markdown]
# ## 3. It breaks: size
#
# Every call sends the whole history. To watch that, put a meter between loop and model: anything with a `call` method
# is a provider, so a wrapper is all it takes.

# %%
class Meter:
    def __init__(self, provider):
        self.provider, self.prompts = provider, []

    def call(self, history, **settings):
        reply = self.provider.call(history, **settings)
        self.prompts.append(reply.usage.prompt_tokens)
        print(f"{self.prompts[-1]:>8,} tokens sent  {'■' * (self.prompts[-1] // 2_000)}")
        return reply


tools = [read_whole_file, wordcount, make_now(lambda: 1_778_686_822)]
meter, session = Meter(OfflineModel(window=128_000)), []
print(first_step("What can you do?", session, meter, SYSTEM, tools))

# %% [markdown]
# A few hundred tokens at most. Now a configuration of 5,000 lines, about 200 KB.

# %%
print(first_step("Read services.yaml. How does it end?", session, meter, SYSTEM, tools))

# %% [markdown]
# The observation is in the history now, and stays there. Ask for something small.

# %%
print(first_step("What time is it?", session, meter, SYSTEM, tools))

# %% [markdown]
# The time of day, at the price of the file, twice: once to ask for the tool and once to read its answer. Then look at
# the file a second time.

# %%
from textwrap import fill

from agentlab.errors import ContextWindowError

try:
    first_step("Read services.yaml again.", session, meter, SYSTEM, tools)
except ContextWindowError as error:
    refused = error
    print(fill(f"ContextWindowError: {error}", 96))

# %% [markdown]
# Four questions, from a small prompt to one that no call will take. The session is stuck: whatever is asked next, the
# same history is sent and refused.

# %% tags=["nbval-check-output"]
print("first prompt under 1,000 tokens: ", meter.prompts[0] < 1_000)
print("refused prompt over 100,000:     ", refused.prompt_tokens > 100_000)
print("messages that the session holds: ", len(session))

# %% [markdown]
# ### Three ways to pay again
#
# What was sent is sent again in three directions. To see them apart, let a **scripted** model make its calls in an order
# of our choice: in turn 1 two reads one after the other, in turn 2 two reads side by side and then a look at the clock.

# %%
from agentlab.providers.scripted import ScriptedModel, call

one, other = (call("read_file", path=path) for path in ("source.py", "response.http"))
scripted = ScriptedModel([one, other, "One by one.", [one, other], call("now"), "Side by side."])
dissected = []
for question in ("Read one file, then the other.", "Now both at once."):
    print(first_step(question, dissected, scripted, SYSTEM, tools))

# %% [markdown]
# `calls_frame` takes the prompt of each call apart. *New* is what no call had carried before. The rest was paid for
# already: **vertically**, by earlier iterations of the same turn (`resent_iterations`); **horizontally**, by results
# that came beside another one (`resent_parallel`, a part of it); and **across turns** (`resent_turns`). A scripted model
# reports no usage, so these figures are the tokenizer's and `measured` is False.

# %%
from agentlab.analysis import calls_frame, read_messages

split = calls_frame(read_messages(dissected, system=SYSTEM, tools=tools))
columns = ["prompt_tokens", "new_tokens", "resent_iterations", "resent_parallel", "resent_turns"]
split[["turn", "iteration", *columns, "measured"]]

# %% [markdown]
# In one number: of all that the six calls sent, this share had been sent before.

# %%
again = 1 - split["new_tokens"].sum() / split["prompt_tokens"].sum()
f"{again:.0%} of {split['prompt_tokens'].sum():,} prompt tokens were not new"

# %% [markdown]
# ## 4. It breaks: the helper
#
# So a result needs a limit. The natural first helper keeps both ends, says in the middle what is missing, and sets some
# characters aside for saying so.

# %%
RESERVED = 60  # for the note


def first_cut(text, limit):
    if len(text) <= limit:
        return text
    front = limit // 2
    back = limit - front - RESERVED
    note = f"[...truncated: {len(text) - front - back} characters omitted from the middle...]"
    return f"{text[:front]}\n\n{note}\n\n{text[-back:]}"


yaml_text = (DATA / "services.yaml").read_text(encoding="utf-8")
print(f"{len(yaml_text):,} characters become {len(first_cut(yaml_text, 4_000)):,}")

# %% [markdown]
# From 196,017 to about 4,000: it seems to work. It is a few characters over, which one can live with. Or not? Give a
# small tool a small limit. `wordcount` returns a number, so 50 characters are plenty, until a model gets an argument's
# name wrong and what comes back is not a number but an error.

# %% tags=["nbval-check-output"]
try:
    wordcount.run(txt="to be or not to be")
except TypeError as error:
    problem = f"Error: {type(error).__name__}: {error}"

print(f"{len(problem)} characters: {problem}")
print(f"cut to 50, it has {len(first_cut(problem, 50))}:\n")
print(first_cut(problem, 50))

# %% [markdown]
# The limit was 50, the text had 70 characters, and the "shortened" one has 120: ten characters went out and sixty came
# in. And the note is wrong, since 80 of 70 cannot be missing. What happens at other limits?

# %%
import pandas as pd

from agentlab.truncate import truncate_observation

limits = pd.Index(range(0, 401, 2), name="limit, characters")
lengths = pd.DataFrame({"the limit": limits}, limits)
for name, helper in {"first_cut": first_cut, "truncate_observation": truncate_observation}.items():
    lengths[name] = [len(helper("x" * 1_000, limit)) for limit in limits]
look = {"color": ["#A6A6A6", "#D55E00", "#0072B2"], "style": ["-", "-", "--"], "figsize": (8, 3.6)}
_ = lengths.plot(ylabel="characters returned", **look)

# %% [markdown]
# Two mistakes, one small and one large. The note with its blank lines has 58 characters and the digits of its number: with
# three digits it is longer than its reserve, so the result is over by one, two, four. And up to a limit of 120, `back` is 0
# or negative. Then `text[-back:]` is no longer "the last few characters": `text[-0:]` is the whole text, and `text[35:]`
# nearly all of it.

# %% tags=["nbval-check-output"]
for limit, size in {50: 1_000, 100: 1_000, 120: 1_000, 400: 1_000, 4_000: 5_000}.items():
    long = "x" * size
    mine, theirs = len(first_cut(long, limit)), len(truncate_observation(long, limit))
    print(f"{size:>5,} characters, limit {limit:>5,}: first_cut {mine:>5,}, the package {theirs:>5,}")

# %% [markdown]
# The package's helper has the same signature. It hands the work to `cut`, which serves all strategies and units.

# %%
show.source(truncate_observation, docstring=False)

# %% [markdown]
# The step that makes the difference is this one: guess how much fits, write the note for it, measure **the whole**, and
# where it is too large keep less and measure again. No constant has to be right.

# %%
from agentlab.truncate import cutting

show.source(cutting._Job._fit)

# %% [markdown]
# An error is an observation too, and its last words are the reason. So it does not share its tool's limit of 50: errors
# have a limit of their own, and the text says what was expected. The same wrong call, as the loop would show it:

# %%
from agentlab.messages import ToolCall
from agentlab.observe import observe

print(observe(ToolCall("1", "wordcount", {"txt": "to be or not to be"}), {"wordcount": wordcount}).text)
print(observe(ToolCall("2", "wordcuont", {"text": "to be"}), {"wordcount": wordcount}).text)

# %% [markdown]
# ## 5. Which part should stay?
#
# A cut decides what the model can know. The three strategies are named by what they do: `middle_snip` keeps both ends,
# `tail_cut` keeps the head, `head_cut` keeps the tail. Here is one build log under each.

# %%
from agentlab.truncate import cut

log = (DATA / "build.log").read_text(encoding="utf-8")
strategies = ("middle_snip", "tail_cut", "head_cut")
show.side_by_side({name: cut(log, 420, name).text for name in strategies})

# %% [markdown]
# Where is the line between enough and too little? Drag the limit, choose other strategies and other files, and open the gap
# to read what the model would not. (Where no kernel runs, this is a picture of it.)

# %%
from agentlab.widgets import CutExplorer

CutExplorer(DATA, limit=1_000)

# %% [markdown]
# In each example file, three codes are planted: near the head, in the middle, near the end. Which of them are still
# there at 4,000 characters?

# %% tags=["nbval-check-output"]
planted = json.loads((DATA / "planted.json").read_text(encoding="utf-8"))
print(f"{'':<15}" + "".join(f"{name:<16}" for name in strategies))
for file, facts in planted.items():
    whole = (DATA / file).read_text(encoding="utf-8")
    codes = {place: facts[place]["code"] for place in ("head", "middle", "end")}
    shown = [cut(whole, 4_000, name).text for name in strategies]
    kept = [" and ".join(place for place in codes if codes[place] in text) for text in shown]
    print(f"{file:<15}" + "".join(f"{places:<16}" for places in kept))

# %% [markdown]
# Nobody keeps the middle. In four of the files that may not matter. In the build log it does: the compiler's error is
# there, and a model that is shown both ends reads that a build failed, and not why.

# %% tags=["nbval-check-output"]
lines = log.splitlines()
error_line = next(number for number, line in enumerate(lines, 1) if "error:" in line)
print(f"line {error_line} of {len(lines)}: {lines[error_line - 1]}")
{name: "error:" in cut(log, 4_000, name).text for name in strategies}

# %% [markdown]
# These files were made up to make a point. So ask real ones: the modules of Python's own library. "Imports are at the
# top, exports at the bottom" is a reason to keep both ends. Is it so? For each module of over 4,000 characters, where
# is the first import, and where is `__all__`? (95 % intervals by Wilson.)

# %%
import re
from sysconfig import get_path


def interval(hits, n, z=1.96):
    centre, half = hits + z * z / 2, z * (hits * (n - hits) / n + z * z / 4) ** 0.5
    low, high = (centre - half) / (n + z * z), (centre + half) / (n + z * z)
    return f"{hits} of {n}, {hits / n:.0%} [{low:.0%}, {high:.0%}]"


paths = Path(get_path("stdlib")).glob("*.py")
modules = [path.read_text(encoding="utf-8", errors="replace") for path in paths]
modules = [module for module in modules if len(module) > 4_000]
print(len(modules), "modules")

# %% [markdown]
# Both ends here are 2,000 characters each: what a middle snip of 4,000 keeps.

# %%
for what, pattern in {"first import": r"^(import|from) \w", "__all__": r"^__all__\s*="}.items():
    found = [(re.search(pattern, module, re.MULTILINE), len(module)) for module in modules]
    places = [(match.start(), size) for match, size in found if match]
    in_head = sum(at < 2_000 for at, _ in places)
    in_tail = sum(at >= size - 2_000 for at, size in places)
    print(f"{what:<12}  in the head: {interval(in_head, len(places))}")
    print(f"{'':<12}  in the tail: {interval(in_tail, len(places))}")

# %% [markdown]
# Imports at the top: yes, mostly. Exports at the bottom: no, `__all__` is near the top, too. What a tail is worth depends on what the tool returns, which is why a limit and its
# strategy belong to the tool.

# %% [markdown]
# Where a result is JSON there is another way, before any cut: leave out the fields that nobody needs. What is left is
# still JSON. (In a `Tool` this is the setting `keep_fields`.)

# %% tags=["nbval-check-output"]
from agentlab.truncate import drop_fields

orders = (DATA / "orders.json").read_text(encoding="utf-8")
lean = drop_fields(orders, ("id", "price"))
print(f"{len(orders):,} characters become {len(lean):,}; {len(json.loads(lean))} orders, each with")
print(*json.loads(lean)[0])

# %% [markdown]
# ## 6. It breaks: the lost scratchpad
#
# A loop that keeps only questions and replies saves all those tokens: a turn's calls and observations, its
# **scratchpad**, are gone when it ends. What else is gone? Ask for the time, and 41 seconds later how long ago that was.
# The clock is ours, so that the answer is known.

# %%
from agentlab.conversation import without_scratchpad


def ask_twice(wording, forget):
    ticks = iter([1_778_686_822, 1_778_686_863])
    clock, model, talk = make_now(lambda: next(ticks)), OfflineModel(wording=wording), []
    first = agent_step("What is the current UTC time?", talk, model, SYSTEM, tools=[clock])
    talk = without_scratchpad(talk) if forget else talk
    second = agent_step("How long has it been since I asked?", talk, model, SYSTEM, tools=[clock])
    return fill(first, 92), fill(second, 92), talk


print(*ask_twice("quote", forget=False)[:2], sep="\n")

# %% [markdown]
# With its scratchpad the model finds the earlier timestamp and subtracts. Now three ways: with it; without it, where the
# reply had quoted the timestamp; without it, where the reply had said the time in words.

# %% tags=["nbval-check-output"]
ways = {
    "with the scratchpad": ("quote", False),
    "without, the reply quotes the timestamp": ("quote", True),
    "without, the reply uses words": ("words", True),
}
for name, (wording, forget) in ways.items():
    print(f"{name}:", *ask_twice(wording, forget)[:2], "", sep="\n")

# %% [markdown]
# The second way is worth a pause. It is often said that without continuation the model has no timestamp. Here it has
# one: it stands in the reply. What is lost is only what the reply did not repeat, and nobody knows beforehand what a
# later question will need. The third way shows that: rows 0 to 2 are
# all that was sent with the second question, and no row holds the 41 seconds.

# %%
show.messages(ask_twice("words", forget=True)[2])

# %% [markdown]
# Keeping the scratchpad has its price. Six turns with one call each make how many messages? (The system prompt is sent
# besides: it is an argument, never a message.)

# %% tags=["nbval-check-output"]
six = []
for _ in range(6):
    agent_step("What time is it?", six, OfflineModel(), SYSTEM, tools=[make_now(lambda: 1_778_686_822)])
f"{len(six)} messages with the scratchpad, {len(without_scratchpad(six))} without"

# %% [markdown]
# ## 7. The loop that the package runs
#
# Now read the package's loop. It has the shape of `first_step`. What is new: a cap on its iterations, replies that are
# blank or cut off, observations with limits, and an ending with a name whatever happens.

# %%
from agentlab import loop

show.source(loop._iterate)

# %% [markdown]
# `agent_step` is this loop over a plain list. Put the four questions of section 3 to it, with the same tool and the same
# window.

# %%
meter, session = Meter(OfflineModel(window=128_000)), []
earlier = ["What can you do?", "Read services.yaml. How does it end?", "What time is it?"]
for question in [*earlier, "Read services.yaml again."]:
    agent_step(question, session, meter, SYSTEM, tools=tools)

# %% [markdown]
# The same questions, and the largest prompt is a few thousand tokens. The reply still knows how long the file is, because
# the note in the observation says so.

# %% tags=["nbval-check-output"]
longest = max(len(message["content"]) for message in session if message["role"] == "tool")
print("all prompts under 10,000 tokens:", max(meter.prompts) < 10_000)
print("longest observation:", longest, "characters")
print("answers to the last question:", session[-1]["content"].partition(":")[0])

# %% [markdown]
# ## 8. A whole session
#
# `Runner` runs a session and writes it into a folder: each message as it is appended, a line per turn, and in full what
# was cut. Let it work on real files, Python's own library, with tools that read that folder and nothing outside it.

# %%
from tempfile import TemporaryDirectory

from agentlab.builtin_tools import workspace_tools
from agentlab.runner import Runner

ticks = iter(range(1_778_686_822, 1_778_690_000, 41))
folder = TemporaryDirectory()
library = [make_now(lambda: next(ticks)), wordcount, *workspace_tools(get_path("stdlib"))]
runner = Runner(OfflineModel(), folder=f"{folder.name}/session", tools=library)
[each.name for each in runner.tools]

# %% [markdown]
# Ten questions: small ones, large files, a comparison that reads two files side by side, a search whose result is too
# long to be shown at once, and two that only an agent with a memory can answer.

# %%
QUESTIONS = """What time is it?
List the files in the folder json.
Read json/decoder.py and tell me what it is for.
Which classes does argparse.py define?
Find where 'def parse_args' is defined in argparse.py.
Compare argparse.py with optparse.py: which is longer?
Read turtle.py. What is at its end?
Which methods does optparse.py define?
Which of the files that you read was the largest?
How long has it been since I asked for the time?""".splitlines()
print(len(QUESTIONS), "questions")

# %% [markdown]
# A turn ends with more than a text: with a status, a reason, its iterations and what it used.

# %%
for number, question in enumerate(QUESTIONS, 1):
    result = runner.send(question)
    print(f"{number:>2}. {question}  [{result.status}, {result.iterations} model calls]")
    print(f"    {result.text.splitlines()[0][:96]}")
runner.close()

# %% [markdown]
# And this is what it left behind. `load` reads it back, as it reads the logs of other agents.

# %%
from agentlab.analysis import load

(recorded,), problems = load(Path(folder.name) / "session")
print(sorted(path.name for path in Path(folder.name, "session").iterdir()), "| problems:", problems)
recorded

# %% [markdown]
# Turn 8 deserves a look. The search gave more than 4,000 characters, so it was cut, and the note in it named a tool and a
# place: the model read the missing part back from the store. A cut like that loses nothing that is asked for.

# %%
show.messages([record.message for record in recorded.records if record.turn == 8], limit=110)

# %% [markdown]
# ## 9. The curve
#
# What did the session cost, turn by turn? Three curves have three answers, so they have names. **Turn tokens** are
# summed over all calls of a turn, **context** is the prompt of its last call. **Without continuation** is the same
# session with earlier turns reduced to question and reply: a calculation, never a second run, and so always estimated.

# %%
from agentlab.analysis import curve

turns = curve(recorded)
columns = ["turn_tokens", "context", "new_tokens", "resent_turns", "turn_tokens_without"]
turns[["turn", "calls", *columns, "measured"]]

# %% [markdown]
# Most of a bar is not green: it was sent before. A turn with many calls is a spike, because each of its calls carries the
# whole context. The context itself only grows, in steps, and a step is one large observation.

# %%
from agentlab import plots

plots.plot_curve(turns)

# %% [markdown]
# The same in sentences.

# %%
from agentlab.analysis import summary

for sentence in summary(recorded):
    print(fill(sentence, 96))

# %% [markdown]
# Finally, cut the observations of *this* session in other ways. At one limit all three strategies cost nearly the same,
# so what differs is what survives: first and last lines, lines that report an error, and the names and ids that the model
# went on to use in a later call.

# %%
from agentlab.analysis import compare_cuts

compared = compare_cuts(recorded)
plots.plot_comparison(compared)

# %% [markdown]
# Mind the *n* above each block. Each strategy keeps its own end by construction, and the stand-in takes its names from your
# question, so there are none to lose. Whether a cut costs an agent its next step can only be told on logs of agents that
# a language model ran: `load` reads them, and `compare_cuts` takes them as it took this one.

# %%
at_1000 = compared[compared["limit"] == 1_000]
columns = ["first_lines_kept", "last_lines_kept", "error_lines_kept", "names", "tokens_first"]
at_1000[["strategy", "observations", "cut", *columns]]

# %% [markdown]
# The session was written into a temporary folder, which goes now; give `Runner` a folder of yours to keep one.

# %%
folder.cleanup()
Path(folder.name).exists()

# %% [markdown]
# ## 10. What holds
#
# | claim | verdict | where |
# |---|---|---|
# | A session goes from under 1,000 tokens to over 100,000 and then fails | holds | section 3, four questions |
# | What was sent is sent again, vertically, horizontally and across turns | holds | section 3, scripted; section 9, measured |
# | A file's imports are at its top | holds for Python's library | section 5, with n and interval |
# | A file's exports are at its bottom | does not hold for Python's library | section 5, with n and interval |
# | Both ends of a result carry more than its middle | depends on the tool: not in the build log | section 5; measure it on your logs |
# | Fields that are not needed can be dropped | holds as mechanics: fewer characters, and still JSON | section 5 |
# | Without continuation the model has no earlier timestamp | holds only where the reply did not quote it | section 6, three ways |
# | Six turns with one call each make 24 messages | holds | section 6 |
# | The model can ask for the missing part | holds as mechanics: the note says how | section 8, turn 8 |
# | The head suffices where the tools are known; old results are cheap to drop | cannot be told here | needs recorded runs of real models |
# | Without a marker the model takes the part for the whole | cannot be told here | notebook 06, on recorded runs |
# | The plan depends on whether the model believes that a step succeeded | cannot be told here | notebook 06, on recorded runs |
#
# ## What to do next
#
# Change one thing and run the rest again. Set `QUESTIONS` to your own and point `workspace_tools` at a folder of yours.
# Give `read_file` a limit of 500 characters, or of 500 *tokens*, with
# `Runner(..., policy=Policy(limits={"read_file": Limit(500, "tokens")}))` from `agentlab.policy`, and see what the curve
# gains and what the comparison loses. If you have a key, `agentlab run --provider anthropic --script FILE` runs your
# questions with a language model, after telling you the price and asking. Then see which verdicts above still hold.
#
# Next: [Exercise 1: per-tool limits](../exercises/student/01_limits.ipynb). Notebook 05 asks the same questions of whole
# sessions, and of logs that other agents wrote.
