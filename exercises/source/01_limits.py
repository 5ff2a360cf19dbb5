# ---
# jupyter:
#   agentlab:
#     number: 1
#     title: "Per-tool limits"
#     minutes: 25
#     tasks:
#     - {id: field, title: "A limit for each tool"}
#     - {id: own, title: "The loop reads it"}
#     - {id: exact, title: "Never over the limit"}
#     - {id: why, title: "An error still says why"}
#     seams:
#     - agentlab.loop.agent_step
#     - agentlab.truncate.cut
#     - agentlab.truncate.truncate_observation
#     - agentlab.truncate.middle_snip
#     - agentlab.truncate.tail_cut
#     - agentlab.truncate.head_cut
#     - agentlab.truncate.head_tail
#     - agentlab.truncate.STRATEGIES
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Exercise 1: per-tool limits
#
# *About 25 minutes. Offline, no key. Four steps, about 12 lines of your own.*
#
# The loop of the chapter cuts every tool result to 4,000 characters. A clock needs 20 of them, a file could use more.
# So give each tool its own limit: a field of the tool, which the loop reads.
#
# That sounds like one line, and it nearly is. But small limits find out something about the cut that 4,000 never did.
# By the end your loop holds every limit exactly, and still tells the model why a call went wrong.
#
# Run the cells from the top. Where it is your turn, the text says **Step**; the cell below a step checks it. More checks
# run when your notebook is graded. To see where you stand, write `%load_ext agentlab` and below it `%check` into a new
# cell: that runs all the checks that you can see.

# %% setup id="setup"
from collections.abc import Callable
from dataclasses import dataclass

from agentlab.builtin_tools import lorem, make_now, wordcount
from agentlab.grading.building.beside import beside
from agentlab.grading.building.pictures import plot_turns, survivors, turn_tokens
from agentlab.grading.building.probe import as_message, data, observations, only
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.tools import tool as described

SYSTEM = "Answer from what your tools show you."


# %% [markdown]
# ## The loop, before this exercise
#
# This is the chapter's loop: the model is called, its tools run, each result is cut and appended. In every step you will
# edit this cell and run it again. You may also put the `agent_step` here that you typed from the book, as long as it takes
# the same five arguments and looks its tools up in `TOOLS`.

# %% answer id="loop" task="own"
MAX_ITERATIONS, MAX_OBSERVATION_CHARS = 10, 4000


@dataclass
class Tool:
    name: str
    description: str
    parameters: dict
    run: Callable[..., str]
    ### BEGIN SOLUTION
    max_observation_chars: int = 4000  # step 1
    ### STUB
    # # step 1: one more field
    ### END SOLUTION


def shorten(text, limit=MAX_OBSERVATION_CHARS):
    if len(text) <= limit:
        return text
    ### BEGIN SOLUTION
    note = f"\n\n[...truncated: the whole has {len(text)} characters...]\n\n"  # step 3
    room = limit - len(note)  # step 3
    if room <= 0:  # step 3
        return text[:limit]  # step 3
    front = room - room // 2  # step 3
    return text[:front] + note + text[len(text) - room // 2 :]  # step 3
    ### STUB
    # front = limit // 2
    # back = limit - front - 60  # 60 characters are for the note
    # note = f"[...truncated: {len(text) - front - back} characters omitted from the middle...]"
    # return f"{text[:front]}\n\n{note}\n\n{text[-back:]}"
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
            ### BEGIN SOLUTION
            limit = 2000  # step 4: of an error
            ### STUB
            ### END SOLUTION
            try:
                observation = box[each.name].run(**each.arguments)
                ### BEGIN SOLUTION
                limit = box[each.name].max_observation_chars  # step 2
                ### STUB
                ### END SOLUTION
            except Exception as error:
                observation = f"Error: {type(error).__name__}: {error}"
            ### BEGIN SOLUTION
            observation = shorten(observation, limit)  # step 2
            ### STUB
            # observation = shorten(observation, MAX_OBSERVATION_CHARS)  # step 2: and the tool's own limit?
            ### END SOLUTION
            messages.append({"role": "tool", "tool_call_id": each.id, "name": each.name, "content": observation})
    return "I stopped: too many iterations."


# %% [markdown]
# Four tools to try it on. `lorem` returns 50,000 characters in numbered lines, with a code planted at 2, at 50 and at
# 99 per cent of it. `read_file` returns a configuration of 5,000 lines, about 200 KB.

# %% given id="tools-given"
CODES = {"at 2 %": "code-K7QF", "at 50 %": "code-M3TX", "at 99 %": "code-W9HB"}


@described
def read_file(path: str) -> str:
    """Read a text file and return all of it."""
    return data(f"observations/{path}").read_text(encoding="utf-8")


@described(name="lorem")
def lorem_with_codes() -> str:
    """Return 50,000 characters of placeholder text in numbered lines."""
    text = lorem()
    for share, code in zip((0.02, 0.5, 0.99), CODES.values()):
        at = int(share * len(text))
        text = text[:at] + code + text[at + len(code) :]
    return text


def tool_of(given, *limit):
    return Tool(given.name, given.description, given.parameters, given.run, *limit)


clock = make_now(lambda: 1_778_686_822)
{given.name: len(given.run(**asked)) for given, asked in [
    (wordcount, {"text": "to be or not to be"}), (clock, {}), (lorem_with_codes, {}), (read_file, {"path": "services.yaml"}),
]}

# %% [markdown]
# ## Step 1: a limit for each tool
#
# Give `Tool`, in the cell of the loop, a field `max_observation_chars`: a whole number, 4000 where nobody says
# otherwise. Run that cell again. Then set the limits in the cell below: 50 for `wordcount`, 100 for the clock `now`,
# 8,000 for `lorem`. `read_file` keeps the default.
#
# <details><summary>Hint</summary>
#
# A field of a dataclass with a default is a line such as `size: int = 3`. It stands last, since fields without a
# default come first. `tool_of(wordcount, 50)` hands the 50 on to it.
#
# </details>

# %% answer id="tools" task="field"
### BEGIN SOLUTION
TOOLS = [tool_of(wordcount, 50), tool_of(clock, 100), tool_of(lorem_with_codes, 8_000), tool_of(read_file)]
### STUB
# TOOLS = [tool_of(wordcount), tool_of(clock), tool_of(lorem_with_codes), tool_of(read_file)]
### END SOLUTION

# %% check id="field-default" task="field" points=1 name="a tool has a limit of 4000, or its own" because="step 1" hint="the class Tool, in the cell of the loop"
usual = getattr(Tool("echo", "Says it again.", {"type": "object"}, str), "max_observation_chars", "no such field")
assert usual == 4000, f"expected a Tool's max_observation_chars to be 4000, found {usual}: look at the class Tool, step 1, and run its cell again"
small = Tool("echo", "Says it again.", {"type": "object"}, str, max_observation_chars=50)
assert small.max_observation_chars == 50, f"expected 50 for a Tool that is made with 50, found {small.max_observation_chars}: look at the class Tool, step 1"

# %% check id="field-values" task="field" points=1 name="the four tools have their limits" because="step 1" kind="output" hidden=true hint="step 1 names three limits; read_file keeps the default"
show({each.name: each.max_observation_chars for each in TOOLS})

# %% [markdown]
# ## Step 2: the loop reads it
#
# A field that nobody reads changes nothing. In `agent_step`, cut each result to the limit of the tool that gave it. Read
# the limit when the tool is called, not before: whoever runs the agent may change it while it runs.
#
# <details><summary>Hint</summary>
#
# The tool is `box[each.name]`, and `shorten` takes the limit as its second argument.
#
# </details>

# %% check id="own-limit" task="own" points=1 name="a result is cut to its tool's limit" because="step 2" hint="agent_step, where the limit is chosen"
with only(TOOLS, Tool("long", "Returns 3,000 characters.", {"type": "object"}, lambda: "x" * 3_000, max_observation_chars=500)):
    found = len(observations(agent_step, call("long"))[0])
assert 250 <= found <= 600, f"expected about 500 of 3,000 characters for a tool whose limit is 500, found {found:,}: look at where agent_step chooses the limit, step 2"

# %% check id="unseen" task="own" points=2 name="a tool that you have not seen has its own limit" because="step 2" kind="output" hidden=true seeded=true hint="the limit must come from the tool that was called, whatever it is named; two tools in one turn have two limits"
import random

drawn = random.Random(seed)
first, second = drawn.randrange(300, 900), drawn.randrange(1_000, 3_000)
alpha, beta = (
    Tool(name, "Returns much.", {"type": "object"}, lambda: "y" * 20_000, max_observation_chars=limit)
    for name, limit in (("alpha", first), ("beta", second))
)
with only(TOOLS, alpha, beta, Tool("gamma", "Returns much.", {"type": "object"}, lambda: "z" * 20_000)):
    sizes = [len(text) for text in observations(agent_step, call("alpha"), call("beta"), call("gamma"), call("alpha"))]
show([bool(limit / 2 <= size <= limit + 100) for limit, size in zip((first, second, 4000, first), sizes)])

# %% check id="run-time" task="own" points=1 name="a limit that is changed holds from then on" because="step 2" kind="output" hidden=true hint="read the limit when the tool is called: not when the tool is made, and not when the notebook starts"
changing = Tool("long", "Returns much.", {"type": "object"}, lambda: "x" * 9_000, max_observation_chars=600)
sizes = []
with only(TOOLS, changing):
    for limit in (600, 2_500, 900):
        changing.max_observation_chars = limit
        sizes.append(len(observations(agent_step, call("long"))[0]) / limit)
show([bool(0.5 <= share <= 1.2) for share in sizes])

# %% [markdown]
# ### What that saves
#
# Five questions, and what the model does: a `ScriptedModel` makes the calls that it is told to make. In the last turn it
# gets the name of an argument wrong at first.

# %% given id="script"
QUESTIONS = ["How many words?", "What time is it?", "Read lorem.", "Read services.yaml.", "How many words now?"]
STEPS = [
    call("wordcount", text="to be or not to be"), "Six.", call("now"), "A quarter to four.", call("lorem"), "Read it.",
    call("read_file", path="services.yaml"), "Read it.", call("wordcount", txt="to be"), call("wordcount", text="to be"), "Two.",
]
len(QUESTIONS), len(STEPS)

# %% [markdown]
# Now the same session twice: with 4,000 characters for every tool, and with your limits.

# %% given id="session"
def session(limits):
    kept = [tool.max_observation_chars for tool in TOOLS]
    for tool, limit in zip(TOOLS, limits or kept):
        tool.max_observation_chars = limit
    messages, model = [], ScriptedModel(STEPS, unique_ids=True)
    for question in QUESTIONS:
        agent_step(question, messages, model, SYSTEM)
    for tool, limit in zip(TOOLS, kept):
        tool.max_observation_chars = limit
    return messages


flat, per_tool = session([4000] * 4), session(None)
len(flat), len(per_tool)

# %% [markdown]
# As many messages in both. And this is what they cost:

# %% given id="curve"
tokens = turn_tokens({"4,000 for every tool": flat, "a limit per tool": per_tool}, system=SYSTEM, tools=TOOLS)
plot_turns(tokens, "Your session: prompt tokens per user turn")

# %% [markdown]
# Did you expect less? Turns 1 and 2 cost the same: both results are small anyway. From turn 3 on *more* is sent, since
# `lorem` may now show 8,000 characters. A limit per tool is no way to save tokens as such. It is a way to spend them where
# they are wanted, and to be sure that no small tool ever takes more than it should.

# %% [markdown]
# ## Step 3: never over the limit
#
# `wordcount` returns a number, so 50 characters are plenty, and no result of it is ever cut. What meets such a limit is
# something else: an *error*, as in turn 5, where the model got the name of an argument wrong. The cell below is the cut
# that the book types, which is the one in your loop. Nothing in it is yours.

# %% given id="book-breaks"
def by_the_book(text, limit):
    if len(text) <= limit:
        return text
    front = limit // 2
    back = limit - front - 60
    note = f"[...truncated: {len(text) - front - back} characters omitted from the middle...]"
    return f"{text[:front]}\n\n{note}\n\n{text[-back:]}"


problem = "Error: TypeError: wordcount() got an unexpected keyword argument 'txt'"
print(f"{len(problem)} characters at a limit of 50 become {len(by_the_book(problem, 50))}:\n{by_the_book(problem, 50)}\n")
for limit in (50, 100, 120, 121, 400):
    print(f"1,000 characters at a limit of {limit:>3} become {len(by_the_book('x' * 1_000, limit)):>5,}")

# %% [markdown]
# Two things are wrong. The note with its blank lines takes 58 characters and the digits of its number, never 60. And up
# to a limit of 120, `back` is 0 or negative: `text[-0:]` is the whole text, and `text[35:]` is nearly all of it.
#
# Put `shorten` right, in the cell of the loop, so that it is never over its limit, for every limit from 0 up. A text that
# fits comes back as it is. Keep which part you like, and word the note as you like; where there is room, show at least
# half of what the limit allows.
#
# <details><summary>Hint 1</summary>
#
# What is the length of the note? Write it first and measure it. That is easy if the note's length does not depend on
# what you keep: it may name the length of the whole text instead of what is missing.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# For the end, count from the front: `text[len(text) - back :]` is right for every `back`, 0 as well. And what should
# happen when the note alone is longer than the limit?
#
# </details>

# %% check id="exact" task="exact" points=1 name="no result is longer than its limit" because="step 3" hint="the function that agent_step calls to cut a result"
over = {}
for limit in (50, 100, 120, 400):
    with only(TOOLS, Tool("long", "Returns much.", {"type": "object"}, lambda: "x" * 1_000, max_observation_chars=limit)):
        size = len(observations(agent_step, call("long"))[0])
    over |= {limit: size} if size > limit else {}
assert not over, f"expected at most as many characters as the limit says, found (limit: length) {over}: look at the cut that agent_step calls, step 3"

# %% check id="exact-all" task="exact" points=2 name="the limit holds from 0 to one more than the text" because="step 3" kind="output" hidden=true seeded=true hint="try a limit of 0, of 1, and of one less, the same and one more than the text has; a text that fits is not touched, and where there is room at least half of the limit is used"
import random

size = random.Random(seed).randrange(900, 3_000)
whole = "".join(chr(97 + place % 26) for place in range(size))
said = {}
for name, limit in {"0": 0, "1": 1, "50": 50, "100": 100, "n-1": size - 1, "n": size, "n+1": size + 1}.items():
    with only(TOOLS, Tool("long", "Returns a text.", {"type": "object"}, lambda: whole, max_observation_chars=limit)):
        text = observations(agent_step, call("long"))[0]
    said[name] = [len(text) <= limit, text == whole, len(text) >= min(limit, size) / 2 if limit > 100 else True]
show(said)

# %% [markdown]
# ## Step 4: an error still says why
#
# Now the limit holds, and there is a new problem. This is what your loop shows the model of the wrong call.

# %% given id="error-cut"
print(observations(agent_step, call("wordcount", txt="to be"))[0])

# %% [markdown]
# The word that matters is the last one, `'txt'`. A limit on what a tool *returns* was never meant for what goes wrong.
# Give errors a limit of their own in `agent_step`, whatever the tool allows; 2,000 characters are plenty. The call of a
# tool that does not exist is an error as well, and there is no tool then whose limit could be read.
#
# <details><summary>Hint</summary>
#
# Choose the limit of an error before the `try`. A call that worked replaces it by its tool's own.
#
# </details>

# %% check id="says-why" task="why" points=1 name="a wrong call at a limit of 50 still says why" because="step 4" hint="agent_step: which limit is an error cut to?"
with only(TOOLS, Tool(wordcount.name, wordcount.description, wordcount.parameters, wordcount.run, max_observation_chars=50)):
    seen = observations(agent_step, call("wordcount", txt="to be"))[0]
assert "TypeError" in seen and "'txt'" in seen, f"expected the class TypeError and the wrong name 'txt' in the observation, found {seen!r}: look at the limit of an error, step 4"

# %% check id="says-why-unseen" task="why" points=1 name="a long error at a small limit keeps its reason" because="step 4" kind="output" hidden=true seeded=true hint="errors of other tools are observations as well: the class and the last words must be there although the tool's limit is small"
import random

reason = f"error number {random.Random(seed).randrange(10_000, 99_999)}"


def refuses():
    raise ValueError("The order could not be read, since the warehouse has sent it in a form that nobody expected: " + reason)


with only(TOOLS, Tool("order", "Reads an order.", {"type": "object"}, refuses, max_observation_chars=50)):
    seen = observations(agent_step, call("order"))[0]
show(["ValueError" in seen, reason in seen])

# %% [markdown]
# ## Which part should stay?
#
# Your limits hold. What they keep is another question, and you chose it in step 3. Here are the three codes that are
# planted in `lorem`, under the two classic cuts at 8,000 characters: `middle_snip` keeps both ends, `tail_cut` keeps the
# head.

# %% given id="survive"
survivors(lorem_with_codes.run(), CODES, 8_000)

# %% [markdown]
# Nobody keeps the middle. `middle_snip` has the code near the end as well, and pays for it with half of the head. Whether
# that is a good bargain depends on what a tool returns, which is one more reason why a limit belongs to the tool. And
# yours?

# %% given id="mine-survive"
mine = observations(agent_step, call("lorem"))[0]
{place: "kept" if code in mine else "lost" for place, code in CODES.items()}

# %% [markdown]
# ## The package's version
#
# All checks above have passed? Then compare. Left is your loop, right is how the package chooses a limit.
#
# **One question to take with you:** your loop knows two cases, a result and an error. The package's function has five.
# Which of the three others would you miss first, and in which of the turns above would it have made a difference?

# %% shown id="package"
beside(agent_step, "agentlab.observe._limit")
