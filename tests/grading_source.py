"""The source of a throwaway exercise that may be built: what the tests of the builder change, line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

NAME = "07_shout"

SOURCE = '''\
# ---
# jupyter:
#   agentlab:
#     number: 7
#     title: "Shout"
#     minutes: 5
#     tasks:
#     - {id: shout, title: "Shout"}
#     seams:
#     - agentlab.truncate.tail_cut
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Exercise 7: shout

# %% setup id="setup"
GREETING = "ahoy"

# %% [markdown]
# ## Step 1: shout
#
# Write a function that returns a text in capital letters.

# %% answer id="shout" task="shout"
def shout(text):
    """The text in capital letters."""
    ### BEGIN SOLUTION
    return text.upper()
    ### END SOLUTION

# %% check id="one-word" task="shout" points=1 name="a word" because="step 1" hint="there is a method of str"
found = shout(GREETING)
assert found == "AHOY", f"expected 'AHOY', found {found!r}: look at shout, step 1"

# %% check id="any" task="shout" points=2 name="any text" because="step 1" kind="output" \
hidden=true seeded=true hint="more than one word"
import random

drawn = random.Random(seed)
show(shout(" ".join(drawn.choice(["ahoy", "Land", "7"]) for _ in range(4))))

# %% [markdown]
# ## The package's version

# %% shown id="package"
str.upper
'''


def write_source(root: Path, *changes: tuple[str, str], name: str = NAME) -> Path:
    """Write the source into `root/source`, with some of its text replaced; returns its path."""
    text = SOURCE
    for old, new in changes:
        if text.count(old) != 1:
            raise ValueError(f"{old!r} is there {text.count(old)} times")
        text = text.replace(old, new)
    path = root / "source" / f"{name}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path
