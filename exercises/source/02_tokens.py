# ---
# jupyter:
#   agentlab:
#     number: 2
#     title: "Token-aware truncation"
#     minutes: 35
#     tasks:
#     - {id: count, title: "Count tokens"}
#     - {id: provider, title: "The counter of the provider"}
#     - {id: cut, title: "Cut to tokens"}
#     - {id: loop, title: "The loop counts tokens"}
#     seams:
#     - agentlab.loop.agent_step
#     - agentlab.tokens.count_text
#     - agentlab.tokens.encode
#     - agentlab.truncate.cut
#     - agentlab.truncate.measure
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
# # Exercise 2: token-aware truncation
#
# *About 35 minutes. Offline, no key. Four steps, about 18 lines of your own.*
#
# A window is measured in tokens, a bill as well, and the loop counts characters. "Four characters are a token" is the
# usual excuse. You will see how far off it is, and write a cut that counts what is really paid for: with OpenAI's
# tokenizer where OpenAI answers, and with Anthropic's own counting endpoint where Claude does.
#
# The endpoint is a stand-in on this machine: it speaks the real protocol, and counts with a made-up tokenizer. So nothing
# here costs anything, and no figure of it is Claude's.
#
# Run the cells from the top. Where it is your turn, the text says **Step**; the cell below a step checks it. More checks
# run when your notebook is graded. To see where you stand, write `%load_ext agentlab` and below it `%check` into a new
# cell: that runs all the checks that you can see.

# %% setup id="setup"
from types import SimpleNamespace

from agentlab.grading.building.beside import beside
from agentlab.grading.building.pictures import lines_kept, plot_turns, run_session, survivors, turn_tokens
from agentlab.grading.building.probe import ActsAs, as_message, data, observations, only
from agentlab.policy import Limit
from agentlab.providers.anthropic import AnthropicProvider
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.testing import provider_server
from agentlab.tokens import encoding
from agentlab.tools import tool as described

SYSTEM = "Answer from what your tools show you."
server = provider_server(counter=lambda text: (len(text) + 2) // 3)  # a token for every three characters begun
server.__enter__()
claude = AnthropicProvider("claude-sonnet-4-5", base_url=server.url)
openai = SimpleNamespace(name="openai")
claude.count_tokens([{"role": "user", "content": "Are you there?"}])


# %% [markdown]
# ## Four kinds of text
#
# Each is 5,000 characters of what a tool may return. Which one has the most tokens, do you think?

# %% given id="texts"
FILES = {"prose": "transcripts/report.txt", "code": "observations/source.py", "log": "observations/build.log", "JSON": "observations/orders.json"}
TEXTS = {kind: data(name).read_text(encoding="utf-8")[:5_000] for kind, name in FILES.items()}
for kind, text in TEXTS.items():
    print(f"{kind:<6} {text[1200:1290]!r}")

# %% [markdown]
# ## Step 1: count tokens
#
# `ENCODING` is tiktoken's encoding `o200k_base`, which OpenAI's models since gpt-4o use; its `encode` turns a text into a
# list of token ids. Write a function that counts the tokens of a text. (Ids are never compared here, only their number.)

# %% given id="encoding"
ENCODING = encoding("o200k_base")
ENCODING.encode("tiktoken is great!")

# %% [markdown]
# One thing before you start. A log of a training run may well hold the text `<|endoftext|>`. To the tokenizer that is a
# special token, which `encode` by default refuses to read in a text:

# %% given id="book-special"
try:
    ENCODING.encode("step 400: wrote <|endoftext|>")
except ValueError as error:
    print(str(error)[:82], "...")

# %% [markdown]
# A loop that dies of what a tool returned is no good. Count such a text like any other.
#
# <details><summary>Hint</summary>
#
# The error's own text names the argument that helps, `disallowed_special`. There is also a method `encode_ordinary`.
#
# </details>

# %% answer id="count" task="count"
def count_openai(text):
    """How many tokens of o200k_base a text has."""
    ### BEGIN SOLUTION
    return len(ENCODING.encode_ordinary(text))
    ### END SOLUTION


# %% check id="counted" task="count" points=1 name="tokens are counted" because="step 1" hint="count_openai: the length of the list of ids"
found = [count_openai(text) for text in ("tiktoken is great!", "", "to be or not to be")]
assert found == [6, 0, 6], f"expected 6, 0 and 6 tokens, found {found}: look at count_openai, step 1"

# %% check id="special" task="count" points=1 name="a special token in a log is ordinary text" because="step 1" hint="count_openai: how does encode treat <|endoftext|>?"
try:
    found = count_openai("step 400: wrote <|endoftext|>")
except ValueError as error:
    found = f"a ValueError ({str(error)[:40]}...)"
assert found == 12, f"expected 12 tokens for a log line with <|endoftext|> in it, found {found}: look at the hint of step 1"

# %% check id="count-unseen" task="count" points=1 name="other texts are counted as well" because="step 1" kind="output" hidden=true seeded=true hint="count_openai must give the number of ids for every text, in any language"
import random

drawn = random.Random(seed)
words = "order kettle Ghent 4711 naïve 東京 éclair \n\t {} == return".split(" ")
show([count_openai(" ".join(drawn.choice(words) for _ in range(size))) for size in (1, 20, 300)])

# %% [markdown]
# How many characters does a token have in each kind of text, by your count?

# %% given id="per-kind"
{kind: round(len(text) / count_openai(text), 2) for kind, text in TEXTS.items()}

# %% [markdown]
# Characters per token. Four are about right for prose and code; of a log or of JSON a token is about two and a half.
# A limit of 4,000 characters may be 900 tokens or 1,700.
#
# ## Step 2: the counter of the provider
#
# Claude's tokenizer is not public. Who wants its count asks Anthropic: `claude.count_tokens(messages)` sends a request,
# calls no model, and returns a count whose number is `.n`. Write `counter_for(provider)`: it returns a *function* that
# counts the tokens of a text as this provider does. A provider says who it is in `provider.name`: `"anthropic"` or
# `"openai"`.

# %% given id="claude"
before = len(server.requests)
answer = claude.count_tokens([{"role": "user", "content": "tiktoken is great!"}])
print(answer.n, "tokens; requests sent:", [request.path for request in server.requests[before:]])

# %% [markdown]
# The count includes the message around the text, a few tokens. That is on the safe side, so leave it as it is.
#
# <details><summary>Hint</summary>
#
# A function that is returned may be a `lambda text: ...`, which uses `provider`. For OpenAI you have the function already.
#
# </details>

# %% answer id="counter" task="provider"
def counter_for(provider):
    """A function that counts the tokens of a text as this provider does."""
    ### BEGIN SOLUTION
    if provider.name == "anthropic":
        return lambda text: provider.count_tokens([{"role": "user", "content": text}]).n
    return count_openai
    ### END SOLUTION


# %% check id="right-counter" task="provider" points=1 name="each provider has its own counter" because="step 2" hint="counter_for: it returns a function, and asks the provider's endpoint only for Anthropic"
ours, theirs = counter_for(openai), counter_for(claude)
assert callable(ours) and callable(theirs), f"expected counter_for to return functions, found {type(ours).__name__} and {type(theirs).__name__}: step 2"
before = len(server.requests)
found = ours("tiktoken is great!")
assert (found, len(server.requests)) == (6, before), f"expected 6 tokens for OpenAI and no request, found {found} and {len(server.requests) - before} requests: step 2"
found = theirs("x" * 3_000)
assert len(server.requests) == before + 1, f"expected one request to Anthropic's endpoint, found {len(server.requests) - before}: look at provider.count_tokens, step 2"
assert 1_000 <= found <= 1_020, f"expected what the endpoint says, about 1,003 tokens, found {found}: step 2"

# %% check id="counter-asked" task="provider" points=2 name="the endpoint is asked, and its number is used" because="step 2" kind="output" hidden=true seeded=true hint="for Anthropic every count is a request to the provider that was given, and its number is the answer; for any other provider no request is sent"
import random

drawn = random.Random(seed)
texts = ["word " * drawn.randrange(100, 900) for _ in range(3)]
with provider_server(counter=lambda text: len(text) // 7) as other:
    theirs = counter_for(AnthropicProvider("claude-haiku-4-5", base_url=other.url))
    asked = [bool(len(text) // 7 <= theirs(text) <= len(text) // 7 + 10) for text in texts]
    paths = sorted({request.path for request in other.requests})
    sent = len(other.requests)
before = len(server.requests)
ours = [counter_for(openai)(text) for text in texts]
show([asked, paths, sent == 3, ours, len(server.requests) == before])

# %% [markdown]
# ## Step 3: cut to tokens
#
# Now the cut. Its limit is in tokens, and its counter is whichever fits. The first thing that comes to mind is to keep the
# cut that counts characters, and to give it four for each token. In tokens, a limit of 500 is then:

# %% given id="book-fours"
def by_fours(text, max_tokens):
    """A cut by characters, four for each token."""
    if len(text) <= 4 * max_tokens:
        return text
    front = 2 * max_tokens
    back = 4 * max_tokens - front - 60
    return f"{text[:front]}\n\n[...truncated: {len(text) - front - back} characters omitted...]\n\n{text[-back:]}"


{kind: count_openai(by_fours(text, 500)) for kind, text in TEXTS.items()}

# %% [markdown]
# Far more than the limit for the log and for JSON, and too little for prose: what fits depends on the text. Taking the
# first ids and decoding them does not help either: for Claude there are no ids, and what is decoded and put together
# again may have *more* tokens than its parts. So try, count, and try again. Write `cut_to_tokens`:
#
# - a text that fits comes back as it is,
# - what comes back never has more than `max_tokens` by `count`, your note included,
# - for limits of 100 and more it uses at least 90 % of them,
# - `count` is called 40 times at most, since each call may be a request. Texts may have 200,000 characters.
#
# <details><summary>Hint 1</summary>
#
# Which number are you looking for? How many *characters* to keep. Too many: not allowed. Too few: a waste. With each
# count you can throw away half of what is left, so 18 counts are enough for 200,000 characters.
#
# </details>
#
# <details><summary>Hint 2</summary>
#
# Keep `low` and `high`, and the best text so far. Try the number in the middle: build the whole text with its note, and
# count it. If it fits, remember it and raise `low`; if not, lower `high`.
#
# </details>

# %% answer id="cut" task="cut"
def cut_to_tokens(text, max_tokens, count):
    """The text, or what fits of it with a note; `count(text)` gives its tokens."""
    ### BEGIN SOLUTION
    if count(text) <= max_tokens:
        return text
    low, high, best = 0, len(text), ""
    while low <= high:
        keep = (low + high) // 2
        note = f"\n\n[...truncated: {len(text) - keep} characters omitted from the middle...]\n\n"
        tried = text[: keep - keep // 2] + note + text[len(text) - keep // 2 :]
        if count(tried) <= max_tokens:
            low, best = keep + 1, tried
        else:
            high = keep - 1
    return best
    ### END SOLUTION


# %% check id="fits" task="cut" points=1 name="500 tokens are never exceeded, and used" because="step 3" hint="cut_to_tokens: count the whole that you return, note included"
for kind, text in TEXTS.items():
    found = count_openai(cut_to_tokens(text, 500, count_openai))
    assert 450 <= found <= 500, f"expected 450 to 500 tokens of {kind} at a limit of 500, found {found}: look at cut_to_tokens, step 3"

# %% check id="fits-all" task="cut" points=2 name="the limit holds for other texts, limits and counters" because="step 3" kind="output" hidden=true seeded=true hint="try other limits, 0 as well, texts that fit already, emoji, and a counter that is not count_openai"
import random

drawn = random.Random(seed)
o200k = lambda text: len(encoding("o200k_base").encode_ordinary(text))
emoji = "".join(drawn.choice(["👩‍🚀 ", "naïve ", "東京都", "e\u0301", "x = 1\n"]) for _ in range(3_000))
said = []
for text in (*TEXTS.values(), emoji):
    for count in (o200k, lambda text: len(text.encode()) // 5 + 2):
        limit = drawn.randrange(120, 900)
        size = count(cut_to_tokens(text, limit, count))
        whole = count(text)
        said.append([bool(size <= limit), bool(size >= 0.9 * min(limit, whole))])
short = "to be or not to be"
said.append([cut_to_tokens(short, 6, o200k) == short, o200k(cut_to_tokens(short, 5, o200k)) <= 5])
said.append([o200k(cut_to_tokens(short, 0, o200k)) == 0])
show(said)

# %% check id="few-calls" task="cut" points=1 name="at most 40 counts for 200,000 characters" because="step 3" kind="output" hidden=true hint="halve what is left with each count: 18 are enough"
calls = []


def counting(text):
    calls.append(len(text))
    return len(encoding("o200k_base").encode_ordinary(text))


shown = cut_to_tokens(data("observations/services.yaml").read_text(encoding="utf-8"), 1_000, counting)
called = len(calls)
show([1 <= called <= 40, bool(900 <= counting(shown) <= 1_000)])

# %% [markdown]
# ## Step 4: the loop counts tokens
#
# The chapter's loop, which cuts to 4,000 characters. Change it so that it cuts to `MAX_OBSERVATION_TOKENS`, counted as the
# provider counts that it was given. You may also put your own `agent_step` from the book here.

# %% answer id="loop" task="loop"
MAX_ITERATIONS, MAX_OBSERVATION_CHARS, MAX_OBSERVATION_TOKENS = 10, 4000, 1000


def agent_step(user_message, messages, provider, system, on_text_delta=None):
    messages.append({"role": "user", "content": user_message})
    for _ in range(MAX_ITERATIONS):
        reply = provider.call(messages, system=system, tools=TOOLS, on_text_delta=on_text_delta)
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
            observation = cut_to_tokens(observation, MAX_OBSERVATION_TOKENS, counter_for(provider))
            ### STUB
            # observation = observation[:MAX_OBSERVATION_CHARS]  # step 4
            ### END SOLUTION
            messages.append({"role": "tool", "tool_call_id": each.id, "name": each.name, "content": observation})
    return "I stopped: too many iterations."


@described
def fetch(kind: str) -> str:
    """Return 5,000 characters of prose, code, log or JSON."""
    return TEXTS[kind]


TOOLS = [fetch]

# %% check id="loop-cuts" task="loop" points=1 name="the loop cuts to 1,000 tokens" because="step 4" hint="agent_step: the line that shortens an observation"
seen = observations(agent_step, call("fetch", kind="log"), call("fetch", kind="prose"), provider=ActsAs(openai, [call("fetch", kind="log"), call("fetch", kind="prose"), "Done."]))
found = [count_openai(text) for text in seen]
assert all(900 <= size <= 1_000 for size in found), f"expected 900 to 1,000 tokens of the log and of the prose, found {found}: look at the line that shortens an observation, step 4"

# %% check id="loop-counter" task="loop" points=2 name="the loop counts as its provider does" because="step 4" kind="output" hidden=true seeded=true hint="the counter must be that of the provider that agent_step was given: ask counter_for in the loop, not before"
import random

drawn = random.Random(seed)
big = " ".join(str(drawn.randrange(10**6)) for _ in range(4_000))


@described
def numbers() -> str:
    """Return numbers."""
    return big


with provider_server(counter=lambda text: len(text) // 6 + 1) as other, only(TOOLS, numbers):
    haiku = AnthropicProvider("claude-haiku-4-5", base_url=other.url)
    seen = observations(agent_step, call("numbers"), provider=ActsAs(haiku, [call("numbers"), "Done."]))[0]
    size, asked = len(seen) // 6 + 1, len(other.requests)
    ours = observations(agent_step, call("numbers"), provider=ActsAs(openai, [call("numbers"), "Done."]))[0]
ours = len(encoding("o200k_base").encode_ordinary(ours))
show([bool(890 <= size <= 1_000), 1 <= asked <= 40, bool(900 <= ours <= 1_000)])

# %% [markdown]
# ## What that changes
#
# The same session twice: each kind of text is fetched once. First in the package's loop with 4,000 characters for every
# result, then in yours with 1,000 tokens.

# %% given id="session"
STEPS = [step for kind in TEXTS for step in (call("fetch", kind=kind), f"That was {kind}.")]
QUESTIONS = [f"Fetch some {kind}." for kind in TEXTS]

characters = run_session(QUESTIONS, STEPS, TOOLS, Limit(4_000), system=SYSTEM)
tokens, model = [], ActsAs(openai, STEPS)
for question in QUESTIONS:
    agent_step(question, tokens, model, SYSTEM)
turns = turn_tokens({"4,000 characters": characters, "1,000 tokens, yours": tokens}, system=SYSTEM, tools=TOOLS)
plot_turns(turns, "Your session: prompt tokens per user turn")

# %% [markdown]
# Each turn sends two prompts, and all that came before. How different are the cuts themselves?

# %% given id="cuts"
print(f"{'':<8}{'4,000 characters':>18}{'1,000 tokens':>16}")
for kind, before, after in zip(TEXTS, *([m["content"] for m in each if m["role"] == "tool"] for each in (characters, tokens))):
    print(f"{kind:<8}{count_openai(before):>11,} tokens{len(after):>10,} chars.")

# %% [markdown]
# By characters, a log costs almost twice as much as prose. By tokens, all cost the same, and you see less than half of
# the log. Neither is wrong. The one bounds what is *shown*, the other what is *paid*.
#
# ### Middle or tail, at equal cost
#
# For each kind, at 500 tokens: how many of its lines are shown whole, if both ends are kept (`middle_snip`) or the head alone
# (`tail_cut`)?

# %% given id="lines"
lines_kept(TEXTS, dict.fromkeys(TEXTS, 500))

# %% [markdown]
# The number of lines hardly differs: both keep the same amount. What differs is *which*. Here are a line near the head, one
# in the middle and the last one of the log:

# %% given id="survive"
log = TEXTS["log"].splitlines()
survivors(TEXTS["log"], {"line 2": log[1], "the middle line": log[len(log) // 2], "the last line": log[-1]}, 500, unit="tokens")

# %% [markdown]
# ## The package's version
#
# All checks above have passed? Then compare. Right is the step of the package that finds how much fits; it knows no
# tokenizer, only something that measures.
#
# **One question to take with you:** yours halves an interval. The package's guesses, and shrinks its guess in proportion
# to how far it was over. Which needs fewer counts for a log, and why may neither just decode the first 1,000 ids?

# %% shown id="package"
beside(cut_to_tokens, "agentlab.truncate.cutting._Job._fit")
