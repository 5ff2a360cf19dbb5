# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Start here
#
# It takes about 5 minutes. Run each cell with Shift+Enter, from the top. Everything works offline and without a key: the
# model is a stand-in that is **rule-based, not an LLM**. It calls tools and counts its tokens, so it shows *mechanics*.
# It says nothing about how language models behave.
#
# ## 1. Talk to an agent
#
# An agent is a loop around a model. The model asks for a tool, the loop runs it and shows the model what it gave, and so
# on until there is an answer. Here the tools read a folder of example files.

# %% tags=["nbval-check-output"]
from agentlab.builtin_tools import workspace_tools
from agentlab.loop import agent_step
from agentlab.providers.offline import OfflineModel

tools, messages = workspace_tools("../data/observations"), []
question = "What is at the end of build.log?"
print(agent_step(question, messages, OfflineModel(), "Be brief.", tools=tools))

# %% [markdown]
# ## 2. Watch the context grow
#
# That question and its answer are now four messages, and every later call sends them again. `ChatLab` is the same loop as
# a conversation. Open a tool call in it to see what the tool gave and what the model saw of that; the bars below are what
# each turn's last prompt was made of. Where this notebook runs, type a question of your own into the field.

# %%
from agentlab.widgets import ChatLab

chat = ChatLab(folder=None, workspace="../data/observations")
for question in ("List the files.", "Read services.yaml. How does it end?", "Which file did you read?"):
    chat.ask(question)
chat

# %% [markdown]
# The last question was a small one. What did it send? The red line is the prompt of each turn's last call, the bars are
# all that the calls of the turn sent: little of it is new, and most is an old result.

# %%
from agentlab import plots
from agentlab.analysis import curve, load

(session,), problems = load(chat.folder)
plots.plot_curve(curve(session))

# %% [markdown]
# In one number: this much of all that was sent had been sent before.

# %% tags=["nbval-check-output"]
turns = curve(session)
sent = turns["turn_tokens"].sum()
f"{1 - turns['new_tokens'].sum() / sent:.0%} of {sent:,} prompt tokens"

# %% [markdown]
# That is what all of this is about: what a result costs, what a cut of it loses, what a turn remembers, and when a run
# must stop.
#
# ## 3. The path
#
# From top to bottom; each builds on those before it. Minutes are what a reader needs who runs every cell and looks at
# what it shows; an exercise's are those of somebody who solves it.
#
# | | minutes | what it is about |
# |---|---|---|
# | [00 Start here](00_start_here.ipynb) | 5 | a first talk, and this path |
# | [01 Observation and continuation](01_observation_and_continuation.ipynb) | 25 | the loop, built, broken three ways, and its curve |
# | [Exercise 1: per-tool limits](../exercises/student/01_limits.ipynb) | 25 | a limit for each tool, held exactly |
# | [01b Tokens and characters](01b_tokens_and_characters.ipynb) | 15 | what a token is, what a count is worth, what a limit costs |
# | [Exercise 2: token-aware truncation](../exercises/student/02_tokens.ipynb) | 35 | a cut that counts tokens, with the counter of the provider |
# | [02 Errors are observations](02_errors_are_observations.ipynb) | 20 | what the model reads when a tool fails, and what a limit leaves of it |
# | [Exercise 3: smarter error observations](../exercises/student/03_errors.ipynb) | 25 | the nearest name, the exception without its stack |
# | [Exercise 4: keep the return value](../exercises/student/04_transcript.ipynb) | 30 | a line per turn, and the sessions that stand out |
# | [03 Stopping](03_stopping.ipynb) | 40 | budgets, watchdog, `request_more_turns`: every limit met on purpose |
# | [04 Forgetting](04_forgetting.ipynb) | 25 | four rules and a summary: what is sent, what it costs, what is lost |
# | [05 Any session](05_any_session.ipynb) | 25 | recorded sessions: where they grow, what a cut hides, what another policy sends |
# | [Exercise 5: budget math](../exercises/student/05_budget.ipynb) | 40 | three curves of one session, and where they bend |
# | [Exercise 6: production reference](../exercises/student/06_production.ipynb) | 40 | one decision of a real agent, run and measured |
# | [06 How models behave](06_how_models_behave.ipynb) | 15 | four claims on recorded runs of real weights |
# | [07 Your own log](07_your_own_log.ipynb) | 30 | the capstone: a log that you bring, from its curve to a conclusion |
#
# About six and a half hours in all. With one hour, take 00, 01, exercise 1; with a log of your own, 05 and 07.
#
# ## 4. When something is not as it should be
#
# - A cell fails: *Kernel, Restart Kernel and Run All Cells*. Each notebook runs from top to bottom on its own.
# - In an exercise, `%check` says at once what holds, what was expected and where to look. Edit, run, check again.
# - `agentlab doctor` in a terminal says what is installed and what to do about the rest.
# - With a key, `import agentlab; agentlab.use_key()` asks for it and keeps it in the process. Nothing here needs one.
#
# Next: [01 Observation and continuation](01_observation_and_continuation.ipynb).
