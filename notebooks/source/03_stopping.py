# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Stopping
#
# An agent's loop ends when the model answers. What if it does not? This notebook builds limits for the loop, breaks them,
# and then lets the package's harness run into each of its limits. You will see
#
# 1. what a loop without a limit costs, and two first limits that do not hold what they promise,
# 2. budgets of turns, tokens, dollars and time, and what is left of the work when one is used up,
# 3. how one deadline reaches a model call, a sleeping tool and an agent that works for another one,
# 4. which errors are waited out, which end a run, and how two kinds of endless loop are stopped,
#
# and at the end the log of all that, and a table that compares what the package does with a text that describes such a
# harness, statement by statement.
#
# It takes about 40 minutes, or 30 if you keep the table at the end for looking things up.
#
# The words: a **turn** of a harness is one model call with its tool calls; a **cycle** is everything between a message
# and its final reply. The **cog** is the actor who talks to the user; **agents** work for it.
#
# Everything runs offline. What the models say here is **scripted, not by an LLM**: written down in the cells, so that each
# limit is met on purpose. Limits, errors, tools and the log are real. It shows *mechanics*, and says nothing about how
# often a language model would do such things.

# %% [markdown]
# ## 1. First limits
#
# ### 1.1 No limit
#
# Here is the loop in its shortest form. It goes on until the model asks for nothing more.

# %%
from agentlab.builtin_tools import workspace_tools
from agentlab.repair import call_dict, tool_message


def run_calls(reply, history, tools):
    calls = [call_dict(each) for each in reply.tool_calls]
    history.append({"role": "assistant", "content": reply.text, "tool_calls": calls})
    box = {each.name: each for each in tools}
    for each in reply.tool_calls:
        history.append(tool_message(each.id, each.name, box[each.name].run(**each.arguments)))


DATA = "../data/observations"
FILES = workspace_tools(DATA)
[each.name for each in FILES]

# %% [markdown]
# The model for it is one that never has enough: it reads a configuration of 5,000 lines, 20 at a time. It calls something
# new each time, so each call by itself looks sensible. (`unplugged` stands for the person who pulls the plug.)

# %%
from agentlab.providers.scripted import ScriptedModel, call, say
from agentlab.tokens import count_messages

SYSTEM = "Answer from what your tools show you."
spent = []


def restless(messages):
    spent.append(count_messages(messages, system=SYSTEM).n)
    at = 10 * (len(messages) - 1) + 1
    more = call("read_file", path="services.yaml", start_line=at, end_line=at + 19)
    return "unplugged" if len(spent) > 60 else more


restless([{"role": "user", "content": "Go."}])

# %% [markdown]
# Each call sends all that came before. So twice the calls cost four times the tokens. (The schemas of the tools are left
# out of the count.)

# %% tags=["nbval-check-output"]
def first_step(question, provider, tools):
    history = [{"role": "user", "content": question}]
    while (reply := provider.call(history, system=SYSTEM, tools=tools)).tool_calls:
        run_calls(reply, history, tools)
    return reply.text


spent.clear()
print(first_step("Is there a mistake in services.yaml?", ScriptedModel(restless), FILES))
for calls in (15, 30, 60):
    print(f"{calls:>3} calls: {sum(spent[:calls]):>8,} prompt tokens in all (estimated)")

# %% [markdown]
# ### 1.2 A cap
#
# So count the calls, and raise an error when there were too many.

# %%
def second_step(question, provider, tools, max_turns=10):
    history = [{"role": "user", "content": question}]
    for _ in range(max_turns):
        reply = provider.call(history, system=SYSTEM, tools=tools)
        if not reply.tool_calls:
            return reply.text
        run_calls(reply, history, tools)
    raise RuntimeError("max_turns exhausted without final reply")


second_step("How are you?", ScriptedModel(["Fine."]), FILES)

# %% [markdown]
# It stops. Now look at what it stops with. Give it a tool and a model that note down what was given and what was seen.

# %%
from agentlab.tools import tool

given, seen = [], []


@tool
def look(place: int) -> str:
    """Look at a place."""
    given.append(place)
    return f"place {place}: nothing here"


def looking(messages):
    seen[:] = [message["content"] for message in messages if message["role"] == "tool"]
    return call("look", place=len(seen) + 1)


looking([])

# %% [markdown]
# And this is what whoever asked gets.

# %% tags=["nbval-check-output"]
try:
    print(second_step("Look around.", ScriptedModel(looking), [look]))
except RuntimeError as error:
    print(f"{type(error).__name__}: {error}")
print(f"the tool ran {len(given)} times, the model saw {len(seen)} results")

# %% [markdown]
# Three mistakes in one loop. The tenth result was paid for and read by nobody. The nine that were read are gone, since
# `history` was a local name. And whoever asked gets an error that says how it ended and nothing about what was found.
#
# ### 1.3 A deadline
#
# A cap on calls does not cap time. For time the notebook brings a clock: it stands still until somebody sleeps, so an
# hour passes at once and each run gives the same output.

# %%
class Clock:
    def __init__(self):
        self.time = 0.0

    def __call__(self):
        return self.time

    def sleep(self, seconds):
        self.time += seconds


clock = Clock()
clock.sleep(90.0)
clock()

# %% [markdown]
# The natural deadline asks for the time before each call of the model.

# %%
def third_step(question, provider, tools, seconds=90.0):
    history, end = [{"role": "user", "content": question}], clock() + seconds
    while clock() < end:
        reply = provider.call(history, system=SYSTEM, tools=tools)
        if not reply.tool_calls:
            return reply.text
        run_calls(reply, history, tools)
    raise TimeoutError("the time for this run is over")


third_step("How are you?", ScriptedModel(["Fine."]), FILES)

# %% [markdown]
# And a tool that sleeps shows what that is worth.

# %% tags=["nbval-check-output"]
@tool
def doze() -> str:
    """Sleep for an hour."""
    clock.sleep(3_600.0)
    return "rested"


began = clock()
try:
    third_step("Sleep.", ScriptedModel([call("doze"), "Done."]), [doze])
except TimeoutError as error:
    print(f"{error}, it says after {clock() - began:,.0f} s; the limit was 90 s")

# %% [markdown]
# A deadline has to reach whatever is at work when it comes, not the next line that happens to look at the clock.

# %% [markdown]
# ## 2. What may be spent
#
# ### 2.1 A harness on this clock
#
# The package's `Harness` wraps its loop with budgets, agents and a log. `ask` below sends one question to it. What the
# cog and the researcher say is a list, or a function of the messages. Everything goes on in one session, unless `folder`
# is None, and all cycles write into one log.

# %%
from itertools import count
from tempfile import TemporaryDirectory

from agentlab.budgets import Scope
from agentlab.harness.session import Harness

folder = TemporaryDirectory()
PLACE = {"folder": f"{folder.name}/session", "log": f"{folder.name}/log", "workspace": DATA}
ids = map("c{:02}".format, count(1))
TIME = {"clock": clock, "now": lambda: 1_778_686_822 + clock(), "new_id": lambda: next(ids)}


def scripted(steps):
    return steps if hasattr(steps, "call") else ScriptedModel(steps)


sorted([*PLACE, *TIME])

# %% [markdown]
# `Scope` carries the deadline. It is given the clock, and what to do instead of sleeping.

# %% tags=["nbval-check-output"]
def ask(question, cog, researcher=(), observer=(), **settings):
    names = {"cog": cog, "researcher": researcher, "observer": observer}
    models = {name: scripted(steps) for name, steps in names.items()}
    with Harness(models["cog"], providers=models, **(PLACE | TIME | settings)) as session:
        messages = session.runner.conversation.messages
        before = len(messages)
        result = session.send(question, scope=Scope(clock=clock, sleep=clock.sleep))
        how = f"{result.status} ({result.reason})"
        print(f"{result.cycle} {how}, {result.turns} of {result.allowed} turns")
        return result, messages[before:]


result, messages = ask("How many words?", [call("wordcount", text="to be or not"), "Four words."])
print(result.text)

# %% [markdown]
# Two of ten turns. A cap is no target: an answer ends the cycle, whatever is left.
#
# ### 2.2 Who may spend what
#
# The actors are data, and everything that a model reads about budgets is made from this data. Change a number here and
# prompts and skills change with it.

# %% tags=["nbval-check-output"]
from agentlab.harness.actors import ACTORS, COG

for each in ACTORS.values():
    more = f"ceiling {each.ceiling}, errors {each.errors}, {each.seconds:g} s"
    print(f"{each.name:<11}{each.turns:>3} turns, {more}")
print(COG.budget_text())

# %% [markdown]
# A budget that contradicts itself is refused where it is set. As many errors as turns, for one, would hide a provider that
# is down behind "max_turns".

# %% tags=["nbval-check-output"]
from msgspec.structs import replace

from agentlab.errors import InputError

for wrong in ({"turns": 0}, {"turns": 30}, {"turns": 3, "errors": 3, "ceiling": None}):
    try:
        replace(COG, **wrong)
    except InputError as error:
        print(error)

# %% [markdown]
# Each actor's system prompt ends with a list of the skills that it may read with `read_skill`: texts with a name, a
# description and the actors that they are for. The table of budgets in such a text is generated from the same data.

# %% tags=["nbval-check-output"]
from textwrap import shorten

from agentlab.harness.skills import SHIPPED, read_skills

skills, problems = read_skills(SHIPPED, ACTORS)
for skill in skills:
    print(f"{skill.name}: {shorten(skill.description, 60)} {skill.agents}")
table = [line for line in skills[-1].text.splitlines() if line.endswith(" s |")]
print(*table, problems, sep="\n")

# %% [markdown]
# ### 2.3 Tokens and dollars
#
# Turns say nothing about size. `Budget` counts tokens and dollars over all calls of all actors. The price is an argument;
# here it is a made-up one of $3 for a million prompt tokens.

# %% tags=["nbval-check-output"]
from agentlab.budgets import Budget


def price(usage):
    return usage.prompt_tokens * 3e-6


starts = range(1, 400, 50)
read_on = [call("read_file", path="build.log", start_line=at, end_line=at + 49) for at in starts]
for budget in (Budget(max_tokens=5_000), Budget(max_cost=0.01, price=price)):
    result, messages = ask("Read build.log.", read_on, budget=budget, folder=None)
    print(f"    {budget.tokens:,} tokens, ${budget.cost:.4f}. {messages[-2]['content']}")

# %% [markdown]
# A limit is looked at when a call is over, since nobody knows its size before: it can be passed by one call. The tools that
# this last call asks for are not run. That is `partial`, no failure: what was read is still there.

# %% [markdown]
# ## 3. The last turn
#
# ### 3.1 Two rules
#
# What should happen in a last turn? The text's own rule is `last_turn="plain"`: tools run to the end, as in `second_step`.
# The package's usual one is `"answer"`: the model is told, the tools stay in the request but are withheld
# (`tool_choice="none"`), and a call that comes all the same is not run. Let two models meet both: one that answers when it
# is told to, and one that only ever calls.

# %% tags=["nbval-check-output"]
def heeding(messages, tool_choice):
    next_look = looking(messages)
    answer = "Partial result; would need more turns to verify the rest."
    return answer if tool_choice == "none" else next_look


small = ACTORS | {"cog": replace(COG, turns=4, ceiling=4)}
four = {"actors": small, "tools": {"cog": [look]}, "folder": None}
for rule in ("plain", "answer"):
    for model in (heeding, looking):
        given.clear()
        print(f"{rule:<7} {model.__name__:<8}", end=" ")
        ask("Look around.", ScriptedModel(model), last_turn=rule, **four)
        print(f"{'':<17}the tool ran {len(given)} times, the model saw {len(seen)} results")

# %% [markdown]
# Under the plain rule nobody says that the turns run out, so both run into the cap and the fourth result is wasted. Under the
# other one, nothing is run that nobody reads, and a model that heeds the note gives an answer. The one that does not ends
# just as before, at one tool call less.
#
# ### 3.2 What the model reads
#
# The notes are messages of their own, which the loop appends. The tool's result in the last turn is no result:

# %% tags=["nbval-check-output"]
_, messages = ask("Look around.", ScriptedModel(looking), **four)
for message in messages:
    if message.get("origin") == "loop" or message.get("is_error"):
        print(f"{message['role']:<5} {message['content']}")
print(f"reply {messages[-1]['content']}")

# %% [markdown]
# In the package, the step that answers the calls of a last turn is this one. One call is let through: the one that asks for
# more turns, while the ceiling leaves room.

# %%
from agentlab import show
from agentlab.turn import Turn

show.source(Turn._run_last, docstring=False)

# %% [markdown]
# ### 3.3 A reply that was cut
#
# A turn can also bring half an answer. A reply that was cut at the output limit is not final: the model is asked to go on,
# once, and that takes a turn.

# %% tags=["nbval-check-output"]
cut_off = say("The log has 420 lines and ", stop_reason="max_tokens")
result, messages = ask("How long is build.log?", [cut_off, "one error."], folder=None)
print(result.text)

# %% [markdown]
# ## 4. More turns
#
# ### 4.1 Asked for in time
#
# The cog starts with 10 turns and may have up to 20. `request_more_turns` works even in the last turn. In the loop of
# section 1.2 it could not: `range` has counted the turns before the first one.

# %% tags=["nbval-check-output"]
EXTEND = "request_more_turns"
starts = range(1, 460, 40)
parts = [call("read_file", path="source.py", start_line=at, end_line=at + 39) for at in starts]
more = call(EXTEND, additional=4, reason="Three parts of source.py are unread, then I answer.")
result, messages = ask("Read source.py in parts.", [*parts[:9], more, *parts[9:], "Read to its end."])
for message in messages:
    if message.get("origin") == "loop" or message.get("name") == EXTEND:
        print(f"{message['role']:<5} {message['content']}")

# %% [markdown]
# ### 4.2 The true grant
#
# What is asked for and what is granted are two numbers, and the model reads the second. Here it asks for too few, for half
# turns, without a reason, for too many, and once more at the ceiling.

# %% tags=["nbval-check-output"]
wishes = [(0, "None."), (2.5, "Half."), (2, " "), (999, "All of it."), (1, "One more.")]
asking = [call(EXTEND, additional=number, reason=why) for number, why in wishes]
result, messages = ask("Ask for turns.", [*asking, "Enough."], folder=None)
for wish, message in zip(wishes, [each for each in messages if each["role"] == "tool"], strict=True):
    print(f"{wish[0]:>5}  {message['content']}")

# %% [markdown]
# The budget itself is small enough to be read whole. A grant is what `allowed` grew by, never what was asked for.

# %%
from agentlab.budgets import TurnBudget

show.source(TurnBudget.extend, docstring=False)

# %% [markdown]
# Who can ask? Only the cog has the tool. And both grants and refusals are lines of the log, with the reason.

# %% tags=["nbval-check-output"]
from agentlab.harness.reading import read_cycles
from agentlab.harness.records import BudgetExtended, BudgetRefused
from agentlab.harness.wording import in_words

print({each.name: each.extendable for each in ACTORS.values()})
views, problems = read_cycles(PLACE["log"])
for view in views:
    for record in view.records:
        if isinstance(record, BudgetExtended | BudgetRefused):
            print(f"{view.id} turn {record.turn}: {shorten(in_words(record), 92)}")

# %% [markdown]
# ## 5. The watchdog
#
# ### 5.1 A model call that hangs
#
# A cycle of the cog has 300 seconds. This model takes 1,000, or would: the scope that it waits in ends first.

# %% tags=["nbval-check-output"]
from agentlab.harness.records import WatchdogFire


def hang(messages, scope):
    scope.wait(1_000.0)


def lines_of(kind, cycle):
    for view in read_cycles(PLACE["log"])[0]:
        for record in view.of(kind) if cycle in (view.id, view.parent) else ():
            print(f"{view.id} {view.actor}: {in_words(record)}")


began = clock()
result, messages = ask("Think about build.log.", [hang])
print(f"after {clock() - began:g} s: {result.text}")
lines_of(WatchdogFire, result.cycle)

# %% [markdown]
# The user reads a sentence, the caller a status, and nothing is raised. The session goes on: the next cycle has a deadline
# of its own.
#
# ### 5.2 A tool that sleeps
#
# A tool that takes a `scope` can be stopped. One that does not cannot: Python has no way to end a thread. So it is given
# up, and the log names it.

# %%
from threading import Event

wake, back = Event(), Event()


@tool
def slumber() -> str:
    """Sleep until somebody wakes it."""
    clock.sleep(0.2)
    wake.wait(20.0)
    back.set()
    return "rested"


print("can be stopped:", slumber.takes_scope)

# %% [markdown]
# The model that calls it has used 299.9 seconds by then.

# %% tags=["nbval-check-output"]
def just_in_time(messages, scope):
    scope.wait(299.9)
    return call("slumber")


result, messages = ask("Sleep a little.", [just_in_time], tools={"cog": [slumber]})
lines_of(WatchdogFire, result.cycle)

# %% [markdown]
# Its call has an answer in the conversation, so that the next request is valid. Now wake the sleeper: it does come back,
# in a later cycle, and what it brings is dropped.

# %% tags=["nbval-check-output"]
def waking(messages):
    wake.set()
    back.wait(20.0)
    return "Good morning."


print(messages[-2]["content"])
_, messages = ask("Are you there?", ScriptedModel(waking))
print("the tool came back:", back.is_set())
print([message["content"] for message in messages])

# %% [markdown]
# ### 5.3 An agent
#
# The researcher has 90 seconds, or what its caller has left, whichever is less. Let it hang twice: once when the cog has
# spent no time, once when it has spent 250 of its 300 seconds.

# %% tags=["nbval-check-output"]
def slow_cog(messages, scope):
    scope.wait(250.0)
    return call("agent_researcher", instruction="Find the error in build.log.")


quick_cog = [call("agent_researcher", instruction="Find the error."), "It took too long."]
for cog in (quick_cog, [slow_cog]):
    began = clock()
    result, messages = ask("Where is the error?", cog, [hang])
    print(f"after {clock() - began:g} s: {result.text}")
    print("its call got:", shorten(messages[2]["content"], 70))
    lines_of(WatchdogFire, result.cycle)

# %% [markdown]
# The first time only the agent ends; the cog reads an error and goes on. The second time one deadline ends both, and each
# says what it was doing: the researcher waited for its model, the cog for the researcher. The rule is one line: a scope
# ends with its parent, or earlier.

# %%
show.source(Scope.child)

# %% [markdown]
# ### 5.4 Not an error
#
# A user who stops a run is no fault of anybody, and is not counted as one.

# %% tags=["nbval-check-output"]
def stop_button(messages, scope):
    scope.cancel("the stop button")
    scope.check()


result, messages = ask("Look at everything.", [stop_button], folder=None)
print(result.text)

# %% [markdown]
# ## 6. Errors
#
# ### 6.1 Two that pass
#
# Providers fail now and then: overloaded, rate limited, a broken line. `Retry` stands between harness and provider and
# waits with growing pauses. Its waits go through the scope, so they take no real time here and never pass a deadline.

# %% tags=["nbval-check-output"]
from agentlab.errors import ProviderError, TransportError
from agentlab.harness.records import LlmResponse, LlmRetry
from agentlab.providers.retry import Retry


def steady(*steps, attempts=3):
    return Retry(ScriptedModel(steps), attempts=attempts, jitter=lambda: 1.0)


busy = ProviderError("overloaded", status=529), ProviderError("slow down", status=429, retry_after=7.0)
result, messages = ask("Is build.log complete?", steady(*busy, "It ends with an exit code."))
lines_of(LlmRetry, result.cycle)

# %% [markdown]
# The second wait is longer than it would be by itself, since the provider asked for 7 seconds. Not every failure is worth
# a wait. A refused key stays refused, and a wrong request stays wrong, even if its text has the word "timeout" in it: what
# may pass is told by type and status.

# %% tags=["nbval-check-output"]
refused = ProviderError("the key was not accepted", status=401)
wrong = ProviderError("unknown field 'timeout'", status=400)
hour = ProviderError("slow down", status=429, retry_after=3_600.0)
for error in (refused, wrong, hour):
    result, messages = ask("Hello?", steady(error, "Never said."), folder=None)
    print(*[result.result.error, *getattr(result.result.error, "__notes__", [])], sep="\n    ")

# %% [markdown]
# Nor is anything tried again once a part of the reply was shown: the reader would see its beginning twice.

# %% tags=["nbval-check-output"]
heard = []
broken = steady(TransportError("the line broke", text="The log says "), "Never said.")
with Harness(broken, **(PLACE | TIME | {"folder": None})) as session:
    result = session.send("What does the log say?", heard.append)
print(result.reason, heard, result.result.error.__notes__)

# %% [markdown]
# ### 6.2 Three in a row
#
# What reaches the harness is what was left after the retries. The cog's cycle ends with the first such error: a person sits
# there and can ask again. An agent is alone, so it is asked again, until three calls in a row have failed. Two do not end
# it, and a good reply sets the count back. A failed call is no turn, and failed *tools* are not counted at all. (With
# `attempts=1` nothing is retried here, so that each failure reaches the count.)

# %% tags=["nbval-check-output"]
def down(number):
    return TransportError(f"no answer from the provider (failure {number})")


nothing = [call("read_file", path=f"part{number}.txt") for number in (1, 2, 2, 3)]
patient = steady(down(1), down(2), *nothing, down(3), down(4), "There are no parts.", attempts=1)
steps = [call("agent_researcher", instruction="Which parts are there?"), "None."]
result, messages = ask("Which parts are there?", steps, patient)
agent = read_cycles(PLACE["log"])[0][-1]
failed = [each for each in agent.of(LlmResponse) if each.is_error]
print(*[f"turn {each.turn}: {in_words(each)}" for each in failed], sep="\n")
print(f"{agent.actor}: {agent.status}, {agent.turns} turns, failed tools: {agent.end.tool_errors}")

# %% [markdown]
# Now a provider that is really down. Each of the three failures is three attempts, with waits between them, so by then
# nine calls have failed: it is not something that passes.

# %% tags=["nbval-check-output"]
dead = ScriptedModel([down(number) for number in range(1, 20)])
delegating = call("agent_researcher", instruction="Find the error in build.log.")
steps = [delegating, call("read_skill", name="harness-turns"), "I got no answers."]
result, messages = ask("Where is the error?", steps, Retry(dead, jitter=lambda: 1.0))
failed = read_cycles(PLACE["log"])[0][-1]
print(*[in_words(each) for each in failed.of(LlmResponse | LlmRetry)], sep="\n")
print(f"calls made: {dead.calls}\n{messages[2]['content']}")

# %% [markdown]
# The cog reads the last cause and what is likely behind it. The skill, which it reads next, says the same of such an end:

# %% tags=["nbval-check-output"]
rows = messages[4]["content"].splitlines()
print(*[row for row in rows if "in a row |" in row and "still failed" in row], sep="\n")

# %% [markdown]
# ## 7. Loops that do not end
#
# ### 7.1 The same again
#
# Not every endless loop needs the cap. Where the same call with the same arguments gives the same result, the model is
# told at the third time, and the fifth ends the cycle. A model that heeds that goes on.

# %% tags=["nbval-check-output"]
same = call("read_file", path="build.log", start_line=1, end_line=3)
result, messages = ask("Wait for the build.", [same] * 9)
notes = [message["content"] for message in messages if message.get("origin") == "loop"]
print(*notes, result.text, sep="\n")
ask("Wait for the build.", [same, same, same, "It does not change."], folder=None)
_ = ask("What is going on?", [call("activity", last=1)] * 8 + ["Little."], folder=None)

# %% [markdown]
# The last cycle called one tool eight times and was not stopped: `activity` is a *polling* tool, which may repeat itself.
# Besides, it tells a model in which turn it is:

# %% tags=["nbval-check-output"]
look_twice = [call("activity", last=1), call("activity", last=1), "The third."]
_, messages = ask("Which turn is it?", look_twice, folder=None)
print(*[message["content"] for message in messages if message["role"] == "tool"], sep="\n")

# %% [markdown]
# ### 7.2 Always something new
#
# The restless model of section 1.1 repeats nothing. Only the cap ends it, and the results stay in the session.

# %% tags=["nbval-check-output"]
def pages(messages):
    at = 20 * sum(message["role"] == "tool" for message in messages) + 1
    return call("read_file", path="services.yaml", start_line=at, end_line=at + 19)


result, messages = ask("Is there a mistake in services.yaml?", ScriptedModel(pages))
found = [message for message in messages if message["role"] == "tool" and not message.get("is_error")]
print(f"{len(found)} results of {sum(len(each['content']) for each in found):,} characters are kept")
print(result.text)

# %% [markdown]
# ## 8. An agent that gets lost
#
# ### 8.1 Too wide a brief
#
# The researcher starts with fresh messages: it knows only its instruction and context. It is told to read everything, does
# so in order, and is out of turns. What the cog reads is no bare error. It says what was spent, what the agent had written,
# and what to do now: here, give a narrower brief. (The call that counts as failed is the one of the last turn, which was
# not run.)

# %% tags=["nbval-check-output"]
def repeat_it(messages):
    return messages[-1]["content"]


wide = call("agent_researcher", instruction="Read everything and report what is wrong.")
brief = {"instruction": "Which line reports an error?", "context": "File build.log; use grep."}
narrow = call("agent_researcher", **brief)
reading = [say("I list the files, then read build.log.", call("list_dir", path=".")), *read_on[:7]]
report = [call("grep", pattern=" error: ", path="build.log"), repeat_it]
cog = [say("Plan: one agent reads, then I report.", wide), narrow, repeat_it]
delegated, messages = ask("Why does the build fail?", cog, [*reading, *report])
print(messages[2]["content"])

# %% [markdown]
# The second brief names one file, one question and the tool for it. Two turns were enough, and the answer of the cycle is
# what the agent found.

# %% tags=["nbval-check-output"]
print(messages[3]["tool_calls"][0]["function"]["arguments"])
print(delegated.text)

# %% [markdown]
# ### 8.2 One level deep
#
# An agent has no tool to call agents with, and no way to ask for turns. Handed the cog's tool all the same, it is refused.

# %% tags=["nbval-check-output"]
with Harness(ScriptedModel([]), **(PLACE | TIME | {"folder": None})) as session:
    cogs = {each.name: each for each in session.runner.tools}
print("the cog has:", ", ".join(sorted(cogs)))
smuggled = {"tools": {"researcher": [cogs["agent_observer"]]}, "folder": None}
steps = [call("agent_observer", instruction="Watch."), repeat_it]
_, messages = ask("Go.", [call("agent_researcher", instruction="Go."), "Ok."], steps, **smuggled)
print(messages[2]["content"])

# %% [markdown]
# ## 9. The log of all that
#
# ### 9.1 A tree
#
# Each cycle wrote its lines as it went. As a tree, the two briefs look like this; `agentlab log FOLDER --cycle ID` prints
# the same. (The seconds of single calls are the computer's, not those of our clock.)

# %%
from agentlab.harness.reading import find_cycle, frame, read_log
from agentlab.harness.tree import tree

views, problems = read_cycles(PLACE["log"])
print(*tree(find_cycle(views, delegated.cycle), views), sep="\n")

# %% [markdown]
# The watchdog's second case of section 5.3, with the agent's cycle inside of the cog's:

# %%
timed_out = [view for view in views if view.parent and view.reason == "deadline"][-1].parent
print(*tree(find_cycle(views, timed_out), views), sep="\n")

# %% [markdown]
# ### 9.2 A frame
#
# The same lines as a data frame: a row each, with types that stay the same whatever the log holds. What a line does not
# have is missing, not zero.

# %%
lines, problems = read_log(PLACE["log"])
events = frame(lines)
print(f"{len(events)} lines, {len(problems)} problems")
columns = ["cycle", "seq", "actor", "turn", "type", "name", "is_error", "prompt_tokens", "reason"]
events.loc[events["cycle"] == delegated.cycle, columns].tail(9)

# %% [markdown]
# Which lines are there, and how many of each? Every cycle that began has its end.

# %% tags=["nbval-check-output"]
for kind, number in events["type"].value_counts().sort_index().items():
    print(f"{number:>5}  {kind}")

# %% [markdown]
# A process that is killed writes no end. Nobody writes "abandoned" either: it is what a reader calls a cycle without a
# last line. Cut the log short, in the middle of a line, and read it again.

# %% tags=["nbval-check-output"]
from pathlib import Path

(file,) = Path(PLACE["log"]).iterdir()
torn = Path(folder.name, "torn.jsonl")
torn.write_bytes(file.read_bytes()[:-80])
cycles_of_torn, problems = read_cycles(torn)
cut_short = find_cycle(cycles_of_torn, "last")
print(f"{cut_short.id}: {cut_short.status}, {cut_short.reason}")
print(*[problem.reason for problem in problems], sep="\n")

# %% [markdown]
# ### 9.3 Many cycles at a glance
#
# How did they end, how often were more turns asked for and why, and which failed calls were made again unchanged? Too many
# extensions are a sign of a workflow that is built wrong, and here they can be counted.

# %% tags=["nbval-check-output"]
from agentlab.harness.summary import summarise

glance = summarise(views)
for how, number in glance.endings.items():
    print(f"{number:>5}  {how}")
print(f"extended: {glance.extended} of {glance.extendable} cogs; refused: {glance.refusals}")
print("reasons:", *glance.extension_reasons, sep="\n    ")
print(f"ended by the watchdog: {glance.watchdogs}; failed calls made again: {glance.repeats}")

# %% [markdown]
# ### 9.4 The observer
#
# The observer is an agent that reads this log. Its words are scripted like all others here, but it says only what its tool
# gave: the log's own account.

# %%
def observed(messages):
    said = [each["content"] for each in messages if each["role"] == "tool"]
    return "By the log:\n" + "\n".join(said)


it = delegated.cycle
looks = [call("read_cycle", cycle=it), call("read_cycle", cycle=it, view="tokens")]
why = call("agent_observer", instruction=f"Why did cycle {it} end, and where did its tokens go?")
result, _ = ask("What went on?", [why, repeat_it], observer=[looks, observed])
print(result.text)

# %% [markdown]
# ### 9.5 Turns against budget
#
# Every cycle of this notebook in one picture: turns used, turns allowed, and how it ended. Where a bar is shorter than its
# mark and the ending is not *reply*, something other than turns was the limit.

# %%
import matplotlib.pyplot as plt

views = read_cycles(PLACE["log"])[0]
colours = {"complete": "#009E73", "partial": "#E69F00", "failed": "#D55E00", "cancelled": "#A6A6A6"}
_, ax = plt.subplots(figsize=(8, 0.19 * len(views) + 1.0))
for status, colour in colours.items():
    at = [number for number, view in enumerate(views) if view.status == status]
    ax.barh(at, [views[number].turns for number in at], color=colour, label=status)
ax.plot([view.allowed for view in views], range(len(views)), "k|", label="allowed")
names = [f"{view.id} {view.actor}: {view.reason}" for view in views]
ax.set_yticks(range(len(views)), names, fontsize=7)
ax.set(xlabel="turns", xticks=range(0, 21, 2), ylim=(len(views) - 0.4, -0.6))
_ = ax.legend(loc="lower right")

# %% [markdown]
# ### 9.6 The curve of the session
#
# Most of these cycles went on in one session, so the cog's context grew through all of them. What did they cost?

# %%
from agentlab import plots
from agentlab.analysis import curve, load

(recorded,), problems = load(PLACE["folder"])
turns = curve(recorded)
plots.plot_curve(turns)

# %% [markdown]
# Tokens follow turns: the cycle that ran into its cap (user turn 12) carried the whole context ten times. Turn 3 has no
# bar, since its only call never came back. The curve counts with a tokenizer, which for a scripted model is its own by
# definition; the log's counts are estimated while the loop runs, and differ. The agents' calls are not in this curve, nor
# are the cycles that were tried beside the session. They are in the log:

# %%
replies = frame(read_log(PLACE["log"])[0]).query("type == 'llm_response' and not is_error")
replies.groupby("actor")[["prompt_tokens", "output_tokens"]].agg(["count", "sum"])

# %% [markdown]
# The session was written into a temporary folder, which goes now.

# %%
folder.cleanup()
Path(folder.name).exists()

# %% [markdown]
# ## 10. Statement by statement
#
# A text for such a harness describes its turns and cycle budgets as a skill: what the numbers are, what each ending means,
# and what to do. Here is each of its statements, in our words, with what agentlab does. *Same* means that it does the same.
# *Differs* says why. *Advice* is addressed to a model: agentlab hands it on, and whether a model heeds it, or is better off
# for it, cannot be told from scripted models. The last column is the section above that shows it.
#
# **The form of the text**
#
# | statement | what agentlab does | verdict | test | cell |
# |---|---|---|---|---|
# | It is a skill with name, description and a list of actors (cognitive, researcher, observer) | Skills are folders with such front matter; `harness-turns` is shipped for all three. Front matter that is wrong is reported by file and line | same, in other words: it describes this harness | `tests/test_harness_actors.py::test_every_actor_sees_both_skills_and_reads_them_whole`, `tests/test_harness_actors.py::test_bad_front_matter_is_reported_by_file_and_line` | 2.2 |
# | It is to be read when planning a long task or after an unexpected end | The description says so, and stands in each system prompt; `read_skill` gives the text | same | `tests/test_harness_actors.py::test_a_skill_is_seen_by_the_actors_that_it_names` | 2.2, 6.2 |
# | It points to a second skill on errors | `harness-errors` is shipped too | same | `tests/test_harness_actors.py::test_every_actor_sees_both_skills_and_reads_them_whole` | 2.2 |
# | Its numbers are the defaults of another program, but for what a file of that program says | The numbers are data in `actors.py`; tables in skills and prompts are made from them | differs: no program stands behind agentlab's numbers but itself | `tests/test_harness_actors.py::test_the_shipped_skills_state_the_numbers_of_the_actors`, `tests/test_harness_actors.py::test_other_actors_give_the_skills_other_numbers` | 2.2 |
#
# **Turns**
#
# | statement | what agentlab does | verdict | test | cell |
# |---|---|---|---|---|
# | A turn is one model call, its tool calls if there are any, and back | The same; the loop calls it an iteration | same | `tests/test_harness.py::test_an_agent_works_with_fresh_messages_and_its_own_budgets` | 2.1 |
# | The cog and every agent run a loop with a maximum of turns | One loop for all, each with a `TurnBudget` | same | `tests/test_harness.py::test_the_cog_ends_after_its_turns_and_its_work_is_kept` | 7.2, 8.1 |
# | Cog: 10 turns, never more than 20 | 10, ceiling 20 | same | `tests/test_harness_actors.py::test_the_actors_have_the_numbers_of_the_source` | 2.2 |
# | Cog: no limit of consecutive errors, since errors are handled tool by tool | Tool errors are observations. A *model* error that survives its retries ends the cycle | same, and says what the text leaves open: a person is there to ask again | `tests/test_harness.py::test_a_model_error_that_survives_retry_ends_the_cogs_cycle` | 6.1 |
# | Cog: a deadline for each cycle | 300 s | differs: the text has no number; this one is ours | `tests/test_harness_actors.py::test_the_actors_have_the_numbers_of_the_source` | 2.2, 5.1 |
# | Researcher: 8 turns, 3 errors, 90 s | 8, 3, 90 s | same | `tests/test_harness_actors.py::test_the_actors_have_the_numbers_of_the_source` | 2.2 |
# | Observer: 6 turns, 3 errors, 90 s | 6, 3, 90 s | same | `tests/test_harness_actors.py::test_the_actors_have_the_numbers_of_the_source` | 2.2 |
# | (not in the text) Budgets can be set | A budget that contradicts itself is refused where it is set: turns below 1, ceiling below turns, as many errors as turns | differs: an addition, so that "max_turns" cannot hide a provider that is down | `tests/test_harness_actors.py::test_a_budget_that_contradicts_itself_is_refused_where_it_is_set`, `tests/test_harness_actors.py::test_pitfall_38_as_many_errors_as_turns_are_refused_and_a_failed_call_is_no_turn` | 2.2 |
# | (not in the text) Tokens and dollars | `Budget`, shared by all actors; ends as partial | differs: an addition, since turns say nothing about size | `tests/test_harness.py::test_agents_spend_from_the_same_money`, `tests/test_loop.py::test_a_cost_limit_ends_the_turn_and_answers_its_calls` | 2.3 |
#
# **Turns that are used up**
#
# | statement | what agentlab does | verdict | test | cell |
# |---|---|---|---|---|
# | They are used up when every turn ended in another tool call | The same; a reply that is blank or was cut is no final one either | same | `tests/test_harness.py::test_the_cog_ends_after_its_turns_and_its_work_is_kept`, `tests/test_harness.py::test_a_blank_reply_on_the_last_turn_is_max_turns`, `tests/test_loop.py::test_pitfall_22_a_text_cut_at_the_output_limit_is_continued_once` | 3.1, 3.3, 7.2 |
# | Tools run in the last turn as in any other (it follows from the text) | `last_turn="plain"` does that. Without it, the model is told, `tool_choice` is "none", and calls are not run | differs by default: nobody reads what a last call gives. The plain rule can be chosen | `tests/test_harness.py::test_the_plain_rule_runs_the_tools_of_the_last_turn`, `tests/test_harness.py::test_pitfall_42_the_last_turn_keeps_the_tools_and_runs_none` | 3.1, 3.2 |
# | The agent returns the error "max_turns exhausted without final reply" | The caller's observation begins so, and goes on with turns, tools, the agent's text so far and what to do | same, and more: the work is not lost | `tests/test_harness.py::test_pitfall_43_an_exhausted_agent_is_an_informational_error_with_what_it_had` | 8.1 |
# | (not in the text) The cog's own turns are used up | Status `partial`, reason `max_turns`, a sentence; all results stay in the session | differs: a partial result is no failure | `tests/test_harness.py::test_pitfall_43_exhausted_turns_lose_nothing` | 7.2 |
# | An agent should not go deeper, but give a partial answer with a note of what more turns would verify | The note stands in the agents' system prompts and in the skill | advice | `tests/test_harness.py::test_the_system_prompt_states_the_budget_and_the_skills` | 3.1 |
# | For the cog the agent's error is information: tell the user, or give a narrower brief | The observation says that, in these words | same | `tests/test_harness.py::test_pitfall_43_an_exhausted_agent_is_an_informational_error_with_what_it_had`, `tests/test_harness.py::test_an_exhausted_agent_without_text_hands_over_what_it_saw_last` | 8.1 |
#
# **Errors in a row**
#
# | statement | what agentlab does | verdict | test | cell |
# |---|---|---|---|---|
# | Three failed model calls in a row (transport, decoding and the like) end the loop with a hard error | The same for agents; any good reply sets the count back; the last cause is reported | same | `tests/test_harness_actors.py::test_the_third_error_in_a_row_ends_it_with_the_last_cause`, `tests/test_harness_actors.py::test_two_errors_in_a_row_are_absorbed_and_a_good_reply_resets_the_count` | 6.2 |
# | That protects the budget from a provider that is stuck | Three times three attempts, nine calls, and it is over; a failed call is no turn | same | `tests/test_harness.py::test_three_failed_model_calls_end_an_agent_with_the_cause_and_tool_errors_do_not` | 6.2 |
# | Likely causes are a provider that is down, a key that was revoked, a broken network | The caller's observation and the skill name the three | same | `tests/test_harness.py::test_three_failed_model_calls_end_an_agent_with_the_cause_and_tool_errors_do_not` | 6.2 |
# | A revoked key is among what the third error reveals | A refused key, as any error that repetition does not change, ends the run at the first | differs: a second attempt costs time and changes nothing | `tests/test_harness_actors.py::test_an_error_that_no_repetition_changes_ends_it_at_once`, `tests/test_providers_retry.py::test_pitfall_37_and_39_what_cannot_pass_is_raised_at_once` | 6.1 |
# | Retries have dealt with what passes before that | `Retry` around each provider: by type and status, growing waits with jitter, Retry-After, never past the deadline, never after text was shown | same | `tests/test_providers_retry.py::test_statuses_that_may_pass_are_tried_again`, `tests/test_providers_retry.py::test_pitfall_36_retry_after_is_honoured_and_spread`, `tests/test_providers_retry.py::test_pitfall_36_a_wait_that_would_pass_the_deadline_is_not_begun`, `tests/test_providers_retry.py::test_nothing_is_tried_again_after_text_was_streamed` | 6.1 |
# | (not in the text) Retries can be seen | Each is a line of the log | differs: an addition | `tests/test_harness.py::test_every_retry_is_logged_and_told_to_the_sinks` | 6.1, 6.2 |
#
# **The watchdog**
#
# | statement | what agentlab does | verdict | test | cell |
# |---|---|---|---|---|
# | It kills a cycle that runs past its deadline | One scope reaches model call, waits, tools and agents | same for whatever can be stopped | `tests/test_harness.py::test_pitfall_34_the_deadline_reaches_a_slow_stream`, `tests/test_harness.py::test_pitfall_34_a_tool_that_heeds_its_scope_is_stopped` | 5.1, 5.3 |
# | (it follows) Nothing of the cycle runs on | A tool that takes no scope runs on in its thread. It is given up and named, and what it brings is dropped | differs: Python cannot end a thread | `tests/test_harness.py::test_pitfall_34_a_tool_that_cannot_be_stopped_is_named_and_its_late_result_is_dropped` | 5.2 |
# | It bounds the time that the operator waits | The deadline, and up to a quarter of a second for work to end | same, but for that | `tests/test_harness.py::test_pitfall_34_the_callers_deadline_reaches_an_agent_and_its_work` | 5.1, 5.2 |
# | Agents have 90 s | 90 s or what the caller has left, whichever is less | differs in a cycle that is nearly over: an agent must not outlive it | `tests/test_harness.py::test_an_agent_has_the_smaller_of_its_own_time_and_what_its_caller_has_left` | 5.3 |
# | Who runs in the loop does not see it fire; a `watchdog_fire` event is logged | The cycle ends without another model call; the line says what was running. The sentence on the end stays in the session, so the next cycle can see it | same, and the next cycle knows | `tests/test_harness.py::test_pitfall_35_time_that_is_over_for_one_cycle_is_not_for_the_next` | 5.1, 9.1 |
# | For the operator the cycle returns an error | Status `failed`, reason `deadline`, and a sentence; nothing is raised | same, as a result | `tests/test_harness.py::test_pitfall_34_the_deadline_reaches_a_slow_stream` | 5.1 |
# | (not in the text) An agent's own deadline | The cog reads an error and goes on | differs: an addition | `tests/test_harness.py::test_an_agents_own_deadline_is_an_error_for_the_cog_who_goes_on` | 5.3 |
# | (not in the text) The user cancels | Ends at once as `cancelled`; no error, no watchdog | differs: an addition | `tests/test_harness.py::test_pitfall_39_cancelling_ends_at_once_and_is_no_error` | 5.4 |
#
# **Knowing the turn**
#
# | statement | what agentlab does | verdict | test | cell |
# |---|---|---|---|---|
# | The turn can be read in the activity stream, or from the results that have piled up | The `activity` tool shows turn and cap of each event. The cog and the observer have it | same for these two; the researcher is told by notes alone | `tests/test_harness.py::test_activity_is_the_last_events_of_the_running_cycle_and_a_callback`, `tests/test_harness.py::test_activity_shows_the_cap_of_the_moment` | 7.1 |
# | Do not count turns, work | The budget stands in the system prompt, a note comes when two turns are left, another with the last | advice; and nobody has to count | `tests/test_harness.py::test_the_model_is_told_when_two_turns_remain_and_on_the_last`, `tests/test_harness.py::test_the_system_prompt_states_the_budget_and_the_skills` | 2.2, 3.2 |
#
# **More turns**
#
# | statement | what agentlab does | verdict | test | cell |
# |---|---|---|---|---|
# | `request_more_turns(additional, reason)` adds turns to the running cycle, up to 20 | The same, also in the last turn | same | `tests/test_harness.py::test_pitfall_40_a_request_on_the_last_turn_takes_effect` | 4.1 |
# | The cog has that tool | Only the cog has it | same | `tests/test_harness.py::test_each_actor_has_its_own_tools_and_only_the_cog_can_call_agents_or_ask_for_turns`, `tests/test_harness_actors.py::test_only_the_cog_may_be_extended_and_its_prompt_says_so` | 4.2, 8.2 |
# | (not in the text) What if the request is wrong, or too large | The answer states the true grant; a number below 1, no whole number, an empty reason and a request at the ceiling are refused with the reason | differs: an addition | `tests/test_harness.py::test_pitfall_41_the_true_grant_is_stated_and_logged`, `tests/test_harness.py::test_pitfall_41_at_the_ceiling_a_request_is_refused_and_logged` | 4.2 |
# | It is for three occasions: a diagnosis across agents, a deep chain of delegations, a check before acting | The tool's description and the skill name the three | advice | `tests/test_harness_actors.py::test_every_actor_sees_both_skills_and_reads_them_whole` | 4.1 |
# | Not for routine work, which fits into 10 turns | So says the skill | advice | `tests/test_harness_actors.py::test_every_actor_sees_both_skills_and_reads_them_whole` | 2.1 |
# | Each request is in the cycle log, with its reason | `budget_extended` and `budget_refused`, with from, to, asked, granted, ceiling, reason | same, and refusals are logged as well | `tests/test_harness.py::test_pitfall_41_the_true_grant_is_stated_and_logged` | 4.2 |
# | Many requests are a sign of a wrong workflow | The summary counts cycles with extensions and their reasons | same: it can be measured | `tests/test_harness_log.py::test_the_summary_counts_turns_extensions_repeats_and_failures` | 9.3 |
#
# **Practical advice**
#
# | statement | what agentlab does | verdict | test | cell |
# |---|---|---|---|---|
# | Plan in the first turn; one that is wasted there costs three later | In the skill and the cog's system prompt | advice; the price is no measured number | `tests/test_harness_actors.py::test_every_actor_sees_both_skills_and_reads_them_whole` | 8.1 |
# | Stop when it is good enough; the best replies often come in turn 2 or 3 | In the skill, without the numbers. The log counts turns per cycle | advice; on your logs it can be measured | `tests/test_harness_log.py::test_the_summary_counts_turns_extensions_repeats_and_failures` | 2.1, 9.5 |
# | Do not repeat a failed call blindly; read the error | In both skills. The summary counts failed calls that were made again. The same call with the same result five times ends the cycle | advice, and a limit that the text does not have | `tests/test_harness.py::test_pitfall_44_a_call_that_gives_the_same_again_and_again_ends_the_cycle_polling_does_not`, `tests/test_harness_log.py::test_a_call_repeats_only_what_failed_with_the_same_arguments` | 7.1, 9.3 |
#
# **Delegation and the log, which the text takes for granted**
#
# | statement | what agentlab does | verdict | test | cell |
# |---|---|---|---|---|
# | The cog works through agents | An agent starts with fresh messages and budgets of its own, in a cycle of its own, which names its parent | same | `tests/test_harness.py::test_an_agent_works_with_fresh_messages_and_its_own_budgets`, `tests/test_harness_log.py::test_a_child_cycle_names_its_parent_and_the_turn_of_it` | 8.1, 9.1 |
# | (not in the text) Who has which tools | The cog: its own, more turns, activity, a tool per agent. The researcher: files, and pages where that is switched on. The observer: activity and log | differs: an addition | `tests/test_harness.py::test_each_actor_has_its_own_tools_and_only_the_cog_can_call_agents_or_ask_for_turns`, `tests/test_harness_pages.py::test_the_researcher_reads_pages_only_where_that_is_switched_on` | 8.2 |
# | A chain goes from the cog to an agent and its own work, and back | The same, and one level only: an agent calls no agent | same, and says what the text leaves open: another level would multiply turns and time | `tests/test_harness.py::test_depth_is_one_and_enforced` | 8.2 |
# | There is a cycle log with events | One JSON line per event; a line for every start, request, reply, retry, call, result, grant, refusal, watchdog, compaction and end; it loads as a frame | same, and complete (compaction is the one type not seen here) | `tests/test_harness_log.py::test_the_types_are_the_named_ones`, `tests/test_harness_log.py::test_every_line_says_what_all_lines_say`, `tests/test_harness_log.py::test_the_frame_has_the_declared_columns_and_types` | 9.2 |
# | (not in the text) A process that is killed | The terminal line is written before the reply is handed over; a reader calls a cycle without one abandoned | differs: an addition | `tests/test_harness_log.py::test_the_terminal_line_is_there_before_the_reply_is_handed_over`, `tests/test_harness_log.py::test_a_cycle_without_a_terminal_line_is_abandoned_and_nobody_writes_that`, `tests/test_harness_log.py::test_pitfall_45_a_torn_line_is_reported_and_the_next_append_starts_fresh` | 9.2 |
# | The observer is an actor | It reads activity and log, and says why a cycle ended, what was left, where the tokens went | same | `tests/test_harness.py::test_the_observer_answers_why_a_cycle_ended_how_many_turns_were_left_and_where_the_tokens_went` | 9.4 |
#
# ## What to do next
#
# Change one thing and run the rest again. Give `small` in section 3.1 another number of turns and see under which rule a
# turn more is worth something. Let `slumber` in section 5.2 take a `scope` and wait in it: the watchdog then says that it
# could be stopped. Give the researcher of section 8.1 another number of turns, with
# `actors=ACTORS | {"researcher": replace(ACTORS["researcher"], turns=12)}`, and see what the wide brief needs.
# `agentlab run --actor cog` runs a whole scenario, and `agentlab log FOLDER --summary` counts what happened in it. With a
# key, `agentlab run --actor cog --provider anthropic --script FILE` runs the harness with a language model: then the rows that say *advice* become questions with an answer.
