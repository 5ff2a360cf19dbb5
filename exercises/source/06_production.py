# ---
# jupyter:
#   agentlab:
#     number: 6
#     title: "Production reference"
#     minutes: 40
#     tasks:
#     - {id: places, title: "Two places to decide"}
#     - {id: cost, title: "What it costs, and what survives"}
#     - {id: decide, title: "Pick a decision and measure it"}
#     - {id: argue, title: "Say whether it is worth it"}
#     paragraphs:
#     - id: argument
#       task: argue
#       name: "Whether the decision is worth adopting"
#       points: 4
#       cell: paragraph
#       variable: paragraph
#       rubric: "1 point each: says yes or no, and for which tools or sessions; the reason follows from the figures; says what is lost, not only what is saved; names something that the measurement cannot show."
#     seams:
#     - agentlab.loop.agent_step
#     - agentlab.analysis.replay
#     - agentlab.analysis.curve
#     - agentlab.grading.building.pictures.survivors
#     - agentlab.grading.building.pictures.turn_tokens
#     - agentlab.grading.building.recorded.measure
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Exercise 6: production reference
#
# *About 40 minutes. Offline, no key. Four steps: about ten lines of your own, and a paragraph.*
#
# The chapter's loop cuts each result to 4,000 characters, keeps both ends, and sends all that was ever said. The chapter
# then looks at nanobot, an agent in production, and finds four decisions that differ:
#
# | about | the chapter | nanobot |
# |---|---|---|
# | which part stays | both ends | the head: a tail cut |
# | how much of it | 4,000 characters, for all | 16,000 characters, set per agent |
# | what was cut | is gone | is on disk, and can be fetched |
# | old results | are sent with every call | of chatty tools the 10 newest stay, older ones become a line; after a pause, a summary |
#
# Which of them would you take over? You pick one, measure it on recorded sessions, and write a paragraph. A machine checks
# your figures; a person reads your argument.
#
# **Which nanobot.** The chapter's description matches commit `5d7f3f2` of 13 May 2026. The newest code no longer has the
# three methods that it names (`_apply_tool_result_budget`, `_microcompact`, `_normalize_tool_result`) in that file. So this
# is about decisions, not about what nanobot does today. None of its code is here: each decision is written anew, as small
# as it can be.
#
# Run the cells from the top. Where it is your turn, the text says **Step**; the cell below a step checks it. More checks
# run when your notebook is graded. To see where you stand, write `%load_ext agentlab` and below it `%check` into a new
# cell: that runs all the checks that you can see.

# %% setup id="setup"
import json
from types import SimpleNamespace

import pandas as pd

from agentlab.grading.building.beside import beside
from agentlab.grading.building.decisions import TO_CHOOSE, consolidated, fetch, middle, on_disk, placeholders, tail
from agentlab.grading.building.figures import words
from agentlab.grading.building.measured import Cited, agrees, drawn, figures_missing, figures_wrong, problems_of
from agentlab.grading.building.pictures import plot_turns
from agentlab.grading.building.probe import as_message, data, observations, only
from agentlab.grading.building.recorded import Sent, recorded, replayed
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.show import side_by_side, source
from agentlab.tools import tool as described

TOOLS = []
rules = SimpleNamespace(shorten=middle, view=list)


# %% [markdown]
# ## Step 1: two places to decide
#
# This is the chapter's loop; `middle` is its cut to 4,000 characters. The decisions fit into two places of it: where a
# result comes in, and where the messages are sent. (Only a summary after a pause is made outside, between two turns.) Make
# the loop ask `rules` in both:
#
# - `rules.shorten(text)` returns what the model is shown of a result; so far it is `middle`,
# - `rules.view(messages)` returns what this one call is sent; so far that is all. `messages` itself stays as it is: what is
#   not sent is not forgotten.
#
# Ask `rules` each time anew, since it will change. You may also put the `agent_step` here that you typed from the book, with
# the same two changes, as long as it looks its tools up in `TOOLS`.

# %% answer id="loop" task="places"
MAX_ITERATIONS = 10


def agent_step(user_message, messages, provider, system, on_text_delta=None):
    messages.append({"role": "user", "content": user_message})
    for _ in range(MAX_ITERATIONS):
        ### BEGIN SOLUTION
        reply = provider.call(rules.view(messages), system=system, tools=TOOLS, on_text_delta=on_text_delta)
        ### STUB
        # reply = provider.call(messages, system=system, tools=TOOLS, on_text_delta=on_text_delta)  # step 1
        ### END SOLUTION
        messages.append(as_message(reply))
        if not reply.tool_calls:
            return reply.text
        box = {tool.name: tool for tool in TOOLS}
        for each in reply.tool_calls:
            try:
                observation = box[each.name].run(**each.arguments)
            except Exception as error:
                observation = f"Error: {type(error).__name__}: {error}"
            ### BEGIN SOLUTION
            observation = rules.shorten(observation)
            ### STUB
            # observation = middle(observation)  # step 1
            ### END SOLUTION
            messages.append({"role": "tool", "tool_call_id": each.id, "name": each.name, "content": observation})
    return "I stopped: too many iterations."


# %% check id="asked" task="places" points=1 name="the loop asks rules in both places" because="step 1" hint="agent_step: the line that calls the provider, and the line that shortens"
@described
def echo() -> str:
    """Say something."""
    return "a word"


kept, lengths = (rules.shorten, rules.view), []
rules.shorten, rules.view = str.upper, lambda listed: lengths.append(len(listed)) or list(listed)
try:
    with only(TOOLS, echo):
        shown = observations(agent_step, call("echo"))
finally:
    rules.shorten, rules.view = kept
assert shown == ["A WORD"], f"expected the observation as rules.shorten returns it, 'A WORD', found {shown[0]!r}: look at the line that shortens, step 1"
assert lengths == [1, 3], f"expected rules.view to be asked before each of 2 calls, with 1 and 3 messages, found {lengths}: look at the line that calls the provider, step 1"

# %% check id="not-forgotten" task="places" points=2 name="what is not sent is not forgotten" because="step 1" kind="output" hidden=true seeded=true hint="what rules.view returns is for one call: the provider gets it, and messages still grows by all that was said; rules is asked each time anew"
import random

drawn_words = [f"word {random.Random(seed + number).randrange(10**6)}" for number in range(4)]
left = list(drawn_words)


@described
def next_word() -> str:
    """Say the next word."""
    return left.pop(0)


def last_three(listed):
    return [each | {"content": "gone"} if place < len(listed) - 3 else each for place, each in enumerate(listed)]


kept, history = (rules.shorten, rules.view), []
rules.shorten, rules.view = (lambda text: text[::-1]), last_three
model = ScriptedModel([*[call("next_word")] * 4, "Done."], unique_ids=True, keep_requests=True)
try:
    with only(TOOLS, next_word):
        agent_step("Go on.", history, model, "You are being checked.")
finally:
    rules.shorten, rules.view = kept
told = [each["content"] for each in history if each["role"] == "tool"]
sent = [each["content"] for each in model.requests[-1].messages if each["role"] == "tool"]
show([told == [word[::-1] for word in drawn_words], history[0]["content"] == "Go on.", sent == ["gone"] * 2 + told[2:], len(history)])

# %% [markdown]
# ### Sessions that happened
#
# Now sessions that were recorded can be run again through your loop. `short` is a first chat. `long` has 60 turns about a
# dozen modules, and a pause of half an hour before turn 31. In `big` the user has files of up to 200 KB read, and asks how
# each of them ends.
#
# The model is a stand-in (rule-based, not an LLM), and it is frozen: it says and calls what it did, whatever you show it.
# So you measure what is sent and what is in sight. What a model would have done with less in sight, no replay can tell.

# %% given id="sessions"
SESSIONS = {"short": recorded("short"), "long": recorded("long"), "big": recorded("uncut")}


def replay(session, decision):
    """What your loop sends in a session, under a decision: for each user turn the list of its requests."""
    return replayed(session, agent_step, TOOLS, rules, decision)


SESSIONS

# %% [markdown]
# The first two turns of `short`, as your loop sends them. A request knows its `messages` and its `tokens`.

# %% given id="requests"
replay(SESSIONS["short"], "chapter")[:2]

# %% [markdown]
# ## Step 2: what it costs, and what survives
#
# Two small functions measure everything that follows.
#
# - `tokens_per_turn(turns)` gives the prompt tokens of each user turn: all of its requests together, since each is paid for.
# - `survivors(pieces, request)` gives those of some texts that a tool result in the request still shows, in their order. What
#   the user or the model said does not count: only what a tool returned was observed.
#
# <details><summary>Hint 1</summary>
#
# `turns` is a list of lists: `[[first request, second request], [first request, ...], ...]`. The result has a number for
# each inner list.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# The tool results of a request are the `"content"` of those of `request.messages` whose `"role"` is `"tool"`. A piece
# survives if it is `in` one of them.
#
# </details>

# %% answer id="measuring" task="cost"
def tokens_per_turn(turns):
    """Prompt tokens of each user turn."""
    ### BEGIN SOLUTION
    return [sum(request.tokens for request in turn) for turn in turns]
    ### END SOLUTION


def survivors(pieces, request):
    """Those of some texts that a tool result in the request still shows."""
    ### BEGIN SOLUTION
    shown = [each["content"] for each in request.messages if each["role"] == "tool"]
    return [piece for piece in pieces if any(piece in text for text in shown)]
    ### END SOLUTION


# %% check id="per-turn" task="cost" points=1 name="tokens are summed over the requests of a turn" because="step 2" hint="tokens_per_turn: a number per turn"
found = tokens_per_turn([[SimpleNamespace(tokens=500), SimpleNamespace(tokens=700)], [SimpleNamespace(tokens=900)]])
assert found == [1200, 900], f"expected [1200, 900] for a turn of 500 and 700 tokens and one of 900, found {found}: look at tokens_per_turn, step 2"

# %% check id="survive" task="cost" points=1 name="what a tool result shows survives" because="step 2" hint="survivors: the texts in their order, looked for in the messages of the role tool"
asked = SimpleNamespace(messages=[{"role": "user", "content": "Where is K7QF?"}, {"role": "tool", "content": "It has M3TX."}, {"role": "tool", "content": "And W9HB."}])
found = survivors(["W9HB", "K7QF", "M3TX", "Z"], asked)
assert found == ["W9HB", "M3TX"], f"expected ['W9HB', 'M3TX'], since K7QF is in the user's words alone, found {found}: look at survivors, step 2"

# %% check id="both-unseen" task="cost" points=2 name="both hold for sessions that you have not seen" because="step 2" kind="output" hidden=true seeded=true hint="turns may have one request or many; a text survives if any tool result shows it, the assistant's words do not count"
import random

draw = random.Random(seed)
amounts = [[draw.randrange(100, 9_000) for _ in range(draw.randrange(1, 6))] for _ in range(7)]
found = tokens_per_turn([[Sent((), amount) for amount in turn] for turn in amounts])
codes = [f"code-{draw.randrange(10**8):08d}" for _ in range(12)]
draw.shuffle(codes)
told = [("tool", 0), ("assistant", 1), ("tool", 2), ("tool", 3), ("user", 4)]
listed = tuple({"role": role, "content": f"before {codes[place]} between {codes[place + 5]} after"} for role, place in told)
alive = survivors(codes, Sent(listed, 0))
show([found == [sum(turn) for turn in amounts], [place for place, code in enumerate(codes) if code in alive], list(alive) == sorted(alive, key=codes.index)])

# %% [markdown]
# ### Middle at 4,000, or tail at 16,000?
#
# Before you pick one decision, here are two of nanobot's at once. In `big`, five of the files have a code near the head, one
# in the middle and one near the end. Which codes does the model see under the chapter's cut, and which under a tail cut at
# 16,000 characters, four times as much? Make a guess first.

# %% given id="middle-tail"
planted = json.loads(data("observations/planted.json").read_text(encoding="utf-8")).values()
codes = {place: [each[place]["code"] for each in planted] for place in ("head", "middle", "end")}
cuts = {"middle at 4,000": "chapter", "tail at 16,000": "tail at 16,000"}
big = {title: replay(SESSIONS["big"], name) for title, name in cuts.items()}
for title, turns in big.items():
    last = turns[-1][-1]
    tokens, lines = sum(tokens_per_turn(turns)), len(survivors(SESSIONS["big"].lines, last))
    left = ", ".join(f"{place} {len(survivors(codes[place], last))} of 5" for place in codes)
    print(f"{title:<16}{tokens:>8,} tokens   {lines:>5,} lines   codes: {left}")

# %% check id="middle-or-tail" task="cost" points=1 name="the codes that survive are counted" because="step 2" kind="output" hidden=true hint="run the cell under 'Middle at 4,000, or tail at 16,000?' with your survivors and your loop"
counted = []
for name in ("chapter", "tail at 16,000"):
    last = replayed(SESSIONS["big"], agent_step, TOOLS, rules, name)[-1][-1]
    counted.append([len(survivors([each[place]["code"] for each in planted], last)) for place in ("head", "middle", "end")])
show(counted)

# %% [markdown]
# The same, turn by turn:

# %% given id="middle-tail-plot"
frame = pd.DataFrame({title: tokens_per_turn(turns) for title, turns in big.items()})
frame.index += 1
plot_turns(frame, "big: prompt tokens per user turn")

# %% [markdown]
# Three times the tokens, three times the lines, and not one of the five ends, which is just what the user asked for. nanobot
# bets that with its tools the head says most, and that the model can ask again for lines that it misses. Had the questions been
# about the middle, the tail cut would have won. It depends on what the tools return and what is asked of them.
#
# ## Step 3: pick a decision and measure it
#
# Here is the code of all of them, as small as it can be. First the tail cut beside the chapter's. Its note comes on top of the
# limit, as in nanobot, so 4,000 characters become a few more.

# %% given id="cuts"
side_by_side({"the chapter": source(middle, docstring=False).code, "tail cut": source(tail, docstring=False).code})

# %% [markdown]
# Next, a long result that is kept on disk. (In nanobot that needs a workspace; without one, or if it cannot write, the tail is
# cut at 16,000 characters.)

# %% given id="disk"
source(on_disk, docstring=False)

# %% [markdown]
# The way back is a tool such as `fetch`. Here a file of 28,732 characters goes to disk, and its last line comes back.

# %% given id="disk-runs"
seen = on_disk(data("observations/orders.json").read_text(encoding="utf-8"))
name = seen.partition('fetch("')[2][:12]
print(f"{len(seen):,} characters are shown; the last line of them:\n{seen.splitlines()[-1]}\n")
print(f"fetch({name!r}, 28_608, 28_729) returns:\n{fetch(name, 28_608, 28_729)}")

# %% [markdown]
# The last two forget. One puts a line in place of each old result of a chatty tool: `read_file`, `exec`, `grep`, `glob`,
# `web_search`, `web_fetch` and `list_dir`.

# %% given id="placeholders"
source(placeholders, docstring=False)

# %% [markdown]
# The other lets a summary stand for old turns, after a pause of 15 minutes or more. In nanobot a model writes it, after a pause
# only where somebody has set how long, and as the window fills up. Here a stand-in writes it, and the call for it is
# counted.

# %% given id="consolidation"
source(consolidated, docstring=False)

# %% [markdown]
# Choose one, and set `decision` to its name:
#
# | `decision` | what changes, all else being the chapter's |
# |---|---|
# | `"tail cut"` | the head alone stays, at 4,000 characters |
# | `"16,000 characters"` | both ends stay, at 16,000 characters |
# | `"on disk"` | up to 16,000 characters a result is whole; a longer one is on disk, and its first 1,200 are shown |
# | `"placeholders"` | the 10 newest results of chatty tools stay; older ones of 500 characters and more become a line |
# | `"consolidation"` | after a pause a summary stands for all but the 8 newest messages |
#
# Then write `measured(session, decision)`. It replays the session and returns two numbers: `"tokens"`, the prompt tokens of
# all its turns, and `"lines"`, how many of `session.lines` survive in the *last* request of the session. (`session.lines` are
# the different lines, of 12 characters and more, of all that its tools returned.)
#
# <details><summary>Hint</summary>
#
# `turns = replay(session, decision)`; the last request of the session is `turns[-1][-1]`. The rest is your two functions.
#
# </details>

# %% answer id="decide" task="decide"
### BEGIN SOLUTION
decision = "placeholders"
### STUB
# decision = "..."
### END SOLUTION


def measured(session, decision):
    """What a session costs under a decision, and how many lines are in sight at its end."""
    ### BEGIN SOLUTION
    turns = replay(session, decision)
    return {"tokens": sum(tokens_per_turn(turns)), "lines": len(survivors(session.lines, turns[-1][-1]))}
    ### END SOLUTION


# %% check id="chosen" task="decide" points=1 name="one of the decisions is chosen" because="step 3" hint="the names in the table above"
assert decision in TO_CHOOSE, f"expected decision to be one of {', '.join(map(repr, TO_CHOOSE))}, found {decision!r}: step 3"

# %% check id="measured" task="decide" points=1 name="the short session is measured" because="step 3" hint="measured: a dict with the keys tokens and lines"
found = measured(SESSIONS["short"], "chapter")
assert agrees(found, SESSIONS["short"], "chapter"), f"expected about 23,870 tokens and 106 lines for 'short' under 'chapter', found {found}: look at measured, step 3"

# %% [markdown]
# Now all three sessions, under the chapter's decisions and with yours.

# %% given id="numbers"
numbers = {
    name: {"chapter": measured(session, "chapter"), "mine": measured(session, decision)}
    for name, session in SESSIONS.items()
}
print(f"{'':8}{'prompt tokens':>24}{'':>9}   lines in sight at the end")
for name, session in SESSIONS.items():
    both = numbers[name]["chapter"], numbers[name]["mine"]
    (before, after), (lines, left) = ([each[what] for each in both] for what in ("tokens", "lines"))
    print(f"{name:8}{before:>10,} -> {after:>10,}  {after / before:>6.1%}", end="   ")
    print(f"{lines:>5,} -> {left:>5,} of {len(session.lines):,}")

# %% check id="numbers-right" task="decide" points=2 name="your numbers are right" because="step 3" kind="output" hidden=true hint="numbers must hold what measured returns for the three sessions, under the chapter and under your decision; run its cell again after a change"
show([decision in TO_CHOOSE, {name: [agrees(numbers[name]["chapter"], session, "chapter"), agrees(numbers[name]["mine"], session, decision)] for name, session in SESSIONS.items()}])

# %% check id="measured-unseen" task="decide" points=2 name="another session is measured as well, under any decision" because="step 3" kind="output" hidden=true seeded=true hint="measured must replay the session that it is given, under the decision that it is given; lines are looked for in the last request"
unseen = drawn(seed)
show([agrees(measured(unseen, name), unseen, name) for name in ("chapter", "placeholders", "consolidation", "on disk")])

# %% [markdown]
# And `long`, turn by turn. A bar that is half as high is a turn with one call instead of two.

# %% given id="plot"
frame = pd.DataFrame({name: tokens_per_turn(replay(SESSIONS["long"], name)) for name in ("chapter", decision)})
frame.index += 1
plot_turns(frame, "long: prompt tokens per user turn")

# %% [markdown]
# ## Step 4: say whether it is worth it
#
# The chapter asks for a paragraph. So take a sentence that could stand in one: *old results are cheap to drop, since the model
# works with its newest*. It sounds right. Is it? Here is what it says about each session.

# %% given id="book-sentence"
for name, session in SESSIONS.items():
    before, after = measured(session, "chapter"), measured(session, "placeholders")
    tokens, lines = (1 - after[what] / before[what] for what in ("tokens", "lines"))
    print(f"{name:8}{tokens:>5.0%} fewer tokens, {lines:>4.0%} of the lines out of sight")

# %% [markdown]
# In two sessions nothing is dropped at all. In the third it is cheap or dear, depending on whether anybody needs those lines
# again. A sentence without a figure fits every agent, and so says nothing about yours.
#
# Write a paragraph of 60 to 200 words: **is your decision worth adopting in an agent of your own?** The right call depends on
# what the tools do, so say what yours do.
#
# - It tells what `long` cost in tokens, under the chapter and under your decision.
# - All its figures are ones that you measured: each per cent, each number of tokens or lines, and any other number from 1,000
#   up that is no setting (such as 16,000 characters). A difference from the chapter's, or the share of it, counts as measured, and
#   so does what `measured` returns for another decision.
# - A figure that is rounded says so: *about 2.8 million*.
# - Write it as plain text between the quotes. The person who marks it gives a point each for: a yes or no that says for which
#   tools or sessions; a reason that follows from the figures; what is lost, not only what is saved; something that your
#   measurement cannot show.

# %% answer id="paragraph" task="argue"
### BEGIN SOLUTION
paragraph = """
Placeholders are worth adopting in an agent that lives long, and do nothing for one that does not. In the long session they
cut the bill from 2,832,865 to 1,543,776 prompt tokens, 45.5 % less. In the short chat and in the one with big files they change
nothing, since neither has more than ten results of chatty tools. The price is what is out of sight: of the 1,322 lines that
the tools of the long session returned, its last call shows 250 instead of 1,267. Where a tool can be called again, as with
files, that is a fair bargain; for a mailbox or a paid search I would keep the results on disk as well. And the figure
flatters: an old message changes at nearly every call, so a provider's prompt cache is lost, and cached tokens are cheaper. Nor
can a frozen replay tell how often a model would have to read a file again.
"""
### STUB
# paragraph = """
#
# """
### END SOLUTION

# %% check id="length" task="argue" points=1 name="the paragraph has 60 to 200 words" because="step 4" hint="the text in paragraph"
assert 60 <= words(paragraph) <= 200, f"expected a paragraph of 60 to 200 words, found {words(paragraph)}: step 4"

# %% check id="told" task="argue" points=1 name="it tells what the long session cost" because="step 4" hint="both figures stand in the line 'long' of the table in step 3"
lacking = figures_missing(paragraph, Cited(numbers, SESSIONS))
assert not lacking, f"{'; '.join(lacking)}: step 4"

# %% check id="figures" task="argue" points=1 name="its figures are the measured ones" because="step 4" hint="compare the figures with the table in step 3; a rounded one says so, as in 'about 91,000'"
assert words(paragraph) > 0, "expected a paragraph, found no word: step 4"
cited = Cited(numbers, SESSIONS, tuple(tokens_per_turn(replay(SESSIONS["long"], name)) for name in ("chapter", decision)), measured)
wrong = figures_wrong(paragraph, cited)
assert not wrong, f"{'; '.join(wrong)}: look at your table in step 3, and say 'about' before a rounded figure, step 4"

# %% check id="paragraph-whole" task="argue" points=1 name="length and figures hold together, for numbers that are right" because="step 4" kind="output" hidden=true hint="60 to 200 words, both totals of the long session, no figure that was not measured, and numbers as measured returns them"
right = all(agrees(numbers[name][key], session, used) for name, session in SESSIONS.items() for key, used in (("chapter", "chapter"), ("mine", decision)))
cited = Cited(numbers, SESSIONS, tuple(tokens_per_turn(replay(SESSIONS["long"], name)) for name in ("chapter", decision)), measured)
show([right, len(problems_of(paragraph, cited))])

# %% [markdown]
# ## The package's version
#
# All checks above have passed? Then compare. Right is how the package replays a session under a policy, in its
# `agentlab replay`. It reads many kinds of logs, takes any policy, and gives a range instead of a number.
#
# **One question to take with you:** the upper end of the range assumes that the agent asks again for each name that it used
# later and that the policy had taken away. For your decision, would that end be near your number, or far above it?

# %% shown id="package"
beside(measured, "agentlab.analysis.replay._Case.run")
