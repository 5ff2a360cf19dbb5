# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Your own log
#
# The capstone. You bring a log that an agent of yours wrote, and find out where its tokens went, what made it grow, what it
# cost, and what another policy would have sent, saved and lost. At the end stands a conclusion: one sentence with its
# figures, its *n* and what would change your mind. It takes about 30 minutes. Nothing leaves this machine.
#
# Without a log it runs on a recorded session: nine questions that a stand-in answered, which is **rule-based, not an
# LLM**. Then all figures are true, and none says anything about a language model.
#
# Questions are marked with **Q**. Write your answer below each, in the cell or on paper, *before* you read on.

# %% [markdown]
# ## 1. Choose a log
#
# Some agents keep their logs in a place that is known. Are there any here?

# %%
from pathlib import Path

PLACES = {
    "Claude Code": "~/.claude/projects",
    "Codex": "~/.codex/sessions",
    "pi": "~/.pi/agent/sessions",
    "nanobot": "~/.nanobot/workspace/sessions",
}
found = [f"{name}: {place}" for name, place in PLACES.items() if Path(place).expanduser().exists()]
print(*found or ["none in the usual places; the recorded session will do"], sep="\n")

# %% [markdown]
# Other formats lie where you put them: files of SWE-agent, mini-swe-agent, OpenHands, tau-bench, Inspect, spans of
# OpenTelemetry, or a list of messages in OpenAI's or Anthropic's shape. A file is recognised by what is in it. **Write the
# path into the next cell**, a file or a folder, and run it. An empty text takes the recorded session.

# %% tags=["nbval-check-output"]
LOG = ""  # for example "~/.claude/projects", or "my-run.jsonl"

chosen = Path(LOG).expanduser() if LOG else Path("../data/sessions/errors")
print("a log of yours" if LOG else "the recorded session")

# %% [markdown]
# Load it. Read the problems first: half a log looks exactly like a whole one.

# %% tags=["nbval-check-output"]
from agentlab.analysis import load

sessions, problems = load(chosen)
print("sessions:", len(sessions), " problems:", len(problems))
for problem in problems[:5]:
    print(f"line {problem.line}: {problem.reason}")

# %% [markdown]
# Take the session with the most calls. (Or another one: `session = sessions[3]`.)

# %% tags=["nbval-check-output"]
session = max(sessions, key=lambda each: len(each.calls))
measured = sum(call.measured for call in session.calls)
print(session)
print(f"{measured} of {len(session.calls)} calls have the provider's own count of tokens")

# %% [markdown]
# **Q1.** How many calls are measured? Where they are not, the tokens are an estimate from the length of the texts: believe
# ratios, and no totals.
#
# ## 2. Look around
#
# First without a plan. `SessionExplorer` shows the curve, what prompts were made of, and policies side by side. Each button
# is one of the largest jumps and opens the message that made it. (Where no kernel runs, you see all of it at once.) Find
# the message that you would have cut, and the one that you would not.

# %%
from agentlab.policy import Limit, Policy
from agentlab.policy.presets import load_policy
from agentlab.widgets import SessionExplorer

TWO = [Policy("1,000 characters", default=Limit(1_000)), load_policy("nanobot-2026-05")]
SessionExplorer(session, policies=TWO)

# %% [markdown]
# ## 3. The curve
#
# Now with a plan. What did each turn send, and how much of it was new?

# %%
from agentlab import plots
from agentlab.analysis import curve

plots.plot_curve(curve(session))

# %% [markdown]
# In sentences, with how it grows. Mind what is *measured* and what *estimated*.

# %%
from textwrap import fill

from agentlab.analysis import growth, summary

for sentence in (*summary(session), *growth(session).sentences):
    print(fill(sentence, 100))

# %% [markdown]
# **Q2.** Which share of all prompt tokens had been sent before? Is the growth linear, and if a bend is named, is it a
# finding or within chance? (Notebook 05, section 4, says why nearly every curve seems to bend.)
#
# ## 4. What is it made of?
#
# Each kind of message, with what was sent once and what was sent again.

# %%
from agentlab.analysis import composition

kinds = composition(session)
kinds[["kind", "messages", "once", "resent", "sent", "share"]]

# %% [markdown]
# And the largest jumps. `grown_by` is the tool whose result came in, `share` is what the jump is of all growth.

# %%
from agentlab.analysis import jumps

largest = jumps(session)
largest[["call", "turn", "growth", "share", "grown_by"]].head(5)

# %% [markdown]
# The message behind the first of them, in part:

# %% tags=["nbval-check-output"]
def opening(index, size=300):
    record = session.records[index]
    calls = [each["function"] for each in record.tool_calls]
    text = "\n".join([record.text, *(f"{each['name']} {each['arguments']}" for each in calls)]).strip()
    more = " ..." if len(text) > size else ""
    return f"{record.role}, {len(text):,} characters: {text[:size]}{more}"


places = [int(index) for index in largest["message"].dropna()]
print(fill(opening(places[0]), 100) if places else "no jump has a message of its own")

# %% [markdown]
# **Q3.** Is the growth a few large steps, or many small ones? A limit on results helps against the first. Against the
# second only forgetting does.
#
# What would a limit have left of the largest result? Drag it until you find the smallest limit at which you would still have
# known what the agent needed.

# %%
from agentlab.widgets import CutExplorer

longest = sorted(session.observations(), key=lambda seen: -len(seen.text))[:3]
names = [f"{seen.tool or 'result'}, message {seen.index}, {len(seen.text):,}" for seen in longest]
results = {name: seen.text for name, seen in zip(names, longest)}
CutExplorer(results or {"no results": "This session has no results of tools."})

# %% [markdown]
# ## 5. What did it cost?
#
# Dollars at list price, if the model has one and the log names it. Otherwise we pretend, and say so: what would the same
# tokens cost with a model that has a price?

# %%
import msgspec

from agentlab.analysis import bill


def as_if(given, model):
    calls = tuple(msgspec.structs.replace(each, model=model) for each in given.calls)
    return msgspec.structs.replace(given, model=model, calls=calls)


own = bill(session)
pretend = own.dollars != own.dollars  # NaN: no price
priced = as_if(session, "claude-sonnet-4-5") if pretend else session
print("pretending that claude-sonnet-4-5 answered" if pretend else f"prices of {session.model}")

# %% [markdown]
# The bill by kind of token, and in sentences.

# %%
from agentlab.analysis.cost import sentences as cost_sentences

invoice = bill(priced)
print({kind: round(dollars, 4) for kind, dollars in invoice.by_kind.items()})
for sentence in cost_sentences(invoice):
    print(fill(sentence, 100))

# %% [markdown]
# **Q4.** Which kind of token costs most? If it is what was *written* to a cache or not cached at all, look for what changed
# the beginning of the prompt: `agentlab cost` lists such breaks call by call.
#
# How would it look with other calls, another limit, another cache? The sliders begin near where your session is; a run of
# the sliders has turns that are all alike, so expect the same order of size and not the same sum.

# %%
from statistics import mean, median

from agentlab.tokens import estimate_text
from agentlab.widgets import BudgetLab, Setting

turns = curve(session)
per_turn = min(20, max(1, round(len(session.calls) / max(1, len(turns)))))
sizes = [estimate_text(record.text).n for record in session.records if record.role == "tool"] or [0]
typical = min(20_000, round(mean(sizes)))
base = int(kinds.set_index("kind")["once"].get("system", 0))
size = {"result": typical, "limit": typical, "base": base}
BudgetLab(Setting(turns=min(60, max(1, len(turns))), calls=per_turn, **size))

# %% [markdown]
# **Q5.** The typical result above is the mean. Compare it with the median below. If they are far apart, one limit for all
# tools is a poor idea: it cuts the few large ones, or it cuts everything.

# %% tags=["nbval-check-output"]
print(f"mean {mean(sizes):,.0f}, median {median(sizes):,.0f}, largest {max(sizes):,} tokens, estimated")

# %% [markdown]
# ## 6. What would a cut have hidden?
#
# `evidence` looks for names (paths, ids, functions) that a later call uses and that nothing but a result had, and asks which
# cuts would still have shown them. **Read the names before you read a share.**

# %% tags=["nbval-check-output"]
from agentlab.analysis import evidence

shown = evidence([session])
names = [each.atom for each in shown.cited]
print(len(names), "names:", *names[:20], sep="  ")

# %% [markdown]
# In how many calls are they? If most of them stand in one, look at that call before anything else.

# %% tags=["nbval-check-output"]
from collections import Counter

from agentlab.analysis.citations import citations

by_call = Counter(each.cited_at for each in citations(session, session.observations()))
for at, number in by_call.most_common(3):
    print(fill(f"{number} names are cited by: {opening(at, size=150)}", 100))
print(len(by_call), "calls cite names")

# %% [markdown]
# And the shares, with their *n*. One session is one cluster, so there is no interval: take a folder of sessions for that.

# %%
kept = shown.by_policy()
at_limits = kept[kept["limit"].isin([500, 1_000, 4_000])]
at_limits[["policy", "n", "kept", "at_risk", "at_risk_kept"]].round(2)

# %% [markdown]
# **Q6.** How many of the names did the agent really *need*? One call that copies a long text into its arguments cites many
# names and needs none. With fewer than ten names, say "cannot be told" and mean it.
#
# ## 7. What would another policy have sent?
#
# The two policies of section 2, replayed: at most 1,000 characters for each result, both ends kept; and nanobot's of May
# 2026, which allows 16,000, keeps longer results in a file, and clears old ones. Choose others: `agentlab policies` lists
# what there is.

# %%
from agentlab.analysis import replay

replayed = replay([priced], TWO)
columns = ["tokens", "tokens_high", "share", "share_high", "dollars", "names", "kept", "more_calls"]
replayed.by_policy()[["policy", *columns]].round(3)

# %% [markdown]
# Before a row is worth anything: how well is the *recorded* policy reproduced, and what was assumed?

# %%
for sentence in replayed.sentences():
    print(fill(sentence, 100, subsequent_indent="  "))

# %% [markdown]
# Where names were cited, the trade can be seen: to the left is cheaper, above is less hidden. Each bar reaches from an agent
# that never misses anything to one that reads each hidden name again.

# %%
by_policy = replayed.by_policy()
nothing = "no names were cited, so there is nothing to trade: compare tokens alone"
plots.plot_frontier(by_policy) if by_policy["names"].max() > 0 else nothing

# %% [markdown]
# **Q7.** Which policy would you take for *this* kind of session? At which end of its range? And what would the agent have
# done otherwise, that a replay cannot know?
#
# ## 8. Your conclusion
#
# Write it into the next cell: one sentence that says what you would change and what it would save, one that says what it
# would lose, and one that says what would change your mind.

# %%
CHANGE = "I would ..., because ..."
LOSS = "It would lose ..., and I know that from ..."
DOUBT = "I would change my mind if ..."
[len(text.split()) for text in (CHANGE, LOSS, DOUBT)]

# %% [markdown]
# The next cell sets it beside the figures. It holds no text of any message, so it can be shown to others.

# %%
from IPython.display import Markdown

how = "measured" if measured == len(session.calls) and measured else "estimated, at least in part"
before = 1 - turns["new_tokens"].sum() / max(1, turns["turn_tokens"].sum())
top = kinds.loc[kinds["sent"].idxmax(), "kind"]
others = by_policy[by_policy["policy"] != "recorded"]
shares = [(row.policy, row.share, row.share_high) for row in others.itertuples()]
lines = [f"- {name}: {low:.0%} to {high:.0%} of the tokens" for name, low, high in shares]
facts = f"""**{session.format}, calls: {len(session.calls)}, user turns: {len(turns)}**

- {turns["turn_tokens"].sum():,} prompt tokens ({how}), {before:.0%} of them sent before
- the largest part of them: {top}; names cited: {len(names)}
- {invoice.dollars:.4f} dollars at list price{", pretended" if pretend else ""}"""
Markdown("\n".join([facts, *lines, "", f"> {CHANGE} {LOSS} {DOUBT}"]))

# %% [markdown]
# ## 9. Is it a good conclusion?
#
# | ask | it is weak if |
# |---|---|
# | Is each figure *measured* or *estimated*? | a total is built on estimates |
# | How many sessions is it about? | it is one, and the sentence says "agents" |
# | Could the names be accidents? | they all stand in one call |
# | Does the replay reproduce the log? | the fit is rough, and the sentence has two digits |
# | Would a limit at entry do the same? | a policy that forgets breaks the cache, and the bill was not looked at |
# | Who pays for what is lost? | the sentence has no second half |
#
# Then do it once more with a folder instead of a file: `evidence(sessions)` and `replay(sessions, TWO)` take them all, and
# with clusters there are intervals. `agentlab report PATH` writes a page about the same questions.
#
# Before you pass anything on: a log holds what was in its messages, such as source code, names, keys that a command
# printed. The last cell above holds figures alone. The cells of sections 4 and 6 do not.
