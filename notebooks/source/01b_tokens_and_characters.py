# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Tokens and characters
#
# A limit in characters is easy to state and easy to hold. But a model's window, and the bill, are in tokens. How far are
# the two apart? It takes about 15 minutes to see
#
# 1. what a token is, and that it depends on the tokenizer,
# 2. how many characters a token has in prose, code, logs, JSON and in languages other than English,
# 3. which counts are exact, which are estimates, and how far an estimate is off,
# 4. what a message costs besides its text,
# 5. what a limit in characters costs in tokens, and the other way round.
#
# No model is asked. All counts are made on this machine by OpenAI's public tokenizers, offline.

# %% [markdown]
# ## 1. What is a token?
#
# A tokenizer splits a text into pieces of a fixed list, and gives each piece's number. A model reads the numbers. Here are
# the pieces.

# %% tags=["nbval-check-output"]
from agentlab.tokens import encode, encoding


def pieces(text, name="o200k_base"):
    return [encoding(name).decode([number]) for number in encode(text, name)]


examples = "The build failed.", "src/engine_route.c:218:17: error"
examples += "9f86d081884c7d65", "        return None"
for text in examples:
    print(f"{len(text):>3} characters, {len(pieces(text)):>2} tokens:  {'|'.join(pieces(text))}")

# %% [markdown]
# Common words are one piece, with the space before them. So is a run of spaces: indentation is cheap. A hexadecimal
# number is in no list of common pieces, so it falls into many small ones.
#
# The list is the tokenizer's. `o200k_base` has about 200,000 pieces and is that of GPT-4o and what came after it,
# `cl100k_base` has half as many and is that of GPT-4. The same text, the same characters, other numbers:

# %% tags=["nbval-check-output"]
text = "Die Datei wurde nicht gefunden."
for name in ("o200k_base", "cl100k_base"):
    print(f"{name:<12} {len(pieces(text, name)):>2} tokens:  {'|'.join(pieces(text, name))}")

# %% [markdown]
# ## 2. Characters per token, by kind of text
#
# "Four characters are a token" is a rule of thumb. For which text? First some prose, of the kind that a document has.

# %%
PROSE = """The night train was late again, and nobody on the platform seemed to mind. An old man shared
his bread with the birds, a child counted the lamps along the track, and the woman beside her read a
letter for the third time. When the lights finally came round the bend, everybody stood up at once, as
if a bell had rung. There was room enough in the last carriage. By the time the conductor came through
with his lantern, the child was asleep, the letter lay folded on the seat, and the river had turned
from black to silver outside the window. He looked at the tickets and went on without a word. """
f"{len(PROSE):,} characters, {len(PROSE.split())} words"

# %% [markdown]
# Then the kinds of text that tools return, from the example files, and two that an agent meets when it looks into the
# wrong file. The prose is repeated, to be as long as they are.

# %%
import base64
from pathlib import Path
from random import Random

DATA = Path("../data/observations")
files = {"Python": "source.py", "build log": "build.log", "JSON": "orders.json"}
files |= {"YAML": "services.yaml", "HTTP and HTML": "response.http"}
texts = {"prose, English": PROSE * 20}
texts |= {kind: (DATA / file).read_text(encoding="utf-8") for kind, file in files.items()}
noise = Random(7).randbytes(6_000)
texts |= {"base64": base64.b64encode(noise).decode(), "hexadecimal": noise.hex()}
{kind: f"{len(text):,} characters" for kind, text in texts.items()}

# %% [markdown]
# Count each with both tokenizers.

# %% tags=["nbval-check-output"]
import pandas as pd

from agentlab.tokens import count_text

NAMES = ("o200k_base", "cl100k_base")


def per_token(texts):
    def row(text):
        return [len(text) / count_text(text, name).n for name in NAMES]

    rows = {kind: row(text) for kind, text in texts.items()}
    return pd.DataFrame.from_dict(rows, orient="index", columns=NAMES)


kinds = per_token(texts)
print(kinds.round(1).to_string())

# %% [markdown]
# As a picture, with the rule of thumb as a line. Left of it, the rule promises fewer tokens than there are.

# %%
def draw(frame):
    look = {"color": ["#0072B2", "#E69F00"], "figsize": (8, 3.6), "width": 0.8}
    axes = frame.iloc[::-1].plot.barh(xlabel="characters per token (counted)", **look)
    axes.axvline(4, color="#777777", linestyle="--")
    axes.text(4.05, -0.45, "four", color="#777777")
    return axes


_ = draw(kinds)

# %% [markdown]
# Prose has more than four characters per token, and everything else here has fewer. Logs and JSON, of which an agent reads
# much, have less than three: numbers, paths and punctuation are many small pieces. In these files the two tokenizers
# hardly differ. They do in other languages. One sentence, eight times:

# %% tags=["nbval-check-output"]
sentences = {
    "English": "The file was not found. Look for it in the folder above.",
    "German": "Die Datei wurde nicht gefunden. Suche sie im Ordner darüber.",
    "Greek": "Το αρχείο δεν βρέθηκε. Ψάξε το στον φάκελο από πάνω.",
    "Russian": "Файл не найден. Поищи его в папке выше.",
    "Arabic": "لم يتم العثور على الملف. ابحث عنه في المجلد الأعلى.",
    "Hindi": "फ़ाइल नहीं मिली। इसे ऊपर वाले फ़ोल्डर में खोजें।",
    "Chinese": "找不到文件。请在上一级文件夹中查找。",
    "Japanese": "ファイルが見つかりません。上のフォルダーで探してください。",
}
print(f"{len(sentences)} languages")

# %% [markdown]
# Characters, and tokens by both tokenizers:

# %% tags=["nbval-check-output"]
print(f"{'':<9} characters  o200k  cl100k")
for language, text in sentences.items():
    print(f"{language:<9} {len(text):>10}", *(f"{count_text(text, name).n:>6}" for name in NAMES))

# %% [markdown]
# The newer tokenizer has pieces for more languages: with the older one the same sentence in Hindi takes three times as many
# tokens. And a character of Chinese is not a quarter of a token but nearly a whole one. One sentence per language is an
# example and no measurement of a language.

# %% [markdown]
# ## 3. Exact, or an estimate?
#
# A count is worth what its source is worth. A count here says which it is: `exact`, and the `method`. Where it is printed,
# an estimate carries ≈.

# %% tags=["nbval-check-output"]
log = texts["build log"]
for model in ("gpt-4o", "gpt-4", "claude-sonnet-4-5", "a-model-that-nobody-knows"):
    count = count_text(log, model)
    print(f"{model:<26} {count!s:>7}  exact: {count.exact!s:<6} {count.method}")

# %% [markdown]
# OpenAI publishes its tokenizers, so these counts are exact: the same numbers that the model reads. Claude's is not
# public. Its counts are those of `o200k_base` times a factor, which somebody measured on some texts on some day; your text
# is another one. The only exact count of a request to Claude is what the provider says: before the call by its counting
# endpoint, after it in `usage`.
#
# And the rule of thumb? It needs no tokenizer and reads nothing, which is why the loop uses it between two replies. This is
# how far it is off:

# %% tags=["nbval-check-output"]
from agentlab.tokens import estimate_text

for kind, text in texts.items():
    estimate, exact = estimate_text(text), count_text(text)
    print(f"{kind:<16} {estimate!s:>8} where there are {exact!s:>7}  {estimate.n / exact.n - 1:+.0%}")

# %% [markdown]
# The sign is what matters. For prose the estimate is too high, and a budget by it is on the safe side. For all
# the rest it is too low, by a third for the logs and by more than half for random bytes: a prompt that "fits" does not. There is a bound that is always
# safe for these tokenizers, the number of bytes in UTF-8. It is a poor estimate.

# %% [markdown]
# ## 4. What a message costs besides its text
#
# A request is not a text but messages with roles, and each is wrapped. For some of OpenAI's models there are formulas that
# OpenAI published and checked against its own service.

# %% tags=["nbval-check-output"]
from agentlab.tokens import count_messages

for words in ("Hi", "word " * 1_000):
    alone = count_text(words, "gpt-4o")
    sent = count_messages([{"role": "user", "content": words}], "gpt-4o")
    print(f"text {alone.n:>5}, as a message {sent.n:>5}: {sent.n - alone.n} more, exact: {sent.exact}")

# %% [markdown]
# A few tokens a message: nothing beside a long result, most of a short one. Tools weigh more. Their names, descriptions
# and schemas are sent with *every* call, whether one is used or not.

# %% tags=["nbval-check-output"]
from agentlab.builtin_tools import workspace_tools
from agentlab.tokens import count_tools

tools = workspace_tools(DATA)
for some in (tools[:1], tools):
    count = count_tools(some, "gpt-4o")
    print(*(each.name for each in some), f"| {count} tokens with every call; exact: {count.exact}")

# %% [markdown]
# For tool calls and results nobody published a formula, so a count of an agent's history is an estimate even where every
# text in it is counted exactly. That is why the curves of notebook 01 say *measured* only where a provider reported usage.

# %% [markdown]
# ## 5. Special tokens in a text
#
# A tokenizer has pieces that mean something to the model, such as the end of a document. What if a *log* contains these
# characters? The library refuses, unless it is told what to do.

# %% tags=["nbval-check-output"]
line = "worker 3 said <|endoftext|> and went on"
try:
    encoding().encode(line)
except ValueError as error:
    print("ValueError:", str(error).splitlines()[0])
print("as a special piece:", len(encoding().encode(line, allowed_special="all")), "tokens")
print("as ordinary text:  ", len(encode(line)), "tokens:", "|".join(pieces(line)))

# %% [markdown]
# An observation is data and never a command, so the package counts it as the ordinary text that it is. A counter that
# raises would end a run because of what somebody else's log contained; one that lets special pieces through counts too few.

# %% [markdown]
# ## 6. What does a limit of 4,000 characters cost?
#
# That depends on what was cut. Each file at 4,000 characters, and each at 1,000 tokens, which "is the same":

# %% tags=["nbval-check-output"]
from agentlab.truncate import cut

print(f"{'':<16}{'4,000 characters':>18}{'1,000 tokens':>24}")
for kind, text in texts.items():
    by_characters, by_tokens = cut(text, 4_000).text, cut(text, 1_000, unit="tokens").text
    tokens, characters = count_text(by_characters).n, len(by_tokens)
    print(f"{kind:<16}{tokens:>11,} tokens{characters:>17,} characters")

# %% [markdown]
# The same limit costs between 900 and 2,700 tokens. A limit in tokens costs what it says, and keeps between 1,500 and
# 4,400 characters. Which one should it be? Characters need no tokenizer, are the same for every
# model, and are what a person can check. Tokens are what the window has. Whichever you take, say the unit.
#
# One more trap: tokens do not add up. A cut makes new neighbours, and pieces are found anew.

# %% tags=["nbval-check-output"]
parts = ("un", "believ", "able")
sum(len(encode(part)) for part in parts), len(encode("".join(parts)))

# %% [markdown]
# So a cut in tokens has to count **the whole** result, marker included, and not head, marker and tail one by one. That is
# step by step what exercise 2 asks of you. The package's answer holds its limit for any text: here are a thousand random
# pieces of the files, each cut at a random limit.

# %% tags=["nbval-check-output"]
chance = Random(1)
over = 0
for _ in range(1_000):
    text = chance.choice(list(texts.values()))
    start, limit = chance.randrange(len(text)), chance.randrange(1, 300)
    over += count_text(cut(text[start : start + 2_000], limit, unit="tokens").text).n > limit
f"{over} of 1,000 cuts are over their limit"

# %% [markdown]
# See for yourself: `CutExplorer` cuts any text while you drag the limit, in characters or tokens, two strategies side by
# side. Open the gap to read what the model would not. Then choose another file and keep the limit.

# %%
from agentlab.widgets import CutExplorer

CutExplorer(DATA, unit="tokens", limit=400)

# %% [markdown]
# ## 7. What holds
#
# | claim | verdict | where |
# |---|---|---|
# | Four characters are a token | holds for English prose, roughly; too low a count for logs, JSON, code, other languages | section 2 |
# | A token is a token | does not hold: another tokenizer, other counts; in Hindi by a factor of three | section 2 |
# | A count for Claude can be made offline | an estimate can, and it has to say so | section 3 |
# | Counting the texts counts the request | does not hold: messages and tools are wrapped | section 4 |
# | Any text can be counted | holds if special tokens are taken as ordinary text | section 5 |
# | A limit of 4,000 characters is one of 1,000 tokens | does not hold: from 900 to 2,700 here | section 6 |
#
# ## Three questions for you
#
# 1. Count a file of yours that an agent would read: `count_text(Path("...").read_text())`. Which of the kinds above is it
#    like, and how far is the rule of thumb off?
# 2. Your window has 8,000 tokens and your tool returns JSON. You may only set limits in characters. Which one do you set
#    for three results in one turn, and what do you leave for the rest?
# 3. A log that was written with `ensure_ascii=True` has `\u00fc` for ü. What does that cost, and who pays?
#
# Next: [Exercise 2: token-aware truncation](../exercises/student/02_tokens.ipynb).
