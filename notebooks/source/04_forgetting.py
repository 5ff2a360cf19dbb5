# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Forgetting
#
# A session only grows, and every call sends all of it. Cutting each result when it comes (notebook 01) makes the steps
# smaller; it does not make them end. Sooner or later something that was sent has to be sent no longer. What, when, and
# at what price? You will see
#
# 1. what four rules for old tool results send, call by call, on the same recorded session,
# 2. why the rule that sends least can cost most,
# 3. how a result that is gone can be read back, and how one is kept for good,
# 4. what a summary of old turns keeps, what it loses, and where it can stand,
# 5. that the messages themselves never change, so that nothing is lost on disk.
#
# It takes about 25 minutes. Everything runs offline. The model is a stand-in that is **rule-based, not an LLM**: it
# shows *mechanics*, such as what is sent, how large it is and whether it is byte for byte what was sent before. It
# writes its summaries by rules, too. How well a language model works after it forgot, or what it would have summarised,
# cannot be told from it; where that matters, the text says so.

# %% [markdown]
# ## 1. A session that grows
#
# Nineteen questions about the example files, answered by the stand-in with tools that read them. Nothing is forgotten.

# %%
from textwrap import fill

QUESTIONS = """List the files.|Read lines 1 to 90 of services.yaml.|Find 'code-head' in services.yaml.
Read source.py. What is it for?|Find 'code-middle' in source.py.|Read build.log. How does it end?
Read lines 200 to 230 of build.log.|Read response.http. How does it end?
Find 'code-end' in response.http.|Read orders.json. How does it end?
Compare source.py with response.http: which is longer?
Read lines 2490 to 2580 of services.yaml.|Which functions does source.py define?
Read lines 100 to 180 of source.py.|Read lines 120 to 150 of orders.json.
Read lines 4900 to 5000 of services.yaml.|Find 'error' in build.log.|Read lines 300 to 340 of build.log.
Which of the files that you read was the largest?""".replace("\n", "|").split("|")
print(len(QUESTIONS), "questions")

# %% [markdown]
# One turn for each.

# %% tags=["nbval-check-output"]
from agentlab.builtin_tools import workspace_tools
from agentlab.providers.offline import OfflineModel
from agentlab.runner import Runner

FILES = workspace_tools("../data/observations")
with Runner(OfflineModel(), tools=FILES) as first:
    results = [first.send(question) for question in QUESTIONS]
recorded = first.conversation.messages
calls = sum(result.iterations for result in results)
print(f"{calls} model calls, {len(recorded)} messages, all turns {set(r.status for r in results)}")

# %% [markdown]
# What is it that grows? Mostly what tools gave.

# %% tags=["nbval-check-output"]
size = dict.fromkeys(("tool", "assistant", "user"), 0)
for message in recorded:
    size[message["role"]] += len(message["content"])
for role, chars in size.items():
    print(f"{role:<10} {chars:>7,} characters  {chars / sum(size.values()):>4.0%}")

# %% [markdown]
# ## 2. First version: throw old results away
#
# So keep the newest four results, and put a few words in the place of the others. (On a copy, as you will see why.)

# %% tags=["nbval-check-output"]
import copy


def forget_in_place(messages, keep):
    results = [message for message in messages if message["role"] == "tool"]
    for message in results[:-keep]:
        message["content"] = f"[{message['name']} result omitted]"


def chars_of(messages):
    return sum(len(message["content"]) for message in messages)


shortened = copy.deepcopy(recorded)
forget_in_place(shortened, keep=4)
print(f"{chars_of(recorded):,} characters become {chars_of(shortened):,}: {shortened[6]['content']}")

# %% [markdown]
# More than half of it is gone, in three lines. Three things are wrong with them:
#
# - the text is **gone**: not only from the next request, but from the session, its file and every later look at it,
# - a model that reads `[read_file result omitted]` learns neither that the call succeeded nor how to get the text back,
#   so the obvious next step is to make the call again,
# - each new result changes an **old** message. A provider's cache keeps a prompt as long as it begins as the last one
#   did; here it begins otherwise at every call.

# %% [markdown]
# ## 3. A decision beside the messages
#
# The package never touches a message. A rule makes a **decision**, which is kept beside the messages, and each request
# sends the **view** that the decisions make. Here is one message as it is kept, and as it is sent.

# %% tags=["nbval-check-output"]
from agentlab.compaction.placeholder import placeholder
from agentlab.conversation import Conversation
from agentlab.events import Cleared, CompactionDecided

talk = Conversation(list(recorded))
key = first.store.put(recorded[6]["content"])
gone = Cleared(6, placeholder(recorded[6], key))
talk.decide(CompactionDecided(turn=19, iteration=1, time=0.0, policy="by hand", cleared=(gone,)))
print("kept:", talk.messages[6]["content"].splitlines()[0], "...")
print("sent:", fill(talk.view()[6]["content"], 100, subsequent_indent="      "))

# %% [markdown]
# The text that stands there says three things: the call was made, why its text is not shown, how to get it back. All
# the other messages of the view are the very same objects.

# %% tags=["nbval-check-output"]
same = [sent is kept for sent, kept in zip(talk.view(), talk.messages)]
print("the same objects:", same.count(True), "of", len(same))
print("messages as recorded:", talk.messages == recorded)

# %% [markdown]
# ## 4. Four rules, one session
#
# *When* should a result go? The package has four rules. To compare them, the same session has to run under each: the
# same calls, the same replies. So this provider gives the recorded replies again, whatever it is sent, and keeps what
# it was sent. (A real model might go on otherwise after it forgot. That is the limit of every such replay.)

# %%
from agentlab.messages import Reply, ToolCall, Usage
from agentlab.providers.offline.counting import PromptCounter

count = PromptCounter("o200k_base")


def reply_of(said, prompt):
    made = [each["function"] | {"id": each["id"]} for each in said.get("tool_calls", [])]
    asked = tuple(ToolCall(each["id"], each["name"], each["arguments"]) for each in made)
    return Reply(said["content"], asked, Usage(prompt, count.reply(said["content"], asked)))


reply_of(recorded[5], prompt=500)

# %% [markdown]
# The provider itself: anything with a `call` method is one.

# %%
class Again:
    def __init__(self, messages):
        self.replies = iter([message for message in messages if message["role"] == "assistant"])
        self.requests = []

    def call(self, messages, *, system, tools):
        self.requests.append((list(messages), system, tools))
        return reply_of(next(self.replies), count.prompt(messages, system, tools))


Again(recorded).call(recorded[:1], system="", tools=FILES).tool_calls

# %% [markdown]
# Now the rules, with numbers that suit a session as short as this one: the newest 4 results stay instead of 10, a batch
# is 4 instead of 10, the threshold 12,000 tokens instead of 100,000, and the window has room for 16,000.

# %%
from agentlab.policy import Batched, ClearAt, Compaction, OnPressure, Policy, Room, Sliding

ROOM = Room(window=18_000, reserve=1_000, margin=1_000)
RULES = {
    "nothing": None,
    "sliding": Sliding(keep=4),
    "batched": Batched(keep=4, every=4),
    "clear_at": ClearAt(threshold=12_000, keep=3),
    "on_pressure": OnPressure(target=0.6),
}
print(*(f"{name:<12} {rule}" for name, rule in RULES.items()), sep="\n")

# %% [markdown]
# Run them all. Whatever a rule did, the messages are afterwards what they were in the recording.

# %% tags=["nbval-check-output"]
def run_again(compaction, **settings):
    model = Again(recorded)
    session = Runner(model, tools=FILES, policy=Policy(compaction=compaction), **settings)
    for question in QUESTIONS:
        session.send(question)
    return session, model.requests


runs = {name: run_again(Compaction(results=rule, room=ROOM)) for name, rule in RULES.items()}
for name, (session, _) in runs.items():
    talk = session.conversation
    print(f"{name:<12} {len(talk.decisions):>2} decisions; as recorded: {talk.messages == recorded}")

# %% [markdown]
# How much of each request is byte for byte what the request before it began with? Leading messages that are equal
# count, as long as system prompt and tools are the same as well.

# %%
import pandas as pd


def requests_of(name, requests):
    rows, before = [], ((), None)
    names = ["policy", "call", "prompt_tokens", "unchanged_tokens", "measured"]
    for number, (messages, system, tools) in enumerate(requests, 1):
        pairs = list(zip(messages, before[0], strict=False))
        same = next((i for i, (now, then) in enumerate(pairs) if now != then), len(pairs))
        unchanged = count.prompt(messages[:same], system, tools) if system == before[1] else 0
        rows.append((name, number, count.prompt(messages, system, tools), unchanged, count.exact))
        before = messages, system
    return pd.DataFrame(rows, columns=names)


requests_of("nothing", runs["nothing"][1]).tail(3)

# %% [markdown]
# And this is what each rule sends. The height of a bar is a prompt. Blue is what a cache could have kept; orange is
# new, or changed, or stands behind a change, and has to be read anew.

# %%
from agentlab import plots

sent = pd.concat([requests_of(name, requests) for name, (_, requests) in runs.items()])
plots.plot_requests(sent)

# %% [markdown]
# All four send much less than the first. Look at the orange:
#
# - **sliding** sends least. But as soon as there are more results than it keeps, nearly every result that comes
#   changes an older one, and what stands behind that is read anew.
# - **batched** waits until four results are due and clears them together: three changes instead of ten.
# - **clear_at** waits for a size. What it keeps is not a number of tokens: each clearing brings the prompt down by what
#   happened to be old.
# - **on_pressure** waits until the request would no longer fit, and clears once, down to a share of the room.

# %% [markdown]
# ## 5. Fewer tokens, and the price of them
#
# What does that cost? Take a provider that reads cached input at 0.1 of the price and writes it to the cache at 1.25 of
# the price (Anthropic's prices for five minutes; others differ), and a cache that never expires and has no least size.
# Then an unchanged token costs 0.1 and every other one 1.25. Output costs the same under every rule and is left out.

# %% tags=["nbval-check-output"]
totals = sent.groupby("policy", sort=False)[["prompt_tokens", "unchanged_tokens"]].sum()
others = totals["prompt_tokens"] - totals["unchanged_tokens"]
price = 0.1 * totals["unchanged_tokens"] + 1.25 * others
tokens, cost = totals["prompt_tokens"] / totals["prompt_tokens"]["nothing"], price / price["nothing"]
for name in totals.index:
    print(f"{name:<12} {tokens[name]:>5.0%} of the tokens, {cost[name]:>5.0%} of the cost")

# %% [markdown]
# The rule that sends least is the dearest: more than forgetting nothing. Two others save a third of the tokens and
# still cost more. Only the rule that changes the prompt *once* is cheaper, on this session of 37 calls. In a longer one
# each clearing is paid back by more calls, so the order can change; that is a matter of measuring your own logs.
# Without a cache, cost and tokens are the same, and sliding wins.
#
# `BudgetLab` has such a run in sliders, with other rules, prices and lifetimes of the cache. All of its turns are alike and
# its sums are estimates, but the order can be tried. When does *clear at once* become cheaper than *keep all*? Try a cache
# that lives for no time at all, and a pause that is longer than its life.

# %%
from agentlab.widgets import BudgetLab, Setting

BudgetLab(Setting(turns=19, calls=2, result=1_500, limit=1_000, keep=4))

# %% [markdown]
# Money is not the only reason to forget. Without any rule a session meets its window and ends.

# %% [markdown]
# All four rules are one function of what waits to be cleared and of the size of the prompt.

# %%
from agentlab import show
from agentlab.compaction.micro import due

show.source(due, docstring=False)

# %% [markdown]
# And the step that makes a view of a decision: a new dict in the place of a cleared one, all else left alone.

# %%
from agentlab.view import View

show.source(View._changed)

# %% [markdown]
# ## 6. Reading back
#
# A result that is not sent is not lost. Its text is in the store, and the placeholder names it. Read it back and
# compare.

# %% tags=["nbval-check-output"]
from agentlab.observe import observe

batched = runs["batched"][0]
kit = {each.name: each for each in batched.tools}
index = min(batched.conversation.cleared)
key = batched.conversation.view()[index]["content"].split('"')[1]
back = observe(ToolCall("1", "read_result", {"id": key}), kit, store=batched.store)
print(f"message {index}, read_result({key!r})")
print("the text as it was:", back.text == recorded[index]["content"])

# %% [markdown]
# A result that was cut already when it came gives back even more: its placeholder names the *whole* text.

# %% tags=["nbval-check-output"]
for index in sorted(batched.conversation.cleared):
    then, now = (listed[index]["content"] for listed in (recorded, batched.conversation.view()))
    whole = batched.store.get(now.split('"')[1])
    sizes = f"then {len(then):>5,}  now {len(now):>4,}  in the store {len(whole):>7,}"
    print(f"message {index:>2}  {recorded[index]['name']:<10} {sizes}")

# %% [markdown]
# Let the stand-in go on with this session, and ask for something whose result is gone. It follows the placeholder. (It
# has a rule for that. Whether a language model takes the trouble, or goes on from memory, cannot be told here.)

# %%
from agentlab.providers.base import adapt

batched.provider = adapt(OfflineModel())
asked = batched.send("What did build.log end with?")
show.messages(batched.conversation.messages[-asked.iterations * 2 :], limit=110)

# %% [markdown]
# ## 7. What must stay
#
# Some results are instructions: the text of a skill, house rules. An agent that clears them forgets how to work. A tool
# with `pinned=True` is left alone by every rule. Here even the strictest one, which keeps no result at all.

# %% tags=["nbval-check-output"]
from agentlab.loop import run_turn
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.tools import tool


@tool(pinned=True)
def house_rules() -> str:
    """Read the rules of the house."""
    return "Rule 1: read before you write. " * 20


house_rules.pinned, len(house_rules())

# %% [markdown]
# The script reads the rules first, then three files. Sizes in the view, by message:

# %% tags=["nbval-check-output"]
reads = [call("read_file", path=path) for path in ("source.py", "response.http", "orders.json")]
ruled = Conversation()
everything = Policy(compaction=Compaction(results=Sliding(keep=0, min_chars=0)))
script = ScriptedModel([call("house_rules"), *reads, "Done."])
run_turn(ruled, "Work by the rules.", script, tools=[house_rules, *FILES], policy=everything)
for index, (kept, shown) in enumerate(zip(ruled.messages, ruled.view())):
    if kept["role"] == "tool":
        sizes = [len(message["content"]) for message in (kept, shown)]
        print(f"{index}  {kept['name']:<12} kept {sizes[0]:>5,}  sent {sizes[1]:>5,}")

# %% [markdown]
# Two results are sent whole: the pinned one, and the newest, which the model had to read once before anything may take
# it away.

# %% [markdown]
# ## 8. A summary for old turns
#
# Clearing results leaves questions and replies, and these grow, too. **Consolidation** lets a summary stand for the
# oldest turns. It is made by a model call of its own. The cut, called the *cursor*, is always at the beginning of a
# user turn, and the newest turns stay as they are.

# %%
from agentlab.policy import Consolidate


def consolidated(spec, summariser):
    policy = Policy(compaction=Compaction(consolidate=spec))
    made = Runner(Again([]), tools=FILES, policy=policy, summariser=summariser)
    made.conversation.messages.extend(recorded)
    made.consolidate()
    return made.conversation


old = consolidated(Consolidate(keep_turns=3), OfflineModel())
show.messages(old.view(), limit=100)

# %% [markdown]
# Row 0 stands for all that came before, and is marked as the loop's own words. How many messages is that, and what is
# there where the cursor stands?

# %% tags=["nbval-check-output"]
print("cursor:", old.cursor, "of", len(old.messages), "messages")
print("at the cursor:", old.messages[old.cursor]["content"])
print(f"sent: {chars_of(old.view()):,} of {chars_of(old.messages):,} characters")
print("messages as recorded:", old.messages == recorded)

# %% [markdown]
# The summary can also stand in the system prompt. Which is better? The view then holds nothing but real turns. But the
# system prompt is the first thing that every request sends.

# %% tags=["nbval-check-output"]
inside = consolidated(Consolidate(keep_turns=3, place="system"), OfflineModel())
print("first message:", inside.view()[0]["content"])
print("system prompt:", inside.system_view()[len(inside.system) :].strip().splitlines()[0][:80], "...")

# %% [markdown]
# Where the cut may be is decided by one small function.

# %%
from agentlab.compaction.consolidate import keep_from

show.source(keep_from, docstring=False)

# %% [markdown]
# ## 9. Is anything lost?
#
# Two questions, which are easily taken for one. First: **was everything summarised** before it was no longer sent? That
# is mechanics. Give the summariser a window far smaller than the session, and listen to what it is asked.

# %%
class Listening:
    def __init__(self, model):
        self.model, self.window, self.asked = model, model.window, []

    def call(self, messages, **settings):
        self.asked.append(messages[0]["content"])
        return self.model.call(messages, **settings)


small = Listening(OfflineModel(window=6_000))
pieces = consolidated(Consolidate(keep_turns=3), small)
print(f"{len(small.asked)} requests, the largest of {max(map(len, small.asked)):,} characters")

# %% [markdown]
# Each request holds a piece of the record, or summaries to be made one. Put the pieces together again and look for
# every message that the view no longer shows.

# %% tags=["nbval-check-output"]
record = "".join(text.partition("\n\n")[2] for text in small.asked if "this record" in text)
missing = [m for m in pieces.messages[: pieces.cursor] if m["content"] not in record]
print(f"{pieces.cursor} messages are behind the cursor, {len(missing)} of them were in no request")

# %% [markdown]
# And where there is no summary, nothing moves. These summarisers fail in three ways: they say nothing, ask for a tool,
# or are cut off. Nobody else is there to ask.

# %% tags=["nbval-check-output"]
from agentlab.compaction.auto import Consolidator
from agentlab.events import Audience
from agentlab.providers.scripted import say
from agentlab.scribe import Scribe

for answer in ("   ", call("read_file", path="a"), say("The user wan", stop_reason="max_tokens")):
    entire = Conversation(list(recorded))
    attempt = Consolidator(Consolidate(keep_turns=3), entire, [ScriptedModel([answer])])
    problem = attempt.summarise(attempt.select())
    holds = attempt.settle(problem, Scribe(entire, Audience()))
    same = entire.view() == recorded
    print(f"{problem}: it holds {holds}, cursor {entire.cursor}, view as before {same}")

# %% [markdown]
# Second: **does the summary hold what matters?** That is up to whoever writes it. In the example files codes are
# planted, and the session found some. Which of them did the old turns show, which was the user told, and which does the
# next request still hold?

# %%
import json
from pathlib import Path

planted = json.loads(Path("../data/observations/planted.json").read_text(encoding="utf-8"))
codes = [facts[place]["code"] for facts in planted.values() for place in ("head", "middle", "end")]


def found_in(messages, *texts):
    text = "\n".join([message["content"] for message in messages] + list(texts))
    return {code for code in codes if code in text}


len(found_in(recorded)), "of", len(codes), "codes were seen in the session"

# %% [markdown]
# The stand-in writes extracts: first lines, and lists of ids and names, within its limit of words.

# %%
behind = old.messages[: old.cursor]
seen, told = found_in(behind), found_in(m for m in behind if m["role"] == "assistant")
still = found_in(old.view(), old.system_view())
print(f"behind the cursor: {len(seen)} codes were seen, {len(told)} were told to the user")
print(f"the next request holds {len(seen & still)} of those seen, {len(told & still)} of those told")
print("told, and now gone:", *sorted(told - still))

# %% [markdown]
# So a summary that was given everything still forgets. These numbers are the stand-in's and say nothing about a
# language model's summaries; the *check* is what you can take with you: plant facts, consolidate, count. And what the
# summary leaves out is not lost from the session: it is still in `messages`, and on disk.

# %% [markdown]
# ## 10. By itself, near the window
#
# With a policy, a turn consolidates before a call that would not fit. Here is the recorded session again, under a room
# of 16,000 tokens: with the summary in a message, in the system prompt, and with old results cleared first.

# %%
BATCHES = Batched(keep=4, every=4)
SPECS = {
    "nothing": Compaction(),
    "message": Compaction(consolidate=Consolidate(place="message"), room=ROOM),
    "system": Compaction(consolidate=Consolidate(place="system"), room=ROOM),
    "batched and message": Compaction(results=BATCHES, consolidate=Consolidate(), room=ROOM),
}
again = {name: run_again(spec, summariser=OfflineModel()) for name, spec in SPECS.items()}
for name, (session, _) in again.items():
    print(f"{name:<20}", [made.policy for made in session.conversation.decisions])

# %% [markdown]
# Where old results are cleared in batches, the room is never used up, and no summary is due. The same plot; the
# requests of the summariser are not in it.

# %%
again_sent = pd.concat([requests_of(name, requests) for name, (_, requests) in again.items()])
plots.plot_requests(again_sent)

# %% [markdown]
# A consolidation changes the prompt from the place of the summary on. In a message, system prompt and tools stay as
# they were. In the system prompt nothing does, or the tools alone with a provider that puts them first. The difference
# is small here, because they are short. What else does a summary take? Tokens of its own.

# %%
for name, (session, _) in again.items():
    least = again_sent[again_sent["policy"] == name]["unchanged_tokens"].iloc[1:].min()
    spent = [made.usage for made in session.conversation.decisions if made.usage is not None]
    own = sum(usage.prompt_tokens + usage.output_tokens for usage in spent)
    print(f"{name:<20} at least {least:>4,} tokens unchanged, {own:>7,} tokens for summaries")

# %% [markdown]
# ## 11. After a pause
#
# A provider's cache lives for minutes. After a long pause it is cold, every token is read anew, and a change of the
# prompt costs nothing extra: a good moment to consolidate. This is off unless a policy sets `idle_minutes`. The clock
# is ours, so that nobody has to wait.

# %% tags=["nbval-check-output"]
def after_pause(idle_minutes, pause):
    now = [0.0]
    policy = Policy(compaction=Compaction(idle_minutes=idle_minutes, consolidate=Consolidate()))
    with Runner(OfflineModel(), tools=FILES, policy=policy, clock=lambda: now[0]) as idle:
        for question in QUESTIONS[:6]:
            idle.send(question)
        now[0] += pause * 60
        idle.send("Find 'error' in build.log.")
    return f"cursor {idle.conversation.cursor:>2}, {len(idle.conversation.messages)} messages"


print("off by default, a day later:", after_pause(None, 24 * 60))
print("30 minutes, after 29:       ", after_pause(30, 29))
print("30 minutes, after 31:       ", after_pause(30, 31))

# %% [markdown]
# ## 12. On disk
#
# A session in a folder keeps its decisions with its messages. Run the first ten questions under both kinds of rule,
# into a temporary folder.

# %% tags=["nbval-check-output"]
from tempfile import TemporaryDirectory

folder = TemporaryDirectory()
place = Path(folder.name) / "session"
file = place / "messages.jsonl"
rules = Compaction(results=Batched(keep=2, every=2), consolidate=Consolidate(keep_turns=3))
with Runner(OfflineModel(), tools=FILES, folder=place, policy=Policy(compaction=rules)) as stored:
    for question in QUESTIONS[:10]:
        stored.send(question)
    stored.consolidate()
lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
{kind: sum(line["type"] == kind for line in lines) for kind in ("message", "decision")}

# %% [markdown]
# Load it again: the view is the same, so the next request begins as the last one did. And the file has every message in
# full.

# %% tags=["nbval-check-output"]
loaded = Conversation.load(place)
written = [line["message"] for line in lines if line["type"] == "message"]
print("the same view:          ", loaded.view() == stored.conversation.view())
print("the same system prompt: ", loaded.system_view() == stored.conversation.system_view())
print("cursor and cleared:     ", loaded.cursor, sorted(loaded.cleared))
print("messages as recorded:   ", written == recorded[: len(written)])
print("characters in the file: ", f"{chars_of(written):,}, in the view {chars_of(loaded.view()):,}")

# %% [markdown]
# It goes on from there. What is on disk is only ever added to: what was there before stands as it was.

# %% tags=["nbval-check-output"]
before = file.read_bytes()
with Runner(OfflineModel(), tools=FILES, folder=place, policy=Policy(compaction=rules)) as resumed:
    print(resumed.send("Find 'error' in build.log.").text.splitlines()[0])
after = file.read_bytes()
print("the file begins as it was:", after.startswith(before))
print("and is longer:            ", len(after) > len(before))
folder.cleanup()

# %% [markdown]
# ## 13. What holds
#
# | claim | verdict | where |
# |---|---|---|
# | Clearing old results sends fewer tokens | holds: four of ten prompt tokens less under sliding | section 4 |
# | Fewer tokens are fewer dollars | does not hold with a cache: sliding is the dearest here | section 5, prices as stated |
# | Batches keep a cache warm | holds: three changes instead of ten | section 4 |
# | What is cleared is lost | does not hold: read back character for character | section 6 |
# | Instructions survive | holds where their tool is pinned | section 7 |
# | Nothing is dropped that was not summarised | holds, for small windows and failing summarisers too | section 9 |
# | A summary keeps what was found | does not hold for the stand-in's; of models it cannot be told here | section 9 |
# | The place of a summary does not matter | does not hold for a cache | section 10 |
# | Old results are cheap to drop | cannot be told here: it needs runs of real models that forget | nowhere |
#
# ## Three questions for you
#
# 1. Your provider reads cached tokens at half the price and writes them for nothing extra. Compute section 5 again with
#    0.5 and 1. Which rule would you take, and which if each session had only ten calls?
# 2. `clear_at` has `clear_at_least`. From which value on does it change what happens in section 4, and what is it good
#    for?
# 3. Plant three facts of your own in a session: one in a question, one in a reply, one deep in a tool result. Which
#    of them survive a consolidation by the stand-in? What would you have to change in the request to the summariser, in
#    `agentlab.compaction.summariser`, before you trust a language model with it, and how would you test that?
#
# Next: [05 Any session](05_any_session.ipynb).
