# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # How models behave
#
# The notebooks before this one show *mechanics*: what is sent, how large it is, when a run stops. A stand-in with rules
# can show that. It cannot show what a language model *does* with an observation, so four claims were left open:
#
# 1. a **marker** in a cut text keeps a model from taking the part for the whole,
# 2. **`Error: `** before a failure keeps it from taking the step as done,
# 3. **"Did you mean"** makes it repair the name of a tool,
# 4. a **placeholder that says how to get a result back** makes it get the result back.
#
# Here they meet real weights. It takes about 15 minutes, and it runs offline: the runs were recorded on 1 December 2026,
# and the last section repeats them live where you have a model.
#
# The model is Qwen2.5-Coder-0.5B-Instruct (Q4_K_M): half a billion parameters, on one thread of a CPU. That is **small**.
# What holds for it need not hold for yours, and what does not hold for it may. The method is what carries over.

# %% [markdown]
# ## 1. One task, two arms
#
# Each claim has tasks, and each task two *arms* that differ in one text and in nothing else. Here are the recorded runs.

# %% tags=["nbval-check-output"]
import json
from pathlib import Path

heads, runs = {}, []
for path in sorted(Path("../data/model_runs").glob("*.qwen2.5-coder-0.5b-*.jsonl")):
    head, *lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    heads[head["claim"]] = head
    runs += [run | {"claim": head["claim"]} for run in lines]
for claim, head in heads.items():
    count = sum(run["claim"] == claim for run in runs)
    print(f"{claim:<12} {count} runs of {head['model']}, temperature {head['temperature']}")

# %% [markdown]
# Look at one before you count any. The user wanted a mail to be sent, the model called `send_mail`, and the tool failed.
# What did the model see, and what did it say next?

# %% tags=["nbval-check-output"]
def show_task(claim, task):
    for run in runs:
        if (run["claim"], run["task"]) == (claim, task):
            said = run["text"] or f"calls {run['calls'][0]['name']} with {run['calls'][0]['arguments']}"
            print(f"{run['arm'].upper():<8} saw   {run['observation']!r}")
            print(f"{'':<8} wrote {said!r}")
            print(f"{'':<8} that is: {run['outcome']}\n")


show_task("prefix", 1)

# %% [markdown]
# Seven characters, and another reply. One pair proves nothing: it might be chance, and it might be a pair that was
# picked. So the rule that sorts replies is fixed for all of them, and every run is kept.

# %% [markdown]
# ## 2. The rules
#
# A person who reads 160 replies sees what he hopes for. Here each outcome follows from the reply by a rule, and whoever
# doubts a count can run it again: `data/model_run_tasks.py` has the tasks and the rules.

# %%
from textwrap import fill

for claim, head in heads.items():
    print(fill(f"{claim}: {head['rule']}", 100, subsequent_indent=" " * 4))

# %% [markdown]
# These rules look for words, so they have blind spots: a refusal in words that no list has counts as an answer. That is
# why you will read replies, too, before you believe a count.
#
# ## 3. Counts
#
# Now sort all replies.

# %% tags=["nbval-check-output"]
import pandas as pd

frame = pd.DataFrame(runs)
counts = frame.groupby(["claim", "outcome", "arm"]).size().unstack(fill_value=0)
print(counts)

# %% [markdown]
# Each claim says that some outcomes come more often in the arm `with`. Their share, with Wilson's 95 % interval:

# %% tags=["nbval-check-output"]
from agentlab.analysis.proportions import difference, share

CLAIMED = {
    "marker": ("notices that a part is missing", {"asks", "says"}),
    "prefix": ("notices that the step failed", {"failed", "again"}),
    "hint": ("repairs the name", {"repairs"}),
    "placeholder": ("gets the result back", {"reads back", "reads again"}),
}
shares = {}
for claim, (what, outcomes) in CLAIMED.items():
    for arm, rows in frame[frame["claim"] == claim].groupby("arm"):
        shares[claim, arm] = each = share(int(rows["outcome"].isin(outcomes).sum()), len(rows))
        print(f"{what:<32} {arm:<8} {each.count:>2} of {each.n}  ({each.low:.0%} to {each.high:.0%})")

# %% [markdown]
# The same as a picture. *Qwen2.5-Coder-0.5B-Instruct Q4_K_M, temperature 0, one thread; recorded on 1 December 2026;
# bars are Wilson's 95 % intervals.*

# %%
from agentlab import plots

drawn = [
    {"claim": f"{claim}: {what}", "arm": arm, "count": s.count, "n": s.n, "low": s.low, "high": s.high}
    for claim, (what, _) in CLAIMED.items()
    for arm in ("with", "without")
    for s in [shares[claim, arm]]
]
plots.plot_shares(pd.DataFrame(drawn))

# %% [markdown]
# ## 4. Differences
#
# Do not compare two intervals by eye: ask for the difference, and for the interval of *that*. It is Newcombe's, made of
# the two above. It takes the arms for independent; they have the same tasks, so it is rather too wide than too narrow.

# %% tags=["nbval-check-output"]
for claim in CLAIMED:
    made = difference(shares[claim, "with"], shares[claim, "without"])
    verdict = "holds here" if made.low > 0 else "against it" if made.high < 0 else "cannot be told"
    print(f"{claim:<12} {made.value:>+5.0%}  ({made.low:+.0%} to {made.high:+.0%})  {verdict}")

# %% [markdown]
# ## 5. What stands behind the numbers
#
# A count says how often. Only replies say what happened. Begin with the placeholder: a result was taken out of the
# conversation, and the user asks about a line of it.

# %% tags=["nbval-check-output"]
show_task("placeholder", 1)

# %% [markdown]
# Both arms made a call; one of them could not work. Which ids did the model give `read_result` where it had been told none?

# %% tags=["nbval-check-output"]
from collections import Counter

told_none = frame[(frame["claim"] == "placeholder") & (frame["arm"] == "without")]
ids = Counter(call["arguments"].get("id") for calls in told_none["calls"] for call in calls)
print(", ".join(f"{name} ({count})" if count > 1 else str(name) for name, count in ids.items()))

# %% [markdown]
# It did not give up and it did not invent an answer: it invented an *id*, mostly the word of the question. The file could
# have been read again in that arm, too, and was not. So a placeholder is worth its sentence: the id is what the next
# call needs, and it can stand nowhere else.
#
# Now the error. What did the model write where `Error: ` was missing?

# %% tags=["nbval-check-output"]
blind = frame[(frame["claim"] == "prefix") & (frame["arm"] == "without")]
columns = ["observation", "text", "outcome"]
for observation, text, outcome in blind[columns].head(8).itertuples(index=False):
    print(f"{outcome:<8} saw {observation!r:<22} wrote {text!r}")

# %% [markdown]
# An observation such as `'cello'` is what `str(error)` gives for many an exception, so it is what a loop shows that does
# not say that something failed. Half of the replies only echo it, in both arms. Such a reply shows nothing of what the
# model took it for, so the rule counts it for neither side. Of the others, those without `Error: ` tell of a mail that
# was sent and of an alarm that was set. Nothing of that happened.
#
# Now the hint. Here the reply had to be a call, and any name could be written, right or wrong.

# %% tags=["nbval-check-output"]
show_task("hint", 1)

# %% [markdown]
# Without the hint it makes the wrong call again, although the list of its tools stands in the system prompt. Which names
# did it not repair with the hint?

# %% tags=["nbval-check-output"]
hinted = frame[(frame["claim"] == "hint") & (frame["arm"] == "with") & (frame["outcome"] != "repairs")]
print(hinted[["task", "outcome", "observation"]].to_string(index=False))

# %% [markdown]
# Three are no rule. But keep the second and the third in mind: they were among the first three runs, and somebody who
# stopped there would have reported that the hint does nothing.
#
# And the marker, with a question for what was cut, and with the plain question whether that was all.

# %% tags=["nbval-check-output"]
show_task("marker", 1)
show_task("marker", 13)

# %% [markdown]
# The marker was in front of it, and it answered as if the part were the whole: with a number for a name that it had not
# seen, and, as it did without, with yes when it was asked whether that was all. Did it overlook the marker? Four tasks
# ask how many lines the file has.

# %% tags=["nbval-check-output"]
lines_asked = frame[(frame["claim"] == "marker") & frame["question"].str.contains("How many lines")]
for observation, arm, text in lines_asked[["observation", "arm", "text"]].itertuples(index=False):
    marker = next((line for line in observation.splitlines() if "truncated" in line), "(no marker)")
    print(f"{arm:<8} {marker[:41]:<42} {text[:50]!r}")

# %% [markdown]
# It did not overlook it. It took the number of omitted characters for the number of lines, in four of four. The file has
# 12 lines, and without the marker three replies say so, since the model had asked for lines 1 to 12. That was seen after
# the fact and in four tasks, so it is a reason to look again, and no finding. But it is a warning: what a marker says, a
# model may use for something else.
#
# ## 6. What holds, and what does not
#
# | claim | on this model | what it means |
# |---|---|---|
# | A marker keeps a model from taking the part for the whole | cannot be told: 0 of 20 in both arms | no effect was seen, and the interval allows one of 16 points in either direction; a model that never asks for more cannot show what makes it ask |
# | `Error: ` keeps it from taking the step as done | holds | it reported a failure in 10 of 20 runs against 0, and took the step as done in 0 against 9 |
# | "Did you mean" makes it repair the name | holds | 17 of 20 against 2 |
# | A placeholder that says how to get the result back makes it get it | holds | 20 of 20 against 0, where the file could have been read again |
#
# Three differences have intervals that stay far from 0, and one claim is open. None of this says that a marker is
# useless. It says that *this* model did not act on it here, so the marker has to be tried with yours.
#
# ## 7. What this cannot tell
#
# - **One model, and a small one.** A larger one may see the marker, and may see a failure without `Error: ` as well: then
#   the differences get smaller from the other side.
# - **One call.** Each run ends after one reply. Whether a session ends better is another question.
# - **Our tasks.** Lists of twelve lines, tools that were never run, names from a list: they are alike, so 20 of them are
#   less than 20 different tasks, and the intervals know nothing of that.
# - **The form of the reply.** A grammar held each reply to one call or one answer; a few worked turns stood before the
#   conversation, none with an error, a cut or a placeholder.
# - **What was tried before.** A few trial runs decided the form of the tasks: a first version of the errors named their
#   class, which gave them away in both arms, and in a first version of the hint the model could answer and always did.
#   The tasks that you see were drawn afresh. Two rules were made finer after runs had been seen: before that, an
#   echo counted as failed or as done, and a wrong id as any other call.
#
# ## 8. Do it again
#
# Name a model and run the last cell. A model file (GGUF) needs `pip install 'agentlab-observe[local]'` and nothing else:
# `LIVE = ["--model", "NAME.gguf"]`. So does a server on your machine that speaks OpenAI's Chat Completions:
# `LIVE = ["--provider", "openai", "--model", "NAME", "--base-url", "http://127.0.0.1:8080/v1"]`. A hosted model needs its
# key and costs money: `LIVE = ["--provider", "anthropic", "--model", "NAME", "--yes-spend"]`. As it stands, it calls nothing.

# %% tags=["nbval-check-output"]
import runpy
import sys

LIVE = None
if LIVE is None:
    print("Nothing was called: LIVE names no model.")
else:
    sys.path.insert(0, "../data")
    record = runpy.run_path("../data/make_model_runs.py")["main"]
    record([*LIVE, "--tasks", "4", "--out", "model_runs"])

# %% [markdown]
# It writes to `model_runs/` beside this notebook, a line per run, and goes on where it stopped. Take all 20 tasks, read
# the folder in the first cell instead of the recorded one, and the rest of this notebook is about your model.
#
# **A last question.** You are asked whether the marker is worth its characters. What would you record to decide it, and
# which result would change your mind?
