# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Errors are observations
#
# Tools fail: a name is misspelt, an argument has the wrong type, a compiler refuses, a server does not answer. In a
# program an error ends something. In an agent it is one more thing that the model can read, and it may know what to do
# about it. This notebook builds the error handling of a loop, breaks it in seven ways, and reads the package's own. You
# will see
#
# 1. why an error that ends a run also ends the session,
# 2. what an error text must say so that a reader can act on it, and what it must not,
# 3. what is left of an error of 30,000 characters under a limit of 2,000,
# 4. one thing that looks like an error and must never become an observation,
#
# and at the end a session in which every turn begins with a mistake, with its token curve. It takes about 20 minutes.
#
# Everything runs offline. Where a model is needed, it is a script, or a stand-in that is **rule-based, not an LLM**.
# Both show *mechanics*: what is sent, how large it is, where a turn ends. Whether a language model makes good use of a
# hint cannot be told from them.

# %% [markdown]
# ## 1. First version: the error ends the run
#
# A tool, and a scripted model that gets the tool's name wrong, as models do now and then.

# %% tags=["nbval-check-output"]
from agentlab.builtin_tools import wordcount
from agentlab.providers.scripted import ScriptedModel, call

misspelt = call("wordcuont", text="to be or not to be")
script = [misspelt, call("wordcount", text="to be or not to be"), "Six words."]
print(wordcount.name, wordcount.parameters["required"], wordcount("to be or not to be"))
print(misspelt.name, misspelt.arguments)

# %% [markdown]
# To run a call, take its tool out of a dictionary. Nothing is caught here.

# %% tags=["nbval-check-output"]
def run_bare(box, each):
    return box[each.name].run(**each.arguments)


run_bare({"wordcount": wordcount}, call("wordcount", text="to be or not to be"))

# %% [markdown]
# The loop around it: call the model, run what it asks for, append what that gave. First with the script from its second
# step on, where the name is right.

# %%
from agentlab.repair import call_dict, tool_message


def bare_step(question, history, provider, tools, run=run_bare):
    history.append({"role": "user", "content": question})
    box = {each.name: each for each in tools}
    while (reply := provider.call(history, system="", tools=tools)).tool_calls:
        asked = [call_dict(each) for each in reply.tool_calls]
        history.append({"role": "assistant", "content": reply.text, "tool_calls": asked})
        history.extend(tool_message(each.id, each.name, run(box, each)) for each in reply.tool_calls)
    history.append({"role": "assistant", "content": reply.text})
    return reply.text


bare_step("How many words?", [], ScriptedModel(script[1:]), [wordcount])

# %% [markdown]
# Now the whole script, which begins with the misspelt call.

# %% tags=["nbval-check-output"]
history = []
try:
    bare_step("How many words?", history, ScriptedModel(script), [wordcount])
except KeyError as error:
    print(f"KeyError: {error}")
print([message["role"] for message in history])

# %% [markdown]
# The run is over, and the script's second call, which was right, was never asked for. There is worse: the history ends
# with a call that has no result. Both large APIs refuse such a list, so whatever is asked next in this session fails as
# well. `check_messages` holds a list to their rules.

# %% tags=["nbval-check-output"]
from agentlab.testing import RejectedRequest, check_messages

history.append({"role": "user", "content": "Are you still there?"})
try:
    check_messages(history)
except RejectedRequest as refused:
    print(refused)

# %% [markdown]
# ## 2. Second version: the error becomes text
#
# So catch it, and let the model read what happened. The loop stays as it is, and the run goes on: the model sees its
# mistake and makes another call.

# %% tags=["nbval-check-output"]
from agentlab import show


def run_caught(box, each):
    try:
        return run_bare(box, each)
    except Exception as error:
        return f"Error: {error}"


history = []
print(bare_step("How many words?", history, ScriptedModel(script), [wordcount], run_caught), "\n")
print(show.messages(history))

# %% [markdown]
# That is the whole idea: **an error of a tool is an observation**. It has the place and the role of any other result,
# and its size. What remains is to write it well. Read row 2 again as somebody who has nothing but this text.

# %% [markdown]
# ## 3. It breaks: what the text says
#
# `Error: 'wordcuont'` does not say that a tool is missing, nor which there are. Here are four common mistakes as
# this version words them.

# %% tags=["nbval-check-output"]
from pathlib import Path

from agentlab.builtin_tools import workspace_tools

DATA = Path("../data/observations")
box = {each.name: each for each in [wordcount, *workspace_tools(DATA)]}
wrong = call("wordcount", txt="to be"), call("read_file", path="sorce.py")
mistakes = [misspelt, call("browse"), *wrong]
for each in mistakes:
    print(f"{each.name:<10}", run_caught(box, each))

# %% [markdown]
# The third says what is wrong with the call, but not what would be right. The fourth does: that tool was written for
# such readers. Now the same calls through `observe`, which runs one call as the package's loop does. It names the class
# of the error, the field, what was expected, and the nearest valid choice.

# %% tags=["nbval-check-output"]
from textwrap import fill

from agentlab.observe import observe

for each in mistakes:
    print(fill(observe(each, box).text, 100, subsequent_indent="   "))

# %% [markdown]
# Mind the second line: nothing is spelt like `browse`, so there is no hint, and all tools are named instead. The hint
# compares letters and knows no meanings. (`difflib` does it.)
#
# Arguments are checked against the schema *before* the tool runs, so a wrong type never gets as far as a `TypeError`.
# Where the meaning is plain, they are put right: the first two calls below are run. The others are not.

# %% tags=["nbval-check-output"]
from agentlab.messages import ToolCall

plain = '{"text": "to be or"}', {"arguments": {"text": "to be"}}
others = {"text": ["to be"]}, "{'text': 'to be'"
for sent in [*plain, *others]:
    seen = observe(ToolCall("1", "wordcount", sent), box)
    print(fill(f"{sent!s} gives {seen.text}", 100, subsequent_indent="   "))

# %% [markdown]
# And one thing is not a text at all: whether a call failed. It is a flag beside the text. A tool that searches a log
# for errors may well return a line that begins with "Error:", and has succeeded.

# %% tags=["nbval-check-output"]
from agentlab.tools import tool


@tool
def last_line() -> str:
    """Give the last line of a log."""
    return "Error: the disk is full (logged on Tuesday)"


seen = observe(call("last_line"), {"last_line": last_line})
seen.text, seen.is_error

# %% [markdown]
# ## 4. It breaks: the stack trace
#
# If the message says too little, why not send the whole trace? Here is a setting that is looked up in a file, which
# includes another file, sixty deep.

# %%
import traceback

from agentlab.observe import error_text


def setting(depth):
    try:
        return setting(depth - 1) if depth else {}["timeout_seconds"]
    except KeyError as error:
        raise KeyError(f"timeout_seconds (asked for by include {depth})") from error


try:
    setting(60)
except KeyError as error:
    trace, line = traceback.format_exc(), error_text(error)
print(f"the trace: {len(trace):,} characters; class and message: {len(line)}\n{line}")

# %% [markdown]
# Over 20,000 characters about *our* code, which the model can neither see nor change, sent again with every later call.
# They also tell folders and user names of the machine. Class and message, no stack, is what `error_text` keeps, and
# this is how.

# %%
show.source(error_text, docstring=False)

# %% [markdown]
# ## 5. It breaks: an error of 30,000 characters
#
# Some errors are long for a good reason: a compiler's output *is* its error. This tool fails as builds do. First comes
# the exception with the exit code, then 380 warnings, and at the end what went wrong.

# %% tags=["nbval-check-output"]
warned = "src/part_{0:03}.c:{0}:9: warning: unused variable 'spare_{0:03}' [-Wunused-variable]"
why = "src/main.c:88:17: error: 'struct plan' has no member named 'weight'"
lines = [*(warned.format(n) for n in range(1, 381)), why, "make: *** [Makefile:12: all] Error 1"]
output = "\n".join(lines)


@tool
def build() -> str:
    """Build the program."""
    raise RuntimeError(f"cc ended with exit code 1\n{output}")


raised = observe(call("build"), {"build": build})
print(f"{raised.original_chars:,} characters raised, {len(raised.text):,} shown")

# %% [markdown]
# Errors have a limit of their own, 2,000 characters, whatever the limit of the tool is. (`wordcount` may return 50
# characters, and the reason for an error would not fit into them.) This is what the model sees.

# %% tags=["nbval-check-output"]
print(raised.text[:300], "...", raised.text[850:1200], "...", raised.text[-260:], sep="\n")

# %% [markdown]
# The cut took warnings out and kept both ends: the line that names the exception, and the line that says why. Compare
# the other strategies at the same 2,000 characters. A second text has its reason elsewhere: in `build.log`, one of the
# example files, the compiler's error stands in the middle.

# %% tags=["nbval-check-output"]
from agentlab.truncate import cut

log = (DATA / "build.log").read_text(encoding="utf-8")
texts = {"reason last": output, "reason in the middle": log}
for name in ("middle_snip", "tail_cut", "head_cut"):
    for place, text in texts.items():
        shown = cut(f"Error: RuntimeError: cc ended with exit code 1\n{text}", 2_000, name).text
        kept = {"exception": "RuntimeError" in shown, "reason": " error: " in shown}
        print(f"{name:<12} {place:<21} {len(shown):,} characters, kept: {[k for k in kept if kept[k]]}")

# %% [markdown]
# `middle_snip` is the only one that keeps both where the reason is last, and **no** strategy keeps a reason that stands
# in the middle. A limit makes an error affordable, not complete. So what was cut is stored: with a store and the tool
# `read_result`, the note in the cut says how to read the rest. Here is a build that fails with `build.log`.

# %% tags=["nbval-check-output"]
from agentlab.builtin_tools.results import read_result_tool
from agentlab.store import Store


@tool
def make() -> str:
    """Build everything."""
    raise RuntimeError(f"make ended with exit code 2\n{log}")


store = Store()
kit = {"make": make, "build": build, "read_result": read_result_tool(store)}
raised = observe(call("make"), kit, store=store)
print(raised.text[raised.text.index("[...") :].split("\n\n")[0])

# %% [markdown]
# A model that follows the note finds the reason among the missing lines. (Whether one does cannot be told here.)

# %% tags=["nbval-check-output"]
asked = {"id": raised.store_id, "start": 208, "end": 212, "by": "lines"}
print(observe(ToolCall("2", "read_result", asked), kit).text)

# %% [markdown]
# ## 6. It breaks: no error at all
#
# A tool that hangs raises nothing. The first two versions would wait for ever. A tool may have a `timeout`: then it
# runs on a thread of its own and is given up in time, and the model reads that it was.

# %% tags=["nbval-check-output"]
import threading

opened, finished = threading.Event(), threading.Event()


@tool(timeout=0.2)
def wait_for_lock(name: str) -> str:
    """Wait until a lock is free."""
    opened.wait(20)
    finished.set()
    return "free"


print(fill(observe(call("wait_for_lock", name="db"), {"wait_for_lock": wait_for_lock}).text, 100))

# %% [markdown]
# "It may still be running" is no figure of speech: Python cannot stop a thread. This one still waits. Open the lock,
# and it finishes its work, long after the model was told about the timeout. A timeout does not mean "it did not
# happen".

# %% tags=["nbval-check-output"]
print("finished when it was given up:", finished.is_set())
opened.set()
print("finished afterwards:          ", finished.wait(5))

# %% [markdown]
# ## 7. It breaks: Ctrl-C
#
# Some of what is raised is no `Exception`: `sys.exit()` in a library raises `SystemExit`, and Ctrl-C raises
# `KeyboardInterrupt` wherever the program is. Here is a tool during which somebody presses it.

# %% tags=["nbval-check-output"]
@tool
def long_search(text: str) -> str:
    """Search for long; somebody presses Ctrl-C meanwhile."""
    raise KeyboardInterrupt


issubclass(KeyboardInterrupt, Exception), issubclass(SystemExit, Exception)

# %% [markdown]
# So catch everything, to be safe?

# %% tags=["nbval-check-output"]
def run_greedy(box, each):
    try:
        return run_bare(box, each)
    except BaseException as error:
        return f"Error: {error}"


run_greedy({"long_search": long_search}, call("long_search", text="a"))

# %% [markdown]
# An empty error. In the loop, the model reads it and goes on.

# %% tags=["nbval-check-output"]
steps = [call("long_search", text="a"), call("long_search", text="b"), "Nothing found."]
history = []
print(bare_step("Search.", history, ScriptedModel(steps), [long_search], run_greedy))
[message["content"] for message in history if message["role"] == "tool"]

# %% [markdown]
# Pressed twice, and the agent goes on as if nothing had happened. Ctrl-C is not an observation, it is the user. The
# package's loop lets it through, and leaves the session usable: the open call is answered, and the next question works.

# %% tags=["nbval-check-output"]
from agentlab.loop import agent_step

history = []
try:
    agent_step("Search.", history, ScriptedModel(steps), "", tools=[long_search])
except KeyboardInterrupt:
    print("KeyboardInterrupt reached the caller\n")
check_messages(history)
print(show.messages(history, limit=60), "\n")
agent_step("Are you still there?", history, ScriptedModel(["Yes."]), "", tools=[long_search])

# %% [markdown]
# ## 8. The code that the package runs
#
# All of it is one function. Read what it lets through: Ctrl-C or a cancelled task (`is_stop`), and the end of a *scope*,
# a deadline or a cancellation of the whole turn. Everything else, `SystemExit` included, becomes an outcome that is marked
# as an error.

# %%
from agentlab.observe import run_call

show.source(run_call, docstring=False)

# %% [markdown]
# And this is where an error gets a limit that is not its tool's.

# %%
from agentlab.observe import _limit

show.source(_limit)

# %% [markdown]
# ## 9. A session full of mistakes
#
# Now let the stand-in work with these tools, and let it misspell the first tool name of **every** turn. The questions
# add a file name with a missing letter, a build that fails and a lock that nobody opens.

# %%
from agentlab.policy import Limit, Policy
from agentlab.providers.offline import OfflineModel
from agentlab.runner import Runner

QUESTIONS = """How many words are in 'to be or not to be'?
Read sorce.py. What is it for?
Call build.
Find 'code-end' in response.http.
Call wait_for_lock with name 'db'.
List the files.
How many lines has orders.json?""".splitlines()
tools = [*box.values(), build, wait_for_lock]
print(len(QUESTIONS), "questions,", len(tools), "tools")

# %% [markdown]
# Every turn is run by the package's loop, and each ends with a reply.

# %% tags=["nbval-check-output"]
from tempfile import TemporaryDirectory

folder = TemporaryDirectory()
opened.clear()
runner = Runner(OfflineModel(misbehave="unknown_tool"), folder=f"{folder.name}/session", tools=tools)
for question in QUESTIONS:
    result = runner.send(question)
    failed = sum(each["is_error"] for each in result.tool_calls)
    print(f"{question:<45} {result.status}, {failed} of {len(result.tool_calls)} calls failed")
runner.close()

# %% [markdown]
# Here are all errors that it read, with their sizes before the cut and after it. Only one met the limit.

# %% tags=["nbval-check-output"]
for result in runner.results:
    for each in result.tool_calls:
        if each["is_error"]:
            print(f"{each['name']:<14} {each['chars']:>7,} characters raised {each['shown']:>6,} shown")

# %% [markdown]
# Two turns show what "absorbed" means. In the second the stand-in took both hints, one after the other; in the third it
# had no better idea, and said what it had read.

# %%
from agentlab.analysis import curve, load

(recorded,), problems = load(Path(folder.name) / "session")
show.messages([record.message for record in recorded.records if record.turn in (2, 3)], limit=130)

# %% [markdown]
# What did the mistakes cost? A wrong name costs an extra call, and a call carries the whole context: from turn 3 on,
# most of each bar is messages of earlier turns, sent once more for every call of the turn. The few words of such an
# error hardly show.

# %%
from agentlab import plots

plots.plot_curve(curve(recorded))

# %% [markdown]
# Last, the same questions with other limits for errors, which `Policy(errors=...)` sets, and with the names right. This
# counts the prompt tokens of one such session. First as the session was recorded, to see that both agree:

# %%
def session_tokens(misbehave, limit):
    policy = Policy(errors=Limit(limit))
    with Runner(OfflineModel(misbehave=misbehave), tools=tools, policy=policy) as other:
        usages = [other.send(question).usage for question in QUESTIONS]
    return sum(usage.prompt_tokens for usage in usages)


recorded_tokens = sum(result.usage.prompt_tokens for result in runner.results)
session_tokens("unknown_tool", 2_000), recorded_tokens

# %% [markdown]
# Three limits, and both kinds of model.

# %%
import pandas as pd

limits = pd.Index([500, 2_000, 40_000], name="limit of an error, characters")
kinds = {"every first name misspelt": "unknown_tool", "names right": None}
totals = pd.DataFrame(index=limits)
for name, kind in kinds.items():
    totals[name] = [session_tokens(kind, limit) for limit in limits]
look = {"color": ["#D55E00", "#0072B2"], "rot": 0, "figsize": (8, 3.4)}
_ = totals.plot.bar(ylabel="prompt tokens of the session\n(measured, o200k_base)", **look)

# %% [markdown]
# At 40,000 characters nothing is cut, and one failed build in the third of seven turns is paid for in every call that
# follows: about three times the tokens. At 500 characters the session is a little cheaper still. And the misspelt
# names, whose errors have 80 characters each, cost this much:

# %%
more = totals["every first name misspelt"] / totals["names right"] - 1
print(totals, "\n")
print("more tokens for one wrong name per turn:")
print(*(f"{share:.0%} at a limit of {n:,}" for n, share in more.items()), sep=", ")

# %% [markdown]
# Before you take 500 characters, look at what they leave of the build. They would do here, since the reason is last.
# With `build.log` neither limit keeps it.

# %% tags=["nbval-check-output"]
print(observe(call("build"), kit, policy=Policy(errors=Limit(500)), store=store).text)

# %% [markdown]
# The session was written into a temporary folder, which goes now, and so does the last thread that waits.

# %%
opened.set()
folder.cleanup()
Path(folder.name).exists()

# %% [markdown]
# ## 10. What holds
#
# | claim | verdict | where |
# |---|---|---|
# | A tool's error need not end a run | holds | section 2 |
# | A run that ends with an open call cannot go on | holds: both APIs refuse the list | section 1 |
# | The message of an exception is enough | does not hold: `KeyError` says only the key | section 3 |
# | A trace helps | its size is certain, a use for it is not: it tells of code that the model cannot see | section 4 |
# | Keeping both ends keeps the reason | holds where it is last, not where it is in the middle | section 5 |
# | Everything that is raised is an observation | does not hold: Ctrl-C is the user | section 7 |
# | A hint makes the next call right | holds for the stand-in's rules; of a small model see notebook 06 | section 9 |
#
# ## Three questions for you
#
# 1. `observe(call("fetch"), {"depth": ...})` suggests `depth`, by three common letters. When is a wrong hint worse than
#    none? What would you show besides it, and what does that cost with 200 tools?
# 2. The build's reason stood last. Write a `run_caught` for compilers that puts lines with `error:` first, run
#    it on `build.log` under 2,000 characters, and say what it loses.
# 3. A timeout says "may still be running". The model makes the call again. For which of your tools is that harmless,
#    and what would the text have to say for the others?
#
# Next: [Exercise 3: smarter error observations](../exercises/student/03_errors.ipynb).
