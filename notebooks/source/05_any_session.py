# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Any session
#
# The notebooks before this one built agents. This one reads what agents left behind: logs. You will
#
# 1. load sessions, whatever wrote them, and see what was wrong with a file,
# 2. see what a session sent, turn by turn, what it was made of, and what of it had been sent before,
# 3. ask how it grows, and learn why a *bend* in the curve is nearly always an accident,
# 4. ask what shorter results would have hidden, and why that share is easily taken for something else,
# 5. ask what another policy would have sent, and hold the answer against runs that really had that policy,
# 6. put the chapter's claims to the test: what holds, what does not, and what cannot be told,
#
# and then do it with a log of your own. It takes about 25 minutes.
#
# The sessions in `data/sessions` were recorded by the package's own loop, over a folder that a script made up. The
# model in them is a stand-in that is **rule-based, not an LLM**, or a script. So the loop, the sizes and the counts are
# real, and what is asked for, read again or overlooked says nothing about language models. Where that matters, the text
# says "cannot be told", and the last section takes *your* log, where it can.

# %% [markdown]
# ## 1. Load
#
# `load` takes a file or a folder, finds out what wrote it, and returns two lists: the sessions, and what it could not
# read.

# %% tags=["nbval-check-output"]
from agentlab.analysis import load

sessions, problems = load("../data/sessions")
log = {session.id: session for session in sessions}
print(len(sessions), "sessions,", len(problems), "problems")
print(*sessions[:5], sep="\n")

# %% [markdown]
# What is a problem? Here is a log whose writer crashed in the middle of a line. Everything before that line is read,
# the line is named, and nothing is guessed.

# %% tags=["nbval-check-output"]
from pathlib import Path
from tempfile import TemporaryDirectory

with TemporaryDirectory() as folder:
    place = Path(folder, "crashed")
    place.mkdir()
    lines = Path("../data/sessions/short/messages.jsonl").read_bytes()
    (place / "messages.jsonl").write_bytes(lines[:-200])
    torn, found = load(place)
print(torn[0])
print(f"line {found[0].line}: {found[0].reason}")

# %% [markdown]
# **Read the problems first.** A frame of half a log looks exactly like a frame of a whole one.

# %% [markdown]
# ## 2. Frames
#
# `grains` makes four frames of any number of sessions, a row per session, turn, call and message. That is quick enough
# for thousands of logs.

# %%
from agentlab.analysis import grains

frames = grains(sessions)
sizes = ["turns", "calls", "tool_calls", "errors", "prompt_tokens", "largest_prompt", "prompt_measured"]
frames.sessions[["session", *sizes]]

# %% [markdown]
# Look at the last column before you use the one before it. Where it says True, the log has the provider's own count
# (here that of the stand-in, which counts with a tokenizer). Where it says False, the tokens are characters divided by
# four: the scripted models report no usage. Which turns did not end well?

# %% tags=["nbval-check-output"]
ended = frames.turns.groupby(["status", "reason"]).size()
print(ended.to_string())
print("in:", *frames.turns.query("status == 'failed'")["session"])

# %% [markdown]
# What every column counts, and in which unit, is written down beside the frames.

# %%
from agentlab.analysis import GRAINS, describe

describe(GRAINS["calls"]).head(8)

# %% [markdown]
# ## 3. What a session sent
#
# Take the longest one: sixty questions about twelve modules. The bars are what each turn sent, summed over its calls;
# the dark line is the prompt of its last call.

# %%
from agentlab import plots
from agentlab.analysis import curve

long = curve(log["long"])
plots.plot_curve(long)

# %% [markdown]
# In words:

# %% tags=["nbval-check-output"]
from textwrap import fill

from agentlab.analysis import summary

for sentence in summary(log["long"]):
    print(fill(sentence, 100))

# %% [markdown]
# What are these tokens? `composition` splits all that was sent by kind, and each kind into what was sent for the first
# time and what was sent again.

# %%
from agentlab.analysis import composition

composition(log["long"])[["kind", "messages", "once", "resent", "sent", "share"]]

# %% [markdown]
# Tool results are most of it. They came to 32,116 tokens, and each of these was sent about 62 times. So a limit on
# results saves a little when a result comes, and sixty times as much later on. The system prompt with the tools, which
# one is tempted to shorten first, is 2 % of it.
#
# The same, call by call, for the session without any limit. The largest jumps are named.

# %%
from agentlab.analysis import composition_by_call, jumps

plots.plot_composition(composition_by_call(log["uncut"]), jumps(log["uncut"]))

# %% [markdown]
# One file of 5,000 lines makes 58 % of all growth, in one step. Which message was it, and which tool returned it? A row
# of `jumps` says where to look.

# %% tags=["nbval-check-output"]
top = jumps(log["uncut"]).iloc[0]
record = log["uncut"].records[top["message"]]
print(f"call {top['call']}, turn {top['turn']}: {top['growth']:,} tokens, by {top['grown_by']}")
print("asked for:", log["uncut"].records[top["message"] - 1].tool_calls[0]["function"]["arguments"])
print("returned: ", record.text.splitlines()[0], "...")

# %% [markdown]
# ## 4. How it grows
#
# "Does it grow linearly?" has three answers, because there are three curves: the prompt of each call (*context*), what
# a whole turn sends (*turn tokens*), and the sum of all of it so far (*cumulative*). The exponent says with which power
# of its index a curve grows: 1 is linear, 2 quadratic.

# %%
from agentlab.analysis import growth
from agentlab.analysis.growth import exponents_frame

grown = growth(log["long"])
exponents_frame(grown)

# %% [markdown]
# All three describe the same session, and none contradicts the others. A prompt that grows linearly makes a sum that
# grows quadratically; the first exponent is a little below 1 since the system prompt is there from the beginning. Mind
# how narrow the intervals are: they say how well a power fits *this* session, not what the next one will do.
#
# A linear prompt has increments without a trend. That can be tested directly, with Kendall's tau. Here it is for every
# session in which the stand-in answered.

# %%
import pandas as pd

answered = [session for session in sessions if session.model == "offline-rules-1"]
found = [growth(session) for session in answered]
rows = [(s.id, g.verdict, t.tau, t.p, t.n) for s, g in zip(answered, found) if (t := g.trends[0])]
trends = pd.DataFrame(rows, columns=["session", "verdict", "tau", "p", "increments"])
trends.round(2)

# %% [markdown]
# Sessions that forget are looked at in segments, and the row is of the first one. At 5 %, one test in twenty finds a
# trend where there is none, so look at how many there are before you look at which. (Nor are these independent: nine of
# them answer the same questions.)

# %% tags=["nbval-check-output"]
print("significant at 5 %:", (trends["p"] < 0.05).sum(), "of", len(trends))
print("verdicts:", trends["verdict"].value_counts().to_dict())

# %% [markdown]
# ### Where does it bend?
#
# The eye sees a bend in nearly every curve, and so does a fit. Fit a straight line, then one with a hinge: the hinge
# takes most of the error away. So there is a bend?

# %% tags=["nbval-check-output"]
from agentlab.analysis import calls_frame
from agentlab.analysis.trend import bend

steps = calls_frame(log["long"])["growth"].tolist()[1:]
hinge = bend(steps)
print(f"best hinge after {hinge.at} of {hinge.n}: {hinge.explained:.0%} of the squared error is gone")

# %% [markdown]
# Shuffle the increments. Now their order is chance, and no place in it means anything. Fit again.

# %%
from random import Random


def shuffled(values, seed):
    return Random(seed).sample(values, len(values))


orders = {"as recorded": steps} | {f"shuffled, {seed}": shuffled(steps, seed) for seed in range(1, 6)}
for name, order in orders.items():
    best = bend(order, shuffles=1)
    print(f"{name:<12} best hinge after {best.at:>3}: {best.explained:>4.0%} of the error is gone")

# %% [markdown]
# Every one of them has its bend, each at another place. A level is a sum of increments, and a sum wanders even when no
# increment knows of the one before. So the question is not whether a hinge fits, but **how often chance fits as well**.
# Take the straight line away, and hold the session against 199 other orders of the same increments, each shuffled in
# small blocks: nine of ten are within the band, and three of them are drawn.

# %%
plots.plot_bend(steps)

# %% [markdown]
# The blue line is hardly out of the crowd. `growth` therefore says that there is a hinge, and that it is no finding.

# %% tags=["nbval-check-output"]
for sentence in grown.sentences:
    print(fill(sentence, 100))

# %% [markdown]
# And a session that does bend? Let the last third of these increments be five times as large, as when an agent begins
# to read whole files.

# %%
late = len(steps) * 2 // 3
plots.plot_bend([step * (1 if number < late else 5) for number, step in enumerate(steps)])

# %% [markdown]
# ## 5. What would a cut have hidden?
#
# Each agent goes on from names that a result gave it: a path, an id, a function. `evidence` looks for names that a
# later call uses and that *nothing but* a result had, and asks under which cuts the name would still have been shown.
# First look at what it finds, and where.

# %%
from agentlab.analysis import evidence

everywhere = evidence(sessions)
cited = pd.DataFrame([(sessions[each.session].id, each.atom, each.tool) for each in everywhere.cited])
cited.columns = ["session", "name", "source"]
cited["session"].value_counts().head(8).to_frame("names")

# %% [markdown]
# Four of five names are from two small sessions. That looks like a finding. It is a trap: look at the call that cites
# most of them.

# %% tags=["nbval-check-output"]
from collections import Counter

from agentlab.analysis.citations import citations

session = log["errors"]
counts = Counter(each.cited_at for each in citations(session, session.observations()))
at, names = counts.most_common(1)[0]
call = session.records[at].tool_calls[0]["function"]
print(f"{names} of {counts.total()} names are in one call: {call['name']}")
print(f"its arguments have {len(call['arguments']):,} characters: {call['arguments'][:60]} ...")

# %% [markdown]
# The stand-in copied a whole log into an argument, to have its words counted. No name in it was *needed*. So **look at
# the names before you believe a share**, and leave such calls out. What is left here are the scripted traces, in which
# each call takes a name from the result before it.

# %%
traces = [session for session in sessions if session.id.startswith("trace")]
kept = evidence(traces)
plots.plot_evidence(kept.by_policy())

# %% [markdown]
# Three things belong to this picture:
#
# - It shows **exposure to loss**, not loss. The agent of the log saw what it saw; with a cut it might have read again.
#   A name that nobody cited may have been read all the same.
# - The names of one session are not independent, so the intervals resample *sessions*. There are five, which is few: an
#   interval from five clusters is itself a rough guess.
# - **Where** the names stand decides which cut wins, and that belongs to the files and to the agent. Here a script drew
#   the names, and many stand near the top of the files that it read:

# %%
kept.positions()

# %% [markdown]
# Which of two cuts is better? Do not compare two intervals by eye; the same names are in both. Compare in pairs.

# %% tags=["nbval-check-output"]
pairs = kept.differences().set_index(["policy", "against"])
for limit in (500, 1_000, 4_000):
    row = pairs.loc[(f"tail_cut {limit}", f"middle_snip {limit}")]
    said = f"{row['difference']:+.0%} [{row['low']:+.0%}, {row['high']:+.0%}]"
    print(f"at {limit:>5,} characters the head keeps {said} more of {row['n']:.0f} names than both")

# %% [markdown]
# At 500 characters the head wins, at 1,000 nobody can tell, at 4,000 all is kept by both. One figure without its limit,
# its *n* and its interval would have been a slogan.

# %% [markdown]
# ## 6. What would another policy have sent?
#
# `replay` takes a recorded session and a policy, and computes what each call would have been sent. Of the twenty
# questions there are nine recordings, one per policy. That gives what one never has: the prediction *and* the real run.
# Take the one under the chapter's policy and replay it under the eight others.

# %%
import msgspec

from agentlab.analysis import replay
from agentlab.policy import Policy

others = {name[7:]: each for name, each in log.items() if name.startswith("twenty-")}
base = others.pop("chapter")
given = {name: msgspec.convert(each.policy, Policy) for name, each in others.items()}
replayed = replay([base], [msgspec.structs.replace(each, name=name) for name, each in given.items()])
replayed.by_policy()[["policy", "tokens", "tokens_high", "share", "names", "more_calls"]].round(2)

# %% [markdown]
# Before you read a prediction, read how well the *recorded* policy is reproduced, and what is assumed.

# %%
for sentence in replayed.sentences():
    print(fill(sentence, 100, subsequent_indent="  "))

# %% [markdown]
# Now the real runs.

# %% tags=["nbval-check-output"]
told = replayed.by_policy().set_index("policy")
whole = told.loc["recorded", "tokens"]
print(f"{'policy':<22}{'replayed':>10}{'really sent':>13}{'off by':>9}{'calls':>12}")
for name, each in others.items():
    sent = curve(each)["turn_tokens"].sum()
    off = told.loc[name, "tokens"] / sent - 1
    shares = f"{told.loc[name, 'tokens'] / whole:>10.0%}{sent / whole:>13.0%}"
    print(f"{name:<22}{shares}{off:>+9.0%}{len(base.calls):>6} -> {len(each.calls)}")

# %% [markdown]
# The order of the policies is nearly right (two neighbours change places), and the size is not: seven of eight real
# runs sent *more* than was predicted, up to an eighth more. The replay lets the agent do what it did. In the real runs
# it saw another text, so it said something else, and where a cut hid what it needed, it read on: one or two more calls.
# And the pessimistic end did not help here, since the stand-in reads a result back without *citing* a name from it,
# which is all that this end looks at. So take a replay as what a policy does to the bytes, and expect the bill to be
# above it.

# %% [markdown]
# On sessions with names to lose, the two ends come apart, and the trade can be seen: tokens against evidence.

# %%
from agentlab.policy import Batched, Compaction, Limit, Sliding


def forgetting(keep, limit):
    rules = {"sliding": Sliding(keep=keep), "batched": Batched(keep=keep, every=keep)}
    for name, rule in rules.items():
        yield Policy(f"{name}, {keep}", default=Limit(limit), compaction=Compaction(results=rule))


LIMITS = (500, 1_000, 2_000, 4_000)
cutting = [Policy(f"{limit:,} characters", default=Limit(limit)) for limit in LIMITS]
plots.plot_frontier(replay(traces, [*cutting, *forgetting(3, limit=1_000_000)]).by_policy())

# %% [markdown]
# Read it from the upper left. With 500 characters a call, the bill may be a third of the recorded one, or above it:
# what was hidden is cited so often that reading it again costs more than the cut saved. The rules that forget keep all
# names here, because the script that wrote these traces only ever cites a new result. That is the script's doing, not
# theirs.

# %% [markdown]
# ## 7. What does it cost?
#
# Dollars are tokens at four prices: uncached input, input read from a cache, input written to it, and output. The
# stand-in has no price. Let us pretend that a model answered which has one, and ask for the bill of the sixty turns.

# %% tags=["nbval-check-output"]
from agentlab.analysis import bill


def as_if(given, model):
    calls = tuple(msgspec.structs.replace(each, model=model) for each in given.calls)
    return msgspec.structs.replace(given, model=model, calls=calls)


pretended = as_if(log["long"], "claude-sonnet-4-5")
invoice = bill(pretended)
kinds = ", ".join(f"{kind} {dollars:.2f}" for kind, dollars in invoice.by_kind.items())
print(f"{invoice.dollars:.2f} dollars at list price: {kinds}")

# %% [markdown]
# No token was read from a cache, since the stand-in has none. `replay` has a model of the provider's cache: what a
# request begins with is read at a tenth of the price, as long as it is the same as last time and not older than five
# minutes. What does forgetting do to *that* bill?

# %% tags=["nbval-check-output"]
priced = replay([pretended], [*forgetting(10, limit=4_000), *cutting[1:3]])
for row in priced.by_policy().itertuples():
    print(f"{row.policy:<18}{row.share:>5.0%} of the tokens, {row.dollars_share:>5.0%} of the dollars")

# %% [markdown]
# *Sliding* sends little more than half of the tokens, and costs half as much again. It changes an old message before
# nearly every call, and all that stands behind a change is billed as new. A limit when the result *comes* changes
# nothing that was sent before: its savings are savings. (Notebook 04 shows the mechanism call by call.) And the cache
# itself? The same sixty turns with and without it:

# %%
for sentence in priced.sentences()[:2]:
    print(fill(sentence, 100))

# %% [markdown]
# In `long` nobody asked anything for half an hour before turn 31. What the cache held was gone then, and had to be
# written again: if you want to forget, forget *then*, where it costs nothing extra. `cache_breaks` finds such places in
# a log that records its cache; this one does not, and so it finds none.

# %% tags=["nbval-check-output"]
from agentlab.analysis import cache_breaks

clock = [record.time for record in log["long"].records]
print(f"longest pause: {max(b - a for a, b in zip(clock, clock[1:])) / 60:.0f} minutes")
print(f"breaks of the cache in the log: {len(cache_breaks(pretended))}")

# %% [markdown]
# ## 8. Is the chapter right?
#
# The text on which this package is built makes claims about agents. All of them are plausible. For each: a figure, how
# many things it was counted on, an interval where there can be one, and a verdict. *Cannot be told* is a result: it
# says which log you would need. Intervals of shares are 95 %, by Wilson; three hits of four, for example, leave nearly
# everything open:

# %%
from scipy.stats import binomtest

verdicts = []


def judge(claim, figure, n, verdict):
    verdicts.append((claim, figure, n, verdict))
    print(f"figure:  {figure}\nn:       {n}\nverdict: {verdict}")


def share_of(hits, n):
    low, high = binomtest(hits, n).proportion_ci(method="wilson")
    return f"{hits} of {n}, {hits / n:.0%} [{low:.0%}, {high:.0%}]"


share_of(3, 4)

# %% [markdown]
# **A session goes from under 1,000 tokens to over 100,000 within minutes, and then fails.** Tokens and ending are
# measured; the minutes are not, since the clock in these sessions is made up.

# %% tags=["nbval-check-output"]
prompts = calls_frame(log["uncut"])["prompt_tokens"]
over = sum(calls_frame(each)["prompt_tokens"].max() > 100_000 for each in sessions)
last = log["uncut"].turns[-1]
figure = f"{prompts.iloc[0]:,} to {prompts.max():,} tokens in {last.turn} turns, then {last.reason}"
n = f"{over} of {len(sessions)} sessions"
judge("from under 1,000 to over 100,000 tokens", figure, n, "holds, without a limit")

# %% [markdown]
# **What was sent is sent again, in three directions**: by later turns, by later calls of the same turn, and beside
# another result of one call (a part of the second).

# %% tags=["nbval-check-output"]
sums = pd.concat([curve(each) for each in answered]).sum(numeric_only=True)
again = [sums[f"resent_{name}"] / sums["turn_tokens"] for name in ("turns", "iterations", "parallel")]
figure = "across turns {:.1%}, within a turn {:.1%}, of this parallel {:.2%}".format(*again)
judge("what was sent is sent again", figure, f"{len(answered)} sessions", "holds")

# %% [markdown]
# The turns of these sessions are short. An agent that works for fifty calls on one question has most of it in the
# second.
#
# **Whether the curve is linear depends on whether tool calls are bursty.** Take the share of the growth that the
# largest tenth of the increments carry as burstiness, and look at the sessions with least and most of it.

# %% tags=["nbval-check-output"]
bursts = sorted((g.concentration, s.id, g) for s, g in zip(answered, found))
for share, name, g in (bursts[0], bursts[-1]):
    power = g.exponents["context"]
    said = f"{power.value:.2f} [{power.low:.2f}, {power.high:.2f}]"
    print(f"{name:<9}{share:.0%} in a tenth; {g.verdict}; exponent {said}")
without_trend = sum(g.verdict == "linear" for *_, g in bursts)
figure = f"increments without a trend: {share_of(without_trend, len(bursts))}"
judge("the shape depends on bursts", figure, f"{len(bursts)} sessions", "not shown: a burst is no bend")

# %% [markdown]
# The bursty one looks steep to a power law, with an interval from 1.2 to 2.7. That is one file, read early. Read late,
# it would have given another exponent. A trend it gives in neither place.

# %% [markdown]
# **Both ends of a result carry more than its middle.** Where do cited names stand? Count those in the first and the
# last fifth; an even spread would have 40 %. (The interval takes them as independent, which those of one trace are
# not.)

# %% tags=["nbval-check-output"]
places = kept.positions()["n"]
outer = int(places[[0, 1, 8, 9]].sum())
figure = f"in the outer fifths: {share_of(outer, int(places.sum()))}"
judge("both ends carry more than the middle", figure, "uses of names in 5 traces", "cannot be told")

# %% [markdown]
# The figure looks like a yes. But the files are made up and a script drew the names, so it says where *we* put them. On
# a log of a real agent the same two lines of code say where that agent finds them.
#
# **The head suffices, where the tools are known.**

# %% tags=["nbval-check-output"]
row = pairs.loc[("tail_cut 1000", "middle_snip 1000")]
said = f"{row['difference']:+.0%} [{row['low']:+.0%}, {row['high']:+.0%}]"
n = f"{row['n']:.0f} names, {row['clusters']:.0f} traces"
judge("the head suffices", f"head alone less both ends, at 1,000: {said}", n, "cannot be told")

# %% [markdown]
# **Old results are cheap to drop.** In tokens, in dollars, and in names that were still needed.

# %% tags=["nbval-check-output"]
row = priced.by_policy().set_index("policy").loc["sliding, 10"]
figure = f"keeping 10: {row['share']:.0%} of tokens, {row['dollars_share']:.0%} of dollars with a cache"
judge("old results are cheap to drop", figure, "1 session, 60 turns", "does not hold, one by one")

# %% [markdown]
# In batches it was cheaper (section 7). Whether the names were still needed cannot be told here: these sessions hardly
# cite anything old.
#
# **A file has its imports at the top and its exports at the bottom; shell output ends with its exit code, a response
# with the rest of its body.** All files here are made so. In Python's own library, notebook 01 found the imports at the
# top and the exports there, too.

# %% tags=["nbval-check-output"]
seen = {each.text for session in answered for each in session.observations() if each.whole}
code = [text for text in seen if text.startswith('"""') and len(text) > 2_000]
figure = f"{sum('__all__' in text[-500:] for text in code)} with exports in the last 500 characters"
verdict = "cannot be told here; does not hold in notebook 01"
judge("exports at the bottom", figure, f"{len(code)} files, made so", verdict)

# %% [markdown]
# **The model can ask again, for a range.** After a result that was cut, did a later call read more of it, by the id
# that the marker names?

# %% tags=["nbval-check-output"]
def read_on(given):
    for index, record in enumerate(given.records):
        if record.store_id and record.original_chars > len(record.text):
            calls = [call for each in given.records[index:] for call in each.tool_calls]
            yield any(record.store_id in call["function"]["arguments"] for call in calls)


rest = [done for each in answered for done in read_on(each)]
verdict = "holds as mechanics; how often: cannot be told"
judge("the rest can be asked for", share_of(sum(rest), len(rest)), "results that were cut", verdict)

# %% [markdown]
# **Fields that nobody needs can be dropped.** Of the orders, two of six fields are kept.

# %% tags=["nbval-check-output"]
from agentlab.truncate import drop_fields

orders = next(each.text for each in base.observations() if each.text.startswith("[\n{"))
lean = drop_fields(orders, ("id", "price"))
figure = f"{len(orders):,} characters become {len(lean):,}, and still JSON"
judge("fields can be dropped", figure, "1 result", "holds as mechanics; what is needed: cannot be told")

# %% [markdown]
# **Without a marker, the model takes the part for the whole**, and **the plan depends on whether it believes that a
# step succeeded**. In these sessions every cut has its marker, and the stand-in obeys it by a rule, as it obeys errors.
# There is no session without markers to hold against them.

# %% tags=["nbval-check-output"]
cut = [record for each in answered for record in each.records if "[...truncated:" in record.text]
failed = [record for each in answered for record in each.records if record.message.get("is_error")]
judge("a missing marker misleads", "every cut has one", f"{len(cut)} messages", "cannot be told")
judge("the plan depends on success", "a rule follows them", f"{len(failed)} errors", "cannot be told")

# %% [markdown]
# All of it in one table.

# %% tags=["nbval-check-output"]
from IPython.display import Markdown

heads = ("claim", "verdict", "figure", "n")
rows = [(claim, verdict, figure, n) for claim, figure, n, verdict in verdicts]
Markdown("\n".join("| " + " | ".join(row) + " |" for row in (heads, ["---"] * 4, *rows)))

# %% [markdown]
# Two claims did not hold here, and five cannot be told from any number of such sessions. Those that hold are about
# arithmetic, not about models. That is what a stand-in can show, and why the next section is yours.

# %% [markdown]
# ## 9. Now yours
#
# Change one line, and run everything above again:
#
# ```python
# sessions, problems = load(Path.home() / ".claude" / "projects")
# ```
#
# These formats are read; a file is recognised by what is in it.

# %%
from agentlab.analysis import IMPORTERS

sorted(IMPORTERS)

# %% [markdown]
# Then, in this order:
#
# 1. **Problems.** Print all of them. A torn last line is a session that still runs; hundreds are a format that changed.
# 2. **`prompt_measured`.** Where it is False, believe ratios and no totals.
# 3. **What the agent had cut already.** A log holds results as the agent saw them; `Observed.whole` says which are
#    whole. What is gone cannot be cut less, and every share is of what was left.
# 4. **The names.** `evidence(sessions).cited` lists them. Read twenty of them, as in section 5, before you read a
#    share.
# 5. **Tasks.** Runs of one task are not independent. Where the log names its task, it is the cluster; else the session
#    is.
# 6. **The fit.** `replay(...).fits()`: where `rough` is True, the replay is a sketch.
#
# The same from the command line, where each answers one question and `--json` gives the figures:
#
# ```
# agentlab curve PATH        how it grows, of what, and where it jumps
# agentlab evidence PATH     what cuts would have hidden
# agentlab cost PATH         what it cost, and where the cache broke
# agentlab replay PATH --policy codex --policy nanobot-now
# agentlab report PATH       all of it in one file
# ```
#
# **What may not be shared.** A log holds the texts of its messages: source code, file names, names of people, and
# whatever keys a command printed. Frames of sessions, turns and calls hold sizes, times, tool names and the path of the
# file, and no message text; leave `path` out before you pass one on. `cited`, `jumps` with their records, and every
# plot of names do hold words of the log. When in doubt, share the figures.
#
# If your log says something else than this notebook, believe your log, and write down its *n*.
#
# [07 Your own log](07_your_own_log.ipynb) asks these questions of one log, step by step, up to a conclusion that you write.
# Before it come [exercise 5](../exercises/student/05_budget.ipynb) and [exercise 6](../exercises/student/06_production.ipynb).
