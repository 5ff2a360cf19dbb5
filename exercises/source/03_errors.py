# ---
# jupyter:
#   agentlab:
#     number: 3
#     title: "Smarter error observations"
#     minutes: 25
#     tasks:
#     - {id: near, title: "Did you mean ...?"}
#     - {id: list, title: "Nothing is near"}
#     - {id: reason, title: "What an exception says"}
#     - {id: stop, title: "What is not the tool's"}
#     seams:
#     - agentlab.loop.agent_step
#     - agentlab.observe.error_text
#     - agentlab.observe.observe
#     - agentlab.observe.run_call
#     - agentlab.observe._unknown_tool
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Exercise 3: smarter error observations
#
# *About 25 minutes. Offline, no key. Four steps, about 7 lines of your own.*
#
# An error is an observation as well: the model reads it, and decides what to do next. So its text should say what it would
# need to know. Which tool was meant? What went wrong, in one line? And some things that end a tool are no observation at
# all.
#
# Run the cells from the top. Where it is your turn, the text says **Step**; the cell below a step checks it. More checks
# run when your notebook is graded. They look at what your loop shows the model, never at how you word it. To see where you
# stand, write `%load_ext agentlab` and below it `%check` into a new cell: that runs all the checks that you can see.

# %% setup id="setup"
import difflib
import sys
import traceback

import pandas as pd

from agentlab.builtin_tools import make_now, wordcount
from agentlab.grading.building.beside import beside
from agentlab.grading.building.mistakes import Turn, calls_per_turn, failing, loop_that_says, mentions, session, syntax_error, with_notes
from agentlab.grading.building.pictures import plot_turns, survivors, turn_tokens
from agentlab.grading.building.probe import as_message, observations, only
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.tools import tool as described
from agentlab.truncate import truncate_observation

SYSTEM = "Answer from what your tools show you."


# %% [markdown]
# ## The loop, before this exercise
#
# This is the chapter's loop. The texts of its two errors stand in two functions of their own. In every step you will edit
# this cell and run it again. You may also put the `agent_step` here that you typed from the book, as long as it takes the
# same five arguments and looks its tools up in `TOOLS`.

# %% answer id="loop" task="near"
MAX_ITERATIONS = 10


def unknown(name, names):
    """What the model is told of a tool that does not exist; `names` are those of the tools that do."""
    ### BEGIN SOLUTION
    close = difflib.get_close_matches(name, names, n=1)  # step 1
    if close:  # step 1
        return f"Error: there is no tool {name!r}. Did you mean {close[0]!r}?"  # step 1
    return f"Error: there is no tool {name!r}. The tools are: {', '.join(names)}."  # step 2
    ### STUB
    # # step 1: which one is near?
    # return f"Error: there is no tool {name!r}."  # step 2: and if none is?
    ### END SOLUTION


def explain(error):
    """What the model is told of an exception that a tool raised."""
    ### BEGIN SOLUTION
    lines = "".join(traceback.format_exception_only(error)).splitlines()  # step 3
    return "Error: " + next(line for line in lines if not line.startswith(" "))  # step 3
    ### STUB
    # return f"Error: {type(error).__name__}: {error}"  # step 3
    ### END SOLUTION


def agent_step(user_message, messages, provider, system, on_text_delta=None):
    messages.append({"role": "user", "content": user_message})
    for _ in range(MAX_ITERATIONS):
        reply = provider.call(messages, system=system, tools=TOOLS, on_text_delta=on_text_delta)
        messages.append(as_message(reply))
        if not reply.tool_calls:
            return reply.text
        box = {tool.name: tool for tool in TOOLS}
        for each in reply.tool_calls:
            if each.name not in box:
                observation = unknown(each.name, list(box))
            else:
                try:
                    observation = box[each.name].run(**each.arguments)
                ### BEGIN SOLUTION
                except (Exception, SystemExit) as error:  # step 4
                ### STUB
                # except Exception as error:  # step 4: is that all that a tool may raise?
                ### END SOLUTION
                    observation = explain(error)
            observation = truncate_observation(observation)
            messages.append({"role": "tool", "tool_call_id": each.id, "name": each.name, "content": observation})
    return "I stopped: too many iterations."


# %% [markdown]
# Four tools to try it on. `find_order` is particular about its numbers.

# %% given id="tools-given"
@described
def read_file(path: str) -> str:
    """Read a text file and return all of it."""
    return {"notes.txt": "Ask for order 4711. Then write to Ghent."}[path]


@described
def find_order(number: str) -> str:
    """Find an order by its number."""
    if len(number) != 5:
        raise ValueError(f"an order number has five digits, as 04711, and {number!r} has not")
    return f"Order {number} was sent to Ghent."


TOOLS = [make_now(lambda: 1_778_686_822), wordcount, read_file, find_order]
for text in observations(agent_step, call("readfile", path="notes.txt"), call("find_order", number="4711")):
    print(text)

# %% [markdown]
# Before you have changed anything, the first line says that there is no such tool, and leaves the model to guess which there
# is. The second one is better from the start: who reads it knows what to do.
#
# ## Step 1: did you mean ...?
#
# When the model calls a tool that does not exist, name the tool whose name is nearest. `difflib.get_close_matches` finds
# it. Word the text as you like; the near name should be singled out, which here means: named more often than the names of
# tools that are nothing like it.
#
# <details><summary>Hint 1</summary>
#
# `difflib.get_close_matches("aple", ["pear", "apple"])` is `["apple"]`: a list, best first. In `unknown` you have the
# name that the model called, and the list of all names.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The list is empty where nothing is near, so ask before you take its first item. The last line of `unknown` may stay as
# it is for that case.
#
# </details>

# %% check id="near" task="near" points=1 name="a misspelt tool gets a hint" because="step 1" hint="the function unknown, in the cell of the loop"
seen = observations(agent_step, call("readfile", path="notes.txt"))[0]
found, others = mentions(seen, "read_file"), mentions(seen, "wordcount")
assert found, f"expected the name read_file in what the model is told of the tool readfile, found {seen!r}: look at unknown(), step 1, and run its cell again"
assert found > others, f"expected read_file to be named more often than wordcount, which is nothing like readfile, found {seen!r}: look at unknown(), step 1"

# %% check id="near-unseen" task="near" points=2 name="other tools get a hint as well" because="step 1" kind="output" hidden=true seeded=true hint="the names come from the tools that are in TOOLS when the call is made; a letter may be missing, or two may have changed places"
import random

drawn = random.Random(seed)
tools = [failing(ValueError(), name) for name in drawn.sample(["fetch_invoice", "convert_units", "send_letter", "weather", "translate", "resize_image"], 5)]
said = []
for tool in tools:
    place = drawn.randrange(2, len(tool.name) - 1)
    swapped = tool.name[: place - 1] + tool.name[place] + tool.name[place - 1] + tool.name[place + 1 :]
    for wrong in {tool.name[:place] + tool.name[place + 1 :], swapped} - {tool.name}:
        with only(TOOLS, *tools):
            seen = observations(agent_step, call(wrong))[0]
        others = max(mentions(seen, each.name) for each in tools if each is not tool)
        said.append(mentions(seen, tool.name) > others)
show([len(said) >= 5, all(said)])

# %% [markdown]
# ## Step 2: nothing is near
#
# What does `get_close_matches` find for some names that a model might call?

# %% given id="book-none"
NAMES = [tool.name for tool in TOOLS]
for name in ("readfile", "word_count", "order", "file_reader", "time", "READ_FILE", "xyzzy"):
    print(f"{name:<12}{difflib.get_close_matches(name, NAMES)}")

# %% [markdown]
# Three things to see. Near means near in *letters*: for `file_reader` it suggests the wrong tool, and for `time` it does
# not find `now`. Capital letters are other letters. And for `xyzzy` nothing is near, so a loop that only suggests has
# nothing to say there: the model knows no more than before.
#
# Where nothing is near, do not guess: list the tools. Every name should be in the text, and none more often than another.
#
# <details><summary>Hint</summary>
#
# `", ".join(names)` makes one text of the names.
#
# </details>

# %% check id="listed" task="list" points=1 name="where nothing is near, the tools are listed" because="step 2" hint="unknown: what is said where get_close_matches finds nothing?"
seen = observations(agent_step, call("xyzzy"))[0]
found = {each.name: mentions(seen, each.name) for each in TOOLS}
assert all(found.values()), f"expected the name of every tool in what the model is told of xyzzy, found {seen!r}: look at the last line of unknown(), step 2"
assert len(set(found.values())) == 1, f"expected no tool to be named more often than another, found {found}: xyzzy is like none of them, step 2"

# %% check id="listed-unseen" task="list" points=1 name="the list is that of the tools that are there" because="step 2" kind="output" hidden=true seeded=true hint="all names of the tools that are in TOOLS when the call is made, however many there are, and no guess"
import random

drawn = random.Random(seed)
every = ["fetch_invoice", "convert_units", "send_letter", "weather", "translate", "resize_image", "list_rooms", "book_table"]
said = []
for size, name in ((3, "xyzzy"), (8, "qqq")):
    tools = [failing(ValueError(), each) for each in drawn.sample(every, size)]
    with only(TOOLS, *tools):
        seen = observations(agent_step, call(name))[0]
    counts = {mentions(seen, each.name) for each in tools}
    said.append([0 not in counts, len(counts) == 1, not any(mentions(seen, each.name) for each in (wordcount, read_file))])
show(said)

# %% [markdown]
# ### What a hint is worth
#
# The same four questions in three loops. The model here is a rule: it tries one name or number after the other, and skips to
# the right one as soon as an observation names it. So this shows what a hint saves if it is heeded. A real model sees the
# list of tools in every request, and may do better without a hint, or worse with one.

# %% given id="turns"
files, orders = ("readfile", "reed_file", "file_read", "read_file"), ("4711", "#4711", "4711.0", "04711")
TURNS = [
    Turn("What time is it?", (call("time"), call("clock"), call("now")), "now", "A quarter to four."),
    Turn("Read my notes.", tuple(call(name, path="notes.txt") for name in files), "read_file", "Read."),
    Turn("Where is it?", tuple(call("find_order", number=number) for number in orders), "04711", "In Ghent."),
    Turn("And how late is it now?", (call("now"),), "", "A quarter to four."),
]
nothing = loop_that_says(lambda name, names: "Error", lambda error: "Error", TOOLS)
chapter = loop_that_says(
    lambda name, names: f"Error: there is no tool {name!r}.", lambda error: f"Error: {type(error).__name__}: {error}", TOOLS
)
SESSIONS = {"every error is 'Error'": nothing, "the chapter's texts": chapter, "yours": agent_step}
SESSIONS = {title: session(step, TURNS, system=SYSTEM) for title, step in SESSIONS.items()}
{title: calls_per_turn(messages) for title, messages in SESSIONS.items()}

# %% [markdown]
# Those are the calls of each turn. And this is what they cost:

# %% given id="session"
plot_turns(turn_tokens(SESSIONS, system=SYSTEM, tools=TOOLS), "Your session: prompt tokens per user turn")

# %% [markdown]
# In turns 1 and 2 tools are misspelt. There your texts save calls; the chapter's save none, and cost a little more than a
# bare "Error". In turn 3 a tool raises. The chapter's text gives the reason already, so there yours saves no call more. In
# turn 4 nothing goes wrong, and still yours is the cheapest: the other two carry more old errors along.
#
# ## Step 3: what an exception says
#
# `Error: {type(error).__name__}: {error}` serves well, until an exception comes that cannot say what it is:

# %% given id="book-dies"
class OutOfStock(Exception):
    def __str__(self):
        return f"{self.item} is out of stock"  # and nobody has set the item


try:
    explained = f"Error: {OutOfStock.__name__}: {OutOfStock()}"
except AttributeError as error:
    print("The loop itself ends, in the middle of a turn, with:", error)

# %% [markdown]
# `traceback.format_exception_only` is made for that: it never fails. The book says to take the class and the first line of
# what it gives. But the first line of what, exactly?

# %% given id="book-first"
noted = with_notes(ValueError("no digits"), "in row 17", "of orders.csv")
for error in (OutOfStock(), RuntimeError("closed\nask at nine"), noted, syntax_error("plan = (")):
    items = traceback.format_exception_only(error)
    print(f"{type(error).__name__}, items: {len(items)}\n    the first: {items[0]!r}\n    the last:  {items[-1]!r}")

# %% [markdown]
# The first item is the path of a file on your machine for a `SyntaxError`, where the class comes last. The last item is
# a note for the `ValueError`, where the class comes first. And an item may have several lines itself.
#
# Let `explain` return the one line with the class and what the exception says: the first line of its message, where it has
# several. No path, no "Traceback", and not the source that could not be compiled.
#
# <details><summary>Hint 1</summary>
#
# Put the items together and split them again, and you have plain lines: `"".join(...).splitlines()`. How does the one
# that you want differ from those that come before it?
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Place and source of a `SyntaxError` are indented. So take the first line that does not start with a space:
# `next(line for line in lines if ...)`.
#
# </details>

# %% check id="reason" task="reason" points=1 name="an exception says its class and what happened" because="step 3" hint="the function explain, in the cell of the loop"
class NothingToSay(Exception):
    def __str__(self):
        return self.text


with only(TOOLS, failing(RuntimeError("the warehouse is closed\nask again at nine"), "one"), failing(NothingToSay(), "two")):
    one = observations(agent_step, call("one"))[0]
    try:
        two = observations(agent_step, call("two"))[0]
    except AttributeError:
        two = "no observation, since the loop ended with an AttributeError"
assert "RuntimeError" in one and "the warehouse is closed" in one, f"expected RuntimeError and 'the warehouse is closed' in the observation, found {one!r}: look at explain(), step 3"
assert "NothingToSay" in two, f"expected at least the class NothingToSay of an exception that cannot say what it is, found {two!r}: look at explain(), step 3, and run its cell again"

# %% check id="reason-unseen" task="reason" points=2 name="other exceptions do as well, without a traceback" because="step 3" kind="output" hidden=true seeded=true hint="the class and the first line of the message must be there: with notes, with several lines, without any message; and no line of a traceback"
import random

drawn = random.Random(seed)
number = drawn.randrange(10_000, 99_999)


class Refused(Exception):
    pass


class Mute(Exception):
    def __str__(self):
        return self.text


notes = with_notes(RuntimeError(f"shelf {number} is empty"), "while the order was packed", f"attempt {drawn.randrange(2, 9)}")
chained = Refused(f"no answer to {number}")
chained.__cause__ = OSError("/srv/agent/orders.csv is locked")
errors = [ValueError(f"row {number}\nof the second sheet\nis no row"), KeyError(f"field_{number}"), notes, chained, ConnectionError(), Mute()]
drawn.shuffle(errors)
said = []
for error in errors:
    with only(TOOLS, failing(error)):
        seen = observations(agent_step, call("fail"))[0]
    first = "" if isinstance(error, Mute) else str(error).split("\n")[0]
    said.append([type(error).__name__ in seen, first in seen, not any(part in seen for part in ("Traceback (most", 'File "', "/srv/"))])
show(said)

# %% check id="syntax" task="reason" points=1 name="a SyntaxError says what is wrong, and no path" because="step 3" kind="output" hidden=true seeded=true hint="try compile(text, path, 'exec') with a broken text, a long one as well: class and message, but no path; and an exception that cannot say what it is"
import random

folder = f"/srv/agent_{random.Random(seed).randrange(10_000)}"
texts = ("plan = (", "total = 3 3", "if ready:\npack()", "x = [" + "'step', " * 2_000 + "(")
errors = [syntax_error(text, f"{folder}/plan.py") for text in texts]
with_notes(errors[-1], *(f"asked for by line {line} of orders.csv, which was read a moment ago" for line in range(300)))


class Silent(Exception):
    def __str__(self):
        return self.text


said = []
for error in (*errors, Silent()):
    with only(TOOLS, failing(error)):
        seen = observations(agent_step, call("fail"))[0]
    said.append([type(error).__name__ in seen, getattr(error, "msg", "") in seen, folder not in seen])
show(said)

# %% [markdown]
# ## Which cut keeps the line?
#
# Is one line not a bit little? You might show the model all that `format_exception_only` gives, since the loop cuts it
# anyway. Here are three errors of about 30 KB. Python's compiler found a bracket open in a file that a program has written,
# all in one line. A tool has added 550 notes to its exception. And a bit of both.

# %% given id="errors"
def plan(steps):
    return "plan = [" + ", ".join(f"('step {n:04}', {n})" for n in range(steps)) + ", ("


NOTES = [f"row {n:03} of orders.csv was read before, without problems" for n in range(550)]
ERRORS = {
    "compiler error": syntax_error(plan(760)),
    "exception with notes": with_notes(ValueError("an order number has five digits"), *NOTES),
    "compiler error with notes": with_notes(syntax_error(plan(380)), *NOTES[:270]),
}
WHOLE = {title: "".join(traceback.format_exception_only(error)) for title, error in ERRORS.items()}
for title, text in WHOLE.items():
    lines = text.splitlines()
    print(f"{title:<27}{len(text):,} characters, first line {lines[0][:30]!r}, last line {lines[-1][:36]!r}")

# %% [markdown]
# Is the exception line, the one with the class, still there after a cut to 4,000 characters?

# %% given id="survive"
rows = []
for title, text in WHOLE.items():
    line = next(line for line in text.splitlines() if line.startswith(type(ERRORS[title]).__name__))
    rows.append(survivors(text, {title: line}, 4_000).assign(characters=len(text), line_begins_at=text.index(line)))
pd.concat(rows)

# %% [markdown]
# `tail_cut` keeps the head. It loses the line of both compiler errors, since Python says last what is wrong. `middle_snip`
# keeps both ends, and has the line in the first two. In the third the line stands in the middle, and neither cut keeps it.
# So choose the line first, and cut after. And what does your loop show?

# %% given id="mine-survive"
for title, error in ERRORS.items():
    with only(TOOLS, failing(error)):
        print(f"{title:<27}{truncate_observation(observations(agent_step, call('fail'))[0], 70)}")

# %% [markdown]
# ## Step 4: what is not the tool's
#
# A loop that has `except Exception` looks as if it caught all that a tool may raise. But many a tool is a program for the
# command line, wrapped in a function, and such a program ends by `sys.exit`:

# %% given id="book-exit"
def resize():
    sys.exit("resize: --width needs a number")


try:
    try:
        resize()
    except Exception as error:
        print("an observation:", error)
except SystemExit:
    print("Not caught: the agent would have ended, with all that was said.")

# %% [markdown]
# `SystemExit` is no `Exception`, so that nobody catches it by accident. Here you want to: what the tool says is an
# observation, and the turn goes on.
#
# But take care. Two others are no `Exception` either, and neither belongs to the tool. Ctrl-C (in a notebook: the square,
# *Interrupt*) arrives as `KeyboardInterrupt` in whatever is running just now, which is a tool, as often as not. A
# cancelled task of `asyncio` gets a `CancelledError`. Then somebody wants the loop to *stop*: no further call of the model.
#
# <details><summary>Hint</summary>
#
# `except` takes several classes in brackets: `except (KeyError, ValueError) as error:`.
#
# </details>

# %% check id="exit" task="stop" points=1 name="a tool that calls sys.exit does not end the agent" because="step 4" hint="agent_step: which exceptions does the try catch?"
try:
    with only(TOOLS, failing(SystemExit("resize: --width needs a number"), "resize"), *TOOLS):
        seen = observations(agent_step, call("resize"), call("wordcount", text="to be"))
except SystemExit as error:
    seen = [f"(SystemExit left the loop: {error})", ""]
assert seen[1] == "2", f"expected the turn to go on after a tool that called sys.exit, found {seen[0]!r}: look at the except in agent_step, step 4"
assert "--width needs a number" in seen[0], f"expected the model to be told what the tool said, '--width needs a number', found {seen[0]!r}: step 4"

# %% check id="stops" task="stop" points=2 name="Ctrl-C and a cancelled task stop the loop, errors do not" because="step 4" kind="output" hidden=true hint="after KeyboardInterrupt or CancelledError in a tool the model is not called again; before that, the call of look_up is told of the tool lookup, as in step 1"
import asyncio
import contextlib

said = []
for error in (KeyboardInterrupt(), asyncio.CancelledError()):
    model = ScriptedModel([call("look_up"), call("stop_it"), call("lookup"), "Done."], unique_ids=True, keep_requests=True)
    with only(TOOLS, failing(ValueError("no"), "lookup"), failing(error, "stop_it")):
        with contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError):
            agent_step("Go on.", [], model, SYSTEM)
    told = model.requests[1].messages[-1]["content"]
    said.append([len(model.requests), mentions(told, "lookup") > 0])
show(said)

# %% [markdown]
# ## The package's version
#
# All checks above have passed? Then compare. Right is how the package words an exception. (If you put a loop of your own
# above, give `beside` the function of it that you want to see.)
#
# **One question to take with you:** yours keeps one line. The package's drops what stands before the class, and keeps all
# notes behind it. Which of the errors in the table would then need a cut, and would `tail_cut` do for it?
#
# Something to try, without points: `READ_FILE` is no typing error but a habit. What would you change so that it gets a
# hint as well?

# %% shown id="package"
beside(explain, "agentlab.observe.error_text")
