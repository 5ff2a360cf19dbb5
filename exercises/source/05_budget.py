# ---
# jupyter:
#   agentlab:
#     number: 5
#     title: "Budget math"
#     minutes: 40
#     tasks:
#     - {id: continue, title: "Keep the scratchpad"}
#     - {id: count, title: "Three curves"}
#     - {id: shape, title: "Their shapes"}
#     - {id: jump, title: "The largest jump"}
#     seams:
#     - agentlab.loop.agent_step
#     - agentlab.analysis.curve
#     - agentlab.analysis.curve.curve
#     - agentlab.analysis.calls_frame
#     - agentlab.analysis.curve.calls_frame
#     - agentlab.analysis.summary
#     - agentlab.analysis.curve.summary
#     - agentlab.analysis.growth
#     - agentlab.analysis.growth.growth
#     - agentlab.analysis.jumps
#     - agentlab.analysis.growth.jumps
#     - agentlab.analysis.trend.exponent
#     - agentlab.grading.building.pictures.turn_tokens
#     - agentlab.tokens.count_messages
#     - agentlab.tokens.message_counter
#     - agentlab.tokens.chat.count_messages
#     - agentlab.tokens.chat.message_counter
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Exercise 5: budget math
#
# *About 40 minutes. Offline, no key. Four steps, about 20 lines of your own.*
#
# With continuation a turn knows what earlier turns saw. What does that cost? "It grows" is an answer that everybody has.
# How does it grow: linearly, faster, slower? Where does the curve bend, and what made it bend?
#
# You will make the change, run two sessions of ten turns before and after it, and count every token that is sent. Then
# you will find that the question has three answers, and that what looks like a bend is often something else.
#
# Put your student number into the next cell: your sessions are drawn from it, so your figures are your own. Then run the
# cells from the top. Where it is your turn, the text says **Step**; the cell below a step checks it. More checks run when
# your notebook is graded. To see where you stand, write `%load_ext agentlab` and below it `%check` into a new cell: that
# runs all the checks that you can see.

# %% given id="student"
STUDENT = 1

# %% [markdown]
# The next cell brings what the steps need.

# %% setup id="setup"
from itertools import accumulate

import matplotlib.figure  # slow to import, so at once
import numpy as np

from agentlab.grading.building.beside import beside
from agentlab.grading.building.probe import as_message
from agentlab.grading.building.ten_turns import base_tokens, bursty, even, fetch, functions_shown, read_lines, record, recorded
from agentlab.grading.building.turn_curves import plot_curves
from agentlab.policy import Limit
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.repair import call_dict
from agentlab.tokens import count_text
from agentlab.truncate import truncate_observation

SYSTEM = """You help to maintain the code of a warehouse. Answer from what your tools show you, and say so where they show nothing.
Keep to what was asked. Name the file and the lines that you speak of, and quote no more than you need.
Read a file in parts of at most fifty lines. Never guess at what a part holds that you have not read.
Before you call a tool, ask yourself whether you have seen the answer already. If you have, use it.
Write as a colleague would: short sentences, no headings, no lists, and nothing that praises the question."""
TOOLS = [read_lines, fetch]
BASE = base_tokens(SYSTEM, TOOLS)


def count(text):
    """How many tokens of o200k_base a text has."""
    return count_text(text, "o200k_base").n


# %% [markdown]
# ## The loop, before continuation
#
# This is the loop that the chapter starts from. `agent_step` works on a *copy* of the history. All that it appends, calls
# and observations, is gone when it returns: its **scratchpad**. Only the question and the reply are kept, by `one_line`,
# which is what `chat` does with a line that the user types.
#
# ## Step 1: keep the scratchpad
#
# Make the chapter's change, in the cell below. `agent_step` becomes the one writer of the history: it appends to the list
# that it was given, and appends the final reply before it returns it. `one_line` only calls it. You may also put the
# `agent_step` here that you typed from the book.

# %% answer id="loop" task="continue"
MAX_ITERATIONS = 10


### BEGIN SOLUTION
def agent_step(user_message, messages, provider, system, on_text_delta=None):
### STUB
# def agent_step(user_message, history, provider, system, on_text_delta=None):
#     messages = list(history)  # step 1: a copy
### END SOLUTION
    messages.append({"role": "user", "content": user_message})
    for _ in range(MAX_ITERATIONS):
        reply = provider.call(messages, system=system, tools=TOOLS, on_text_delta=on_text_delta)
        if not reply.tool_calls:
            ### BEGIN SOLUTION
            messages.append({"role": "assistant", "content": reply.text})
            ### STUB
            ### END SOLUTION
            return reply.text
        messages.append(as_message(reply))
        box = {tool.name: tool for tool in TOOLS}
        for each in reply.tool_calls:
            try:
                observation = box[each.name].run(**each.arguments)
            except Exception as error:
                observation = f"Error: {type(error).__name__}: {error}"
            observation = truncate_observation(observation)
            messages.append({"role": "tool", "tool_call_id": each.id, "name": each.name, "content": observation})
    return "I stopped: too many iterations."


def one_line(question, messages, provider):
    reply = agent_step(question, messages, provider, SYSTEM)
    ### BEGIN SOLUTION
    ### STUB
    # messages.append({"role": "user", "content": question})  # step 1: and now?
    # messages.append({"role": "assistant", "content": reply})
    ### END SOLUTION


# %% [markdown]
# <details><summary>Hint</summary>
#
# Four places: the name of the second parameter, the copy, one line more above `return reply.text`, and two lines less in
# `one_line`.
#
# </details>

# %% check id="kept" task="continue" points=1 name="two turns with a call each leave eight messages" because="step 1" hint="agent_step appends everything, the final reply too, and one_line appends nothing"
kept, model = [], ScriptedModel([call("read_lines", path="source.py", start=1, end=5), "Imports.", call("read_lines", path="source.py", start=6, end=9), "More."], unique_ids=True)
for question in ("What is at the top?", "And then?"):
    one_line(question, kept, model)
found = " ".join(message["role"] for message in kept)
assert found == "user assistant tool assistant user assistant tool assistant", f"expected user, assistant, tool, assistant of each of the two turns, found: {found or 'no message'}. Look at who appends what, step 1"
assert kept[3]["content"] == "Imports.", f"expected the first turn's reply, 'Imports.', as the fourth message, found {kept[3]['content']!r}: step 1"

# %% check id="kept-unseen" task="continue" points=2 name="every request holds all that came before" because="step 1" kind="output" hidden=true seeded=true hint="run a session of several turns, some with several calls in one reply, and look at the messages that each request holds: nothing missing, nothing twice, in order"
from agentlab.grading.building.ten_turns import bursty, even, record

said = []
for session in (even(seed), bursty(seed, "read_lines")):
    turns = record(one_line, session)
    said.append([[len(request) for request in turn] for turn in turns])
    said.append(["".join(message["role"][0] for message in turns[-1][-1]), [message["content"] for message in turns[-1][-1] if message["role"] == "user"] == list(session.questions)])
show(said)

# %% [markdown]
# ## Two sessions
#
# In both, the same ten pages of one file come in, about 44 lines each. In the **even** session the agent reads a page in
# every turn. In the **bursty** one most turns are small talk: six pages come in at once, in one turn, and the other four
# are read one after the other, in a later turn. The model in them follows a script, so the same session can be run
# twice: with the loop as you found it, *before*, and with yours, *after*. These are the questions of your bursty session:

# %% given id="sessions"
runs = {
    "even": {"before": recorded(even(STUDENT), system=SYSTEM, tools=TOOLS, forget=True), "after": record(one_line, even(STUDENT))},
    "bursty": {"before": recorded(bursty(STUDENT), system=SYSTEM, tools=TOOLS, forget=True), "after": record(one_line, bursty(STUDENT))},
}
for number, question in enumerate(bursty(STUDENT).questions, 1):
    more = question.count("\n")
    print(f"{number:>2}. {question.splitlines()[0]}" + (f" (and {more} lines more)" if more else ""))

# %% [markdown]
# `record` keeps what the model was sent: a list of **turns**. A turn is a list of **requests**, one for each call of the
# model. A request is a list of **messages**. So `turns[2][-1]` is the last request of the third turn.

# %% given id="look"
turns = runs["even"]["after"]
print("messages in each request, turn by turn:", [[len(request) for request in turn] for turn in turns])
for message in turns[0][1]:
    print({key: value if len(str(value)) < 170 else str(value)[:60] + " ..." for key, value in message.items()})

# %% [markdown]
# ## Step 2: three curves
#
# What does a turn cost? The first thing that comes to mind is to count the history, once after each turn. The last request
# is nearly that. Compare it with all that was sent:

# %% given id="book-once"
held = sum(len(message["content"]) for message in turns[-1][-1])
sent = sum(len(message["content"]) for turn in turns for request in turn for message in request)
print(f"The last request holds {held:,} characters in {len(turns[-1][-1])} messages.")
print(f"Sent were {sent:,} in {sum(map(len, turns))} requests, which is {sent / held:.0f} times as much.")
print(f"And each request also carries the system prompt and the tools: {BASE} tokens, which stand in no message.")

# %% [markdown]
# A provider bills every request, whole. So "the tokens of a turn" is no clear question; there are three, and each has its
# own curve:
#
# - **last request**: the tokens of the turn's last request. It says how full the window is.
# - **sent per turn**: of all requests of the turn together. It says what the turn cost.
# - **cumulative**: of this turn and all turns before. It says what the session has cost.
#
# Write `tokens_of(message)` and `curves(turns)`. A message has the tokens of its content, and of the name and the arguments
# of each call in it, and 4 more for what is around it. A request has the tokens of its messages, and `BASE`. `curves`
# returns three lists of numbers under these three names, with a number for each turn.
#
# `count` is exact for this model by definition. If you would rather estimate, as you have to for Claude when you are
# offline, set `COUNTED = "estimated"`: then 15 % are allowed, and 2 % otherwise.
#
# <details><summary>Hint 1</summary>
#
# Calls are in `message.get("tool_calls", [])`. Of each, `call["function"]["name"]` and `call["function"]["arguments"]` are
# texts.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# First make a list with a list of numbers for each turn: the tokens of its requests. The three curves are the last of
# each, the sum of each, and the running sum of those: `list(accumulate([1, 2, 3]))` is `[1, 3, 6]`.
#
# </details>

# %% answer id="curves" task="count"
COUNTED = "exact"


def tokens_of(message):
    """Tokens of one message, with the calls that it asks for."""
    ### BEGIN SOLUTION
    asked = [call["function"] for call in message.get("tool_calls", [])]
    return 4 + count(message["content"]) + sum(count(each["name"]) + count(each["arguments"]) for each in asked)
    ### END SOLUTION


def curves(turns):
    """Three lists, each with a number per turn: last request, sent per turn, cumulative."""
    ### BEGIN SOLUTION
    sent = [[BASE + sum(map(tokens_of, request)) for request in turn] for turn in turns]
    per_turn = [sum(turn) for turn in sent]
    last = [turn[-1] for turn in sent]
    return {"last request": last, "sent per turn": per_turn, "cumulative": list(accumulate(per_turn))}
    ### END SOLUTION


mine = {title: {way: curves(turns) for way, turns in ways.items()} for title, ways in runs.items()}

# %% check id="message" task="count" points=1 name="a message has its text, its calls, and 4 more" because="step 2" hint="tokens_of: content, name and arguments of each call, 4 around it"
share = {"exact": 0.02, "estimated": 0.15}[COUNTED]
asking, page = recorded(even("example"), system=SYSTEM, tools=TOOLS)[0][1][1:]
for message, wanted in ((page, 499), ({**asking, "tool_calls": asking["tool_calls"] * 6}, 100)):
    found = tokens_of(message)
    what = "a result with a page of code" if message is page else "a message that asks for six pages, without any text"
    assert abs(found - wanted) <= wanted * (share if message is page else share + 0.2), f"expected about {wanted} tokens for {what}, found {found}: look at tokens_of, step 2"

# %% check id="three" task="count" points=1 name="last request, sent per turn, cumulative" because="step 2" hint="curves: every request of a turn counts, and each carries BASE"
share = {"exact": 0.02, "estimated": 0.15}[COUNTED]
found = curves(recorded(even("example"), system=SYSTEM, tools=TOOLS))
wanted = {"last request": {1: 836, 2: 1383, 10: 5887}, "sent per turn": {1: 1153, 2: 2252, 10: 11218}, "cumulative": {1: 1153, 2: 3405, 10: 61674}}
for name, values in wanted.items():
    assert name in found and len(found[name]) == 10, f"expected a list of ten numbers under {name!r}, found {list(found.get(name, []))}: look at what curves returns, step 2"
    for turn, tokens in values.items():
        assert abs(found[name][turn - 1] - tokens) <= share * tokens, f"expected about {tokens:,} tokens for {name!r} in turn {turn} of an example session, found {found[name][turn - 1]:,.0f}: step 2"

# %% check id="curves-unseen" task="count" points=2 name="the curves of sessions that you have not seen" because="step 2" kind="output" hidden=true seeded=true hint="turns with one request, with two and with five; several calls in one message; a long text of the user's; 2 % for exact counts and 15 % for estimates"
from agentlab.grading.building.turn_curves import curves_agree

share = {"exact": 0.02, "estimated": 0.15}.get(COUNTED, 0.0)
said = []
for session in (even(seed), bursty(seed, "read_lines"), bursty(seed + 1, "user")):
    turns = recorded(session, system=SYSTEM, tools=TOOLS)
    said.append(curves_agree(curves(turns), turns, base=BASE, share=share))
show(said)

# %% check id="curves-mine" task="count" points=1 name="your own curves, counted again" because="step 2" kind="output" hidden=true hint="mine must hold the curves of your own two sessions, after continuation, as your loop ran them"
from agentlab.grading.building.turn_curves import curves_agree

share = {"exact": 0.02, "estimated": 0.15}.get(COUNTED, 0.0)
show([curves_agree(mine[session]["after"], record(one_line, made(STUDENT)), base=BASE, share=share) for session, made in (("even", even), ("bursty", bursty))])

# %% [markdown]
# ### Look at them
#
# Grey is before, blue is after.

# %% given id="plot"
plot_curves(mine)

# %% [markdown]
# And in numbers:

# %% given id="totals"
for title, ways in mine.items():
    before, after = (ways[way]["cumulative"][-1] for way in ("before", "after"))
    print(f"{title:<7} before {before:>7,.0f} tokens, after {after:>7,.0f}: {after / before:.1f} times as many")

# %% [markdown]
# The blue curves of the first row look quite different, and all three are of *one* session. Those of the second row have
# steps and a spike, which come in step 4.
#
# Is your bursty session hardly dearer after than before? Then it was the user who brought the six pages, as a look at its
# questions shows. What a user writes was always kept. Continuation adds what *tools* returned.
#
# ## Step 3: their shapes
#
# "Is it linear, super-linear or sub-linear?" First try the obvious: lay a straight line through each curve of the even
# session, and see how much of it the line explains.

# %% given id="book-line"
place = np.arange(1, 11)
for name, values in mine["even"]["after"].items():
    explained = np.corrcoef(place, values)[0, 1] ** 2
    print(f"{name:<14} a straight line explains {explained:.1%}")

# %% [markdown]
# Nearly all of each, even of the one that is plainly bent. And a line that fits says nothing about what happens when a
# session is twice as long. So here is a rule:
#
# > Fit a power law, `tokens = a * turn ** b`, to the values, with the turns counted from 1. Round `b` to one decimal.
# > Under 1.0 the curve is **sub-linear**, at 1.0 **linear**, over 1.0 **super-linear**.
#
# `2 ** b` is what twice as many turns multiply the tokens by. Write `shape(values)`, which returns one of these three words,
# for any number of values. Any sensible fit will do: your sessions, and those that the checks draw, are such that all of them
# agree.
#
# <details><summary>Hint</summary>
#
# The logarithm of a power law is a straight line: `log(tokens) = log(a) + b * log(turn)`. `np.polyfit(x, y, 1)` fits a line
# and returns its slope first. `scipy.optimize.curve_fit` fits the power law as it is.
#
# </details>

# %% answer id="shape" task="shape"
def shape(values):
    """Whether values grow sub-linearly, linearly or super-linearly with their place, from 1."""
    ### BEGIN SOLUTION
    places = np.arange(1, len(values) + 1)
    power = np.polyfit(np.log(places), np.log(values), 1)[0]
    return "linear" if round(power, 1) == 1 else "super-linear" if power > 1 else "sub-linear"
    ### END SOLUTION


shapes = {name: shape(values) for name, values in mine["even"]["after"].items()}
shapes

# %% check id="shape-known" task="shape" points=1 name="three series whose shape is known" because="step 3" hint="shape: the rule is about the exponent, rounded to one decimal"
series = {"sub-linear": [100 * turn**0.8 for turn in range(1, 11)], "linear": [7 * turn for turn in range(1, 13)], "super-linear": [3 * turn**1.2 for turn in range(1, 11)]}
for wanted, values in series.items():
    found = shape(values)
    assert found == wanted, f"expected {wanted!r} for {[round(value) for value in values]}, found {found!r}: look at the rule of step 3"

# %% check id="shape-unseen" task="shape" points=2 name="series and sessions that you have not seen" because="step 3" kind="output" hidden=true seeded=true hint="other factors, exponents and lengths, values with a little noise, a series that hardly grows; turns are counted from 1"
import random

drawn = random.Random(seed)
said = []
for low, high in drawn.sample([(0.02, 0.1), (0.4, 0.85), (0.99, 1.01), (0.99, 1.01), (1.15, 1.4), (1.7, 2.3)] * 2, 12):
    size, factor, power = drawn.choice((10, 10, 14, 25)), drawn.uniform(5, 3_000), drawn.uniform(low, high)
    said.append(str(shape([factor * turn**power * drawn.uniform(0.995, 1.005) for turn in range(1, size + 1)])))
show(said)

# %% check id="shape-mine" task="shape" points=1 name="the shapes of your own session" because="step 3" kind="output" hidden=true hint="shapes must hold what your even session's three curves are after continuation, counted as in step 2"
from agentlab.grading.building.turn_curves import shapes_agree

show(shapes_agree(shapes, record(one_line, even(STUDENT)), base=BASE))

# %% [markdown]
# Three curves, three answers, and no contradiction. The same with the exponents, before and after:

# %% given id="exponents"
for title, ways in mine.items():
    for way, three in ways.items():
        powers = {name: np.polyfit(np.log(place), np.log(values), 1)[0] for name, values in three.items()}
        print(f"{title:<7} {way:<7}", "  ".join(f"{name} {power:.2f}" for name, power in powers.items()))

# %% [markdown]
# Read the line *even after*. Each turn adds about as much as the one before, so the last request grows along a straight
# line. But it does not start at zero: system prompt and tools are in it from the beginning. That is why its exponent is
# under 1. What is sent per turn has the base twice, but the first of its two requests does not have the new page yet. Here
# these two happen to balance, and its exponent is about 1. And the sum of what grows linearly grows nearly with the
# square: twice as many turns send more than three times as much. *Before*, a turn cost nearly the same every time, and
# the sum was not far from linear.
#
# Now read *bursty after*. By the rule all three are super-linear. Do you believe it? Look at the picture again: the last
# request has two steps and is flat otherwise. A power law is laid through steps there, and what comes out depends on
# *when* they come. The rule is for sessions that are even. Ask this session something else.
#
# ## Step 4: the largest jump
#
# Where does the bursty curve bend? Again there is an obvious answer: where a turn sends so much more than the turn
# before.

# %% given id="book-spike"
sent, last = (mine["bursty"]["after"][name] for name in ("sent per turn", "last request"))
spike = max(range(1, 10), key=lambda turn: sent[turn] - sent[turn - 1]) + 1
print(f"Turn {spike} sends {sent[spike - 1] - sent[spike - 2]:,.0f} tokens more than turn {spike - 1}.")
if spike < 10:
    print(f"Turn {spike + 1} then sends {sent[spike - 1] - sent[spike]:,.0f} less.")
print(f"Its last request is {last[spike - 1] - last[spike - 2]:,.0f} tokens larger than that of turn {spike - 1}.")

# %% [markdown]
# That is a **spike**: in that turn the model was called five times, and each call carried all that there was. It is paid
# once. What stays, and is paid for in every later request, is what the *last request* gained. So here is the second rule:
#
# > The largest jump is in the turn whose last request has the most tokens more than that of the turn before. Its cause
# > is whoever most of what is new in it comes from, in tokens: the name of a tool, `"user"` or `"assistant"`.
#
# Write `largest_jump(turns)`. It returns the number of the turn, counted from 1, and the cause. With continuation the last
# request of a turn is that of the turn before, and more messages behind it; those are new. Results of the same tool belong
# together.
#
# <details><summary>Hint 1</summary>
#
# What is new: `request[len(request_before):]`. And who: a tool message has a `name`; of the others take the `role`.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# `max(numbers, key=function)` returns the number for which the function is largest. For the cause add up `tokens_of` in a
# dictionary by who, and take `max(dictionary, key=dictionary.get)`.
#
# </details>

# %% answer id="jump" task="jump"
def largest_jump(turns):
    """The turn whose last request grew most, from 1, and what most of the new comes from."""
    ### BEGIN SOLUTION
    last = [turn[-1] for turn in turns]
    size = [sum(map(tokens_of, request)) for request in last]
    at = max(range(1, len(last)), key=lambda turn: size[turn] - size[turn - 1])
    tokens = {}
    for message in last[at][len(last[at - 1]) :]:
        who = message.get("name", message["role"])
        tokens[who] = tokens.get(who, 0) + tokens_of(message)
    return at + 1, max(tokens, key=tokens.get)
    ### END SOLUTION


jump = largest_jump(runs["bursty"]["after"])
jump

# %% check id="jump-known" task="jump" points=1 name="a spike is no jump" because="step 4" hint="largest_jump: compare last requests, and add up the results of one tool"
user, reply = lambda text: {"role": "user", "content": text}, lambda text: {"role": "assistant", "content": text}
pages = [{"role": "tool", "name": "fetch", "tool_call_id": f"call_{number}", "content": "def a(): ... " * 60} for number in (1, 2)]
one = [user("Is it tested?")]
two = [*one, reply("It is not."), user("Here is a test. " * 55), {**reply(""), "tool_calls": [call_dict(call("fetch", id="call_1", url="#L1-L9"))]}, *pages]
three = [*two, reply("It passes."), user("Why?")]
four = [*three, reply("It tests nothing."), user("Here is another test. " * 60)]
found = largest_jump([[one], [two[:3], two], [three] * 6, [four]])
assert tuple(found) == (2, "fetch"), f"expected (2, 'fetch') for four turns: in the second the user writes much and two pages that are fetched are more, in the third the model is called six times, in the fourth the user writes much. Found {found}: look at the rule of step 4"

# %% check id="jump-unseen" task="jump" points=2 name="other jumps, and other causes" because="step 4" kind="output" hidden=true seeded=true hint="a page may come in by either tool, or be pasted by the user; what the model itself writes in a turn's reply is first sent in the turn after"
said = []
for number, way in enumerate(("fetch", "assistant", "user", "read_lines")):
    turn, cause = largest_jump(recorded(bursty(seed + number, way), system=SYSTEM, tools=TOOLS))
    said.append([int(turn), str(cause)])
show(said)

# %% check id="jump-mine" task="jump" points=1 name="the largest jump of your own session" because="step 4" kind="output" hidden=true hint="jump must hold the turn and the cause of your bursty session, after continuation"
from agentlab.grading.building.turn_curves import jump_agrees

show(jump_agrees(jump, record(one_line, bursty(STUDENT))))

# %% [markdown]
# So where does the curve bend? Nowhere, in the sense of a growth that becomes another one. It has jumps, each of which is
# a few large messages, and spikes, each of which is a turn with many calls. Whoever asks "why is my session so expensive"
# should look for those two, and only then fit anything.
#
# ## Same bill, other contents
#
# A limit on results makes every jump smaller. Here is your even session once more, in the package's loop, with 1,000
# characters for each page: cut in the middle, and cut at the tail. How many of the pages' functions does the last request
# still show, by where in its page a function begins?

# %% given id="same-bill"
for strategy in ("middle_snip", "tail_cut"):
    cut = recorded(even(STUDENT), system=SYSTEM, tools=TOOLS, limit=Limit(1_000, strategy=strategy))
    print(f"{strategy:<12} {curves(cut)['cumulative'][-1]:>7,.0f} tokens sent", functions_shown(cut, even(STUDENT)))

# %% [markdown]
# The two bills are nearly the same, about three fifths of what it was. What was bought is not the same at all:
# `middle_snip` shows the beginning and the end of each page, `tail_cut` shows more of the beginning, and no end. No curve
# on this page tells you which of the two you have.
#
# ## The package's version
#
# All checks above have passed? Then compare. Left are your curves, right are the package's. (It counts a few tokens more
# for each message that calls a tool, since it has what surrounds a call in its formula.)
#
# **One question to take with you:** yours adds up whole requests. The package's takes each request apart: what is new, what
# earlier iterations of the turn had sent, what earlier turns had, and the base. Which of these four parts makes the
# cumulative curve bend, and which makes the last request sub-linear?

# %% shown id="package"
beside(curves, "agentlab.analysis.curve.curve", "agentlab.analysis.curve._split_of")

# %% [markdown]
# ## Stretch
#
# Without points, and as far as you like.
#
# - **A real session.** `agentlab report FOLDER` writes a page about any session that you have recorded, with these curves
#   and the largest jumps; notebook 05 does it step by step. Is yours even or bursty?
# - **A larger base.** Many agents have system prompts of 10,000 tokens. In a copy of this notebook, set `BASE = 10_000`
#   below step 1 and run the rest. Which of the three exponents changes most, and why?
# - **Other fits.** Leave out the first turn, or take the first and the last value alone. By how much do the exponents of
#   the even session differ? And of the bursty one?
