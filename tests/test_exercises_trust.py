"""`agentlab exercises answers`: what speaks against a check is said, and nothing else is."""

from __future__ import annotations

import json

import pytest

from agentlab.cli import main
from agentlab.errors import InputError
from agentlab.grading.building.build import build
from agentlab.grading.building.trust import distrust, papers
from agentlab.grading.exercise import read
from tests.grading_source import NAME, write_source

ONE_LETTER = """\
# Only the first letter.
# fails: one-word, any

# %% answer id="shout"
shout = str.title
"""
LOWER = """\
# The other way round.
# fails: one-word, any

# %% replace id="shout"
return text.upper()
### BY
return text.lower()
"""
ONE_WORD = """\
# Only one word.
# fails: any

# %% answer id="shout"
def shout(text):
    return text.split()[0].upper()
"""
BY_LETTER = """\
# Letter by letter.

# %% answer id="shout"
def shout(text):
    return "".join(map(str.upper, text))
"""
ANSWERS = {
    "wrong/07/title.py": ONE_LETTER,
    "wrong/07/lower.py": LOWER,
    "wrong/07/one.py": ONE_WORD,
    "right/07/letters.py": BY_LETTER,
    f"book/{NAME}.py": "# The book has it right.\n",
    f"book/{NAME}.json": json.dumps({"one-word": 1, "any": 2}),
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    root = tmp_path_factory.mktemp("built")
    build(write_source(root))
    return root


def course(built, tmp_path, **changed):
    """A copy of what was built, with answers; those that are changed to None are left out."""
    for name in ("source", "tests"):
        (tmp_path / name).symlink_to(built / name)
    for name, text in (ANSWERS | changed).items():
        if text is not None:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
    return tmp_path


def said_of(root):
    return list(distrust(root, read(root / "tests" / f"{NAME}.json")))


def test_answers_that_are_paid_what_they_are_owed_are_counted(built, tmp_path, capsys):
    root = course(built, tmp_path)
    assert main(["exercises", "answers", "07", "--root", str(root)]) == 0
    assert capsys.readouterr().out == f"{NAME}: 7 answers, each paid what it is owed\n"


def test_what_a_check_pays_too_much_or_too_little_is_said(built, tmp_path, capsys):
    passes = '# Right after all.\n# fails: any\n\n# %% answer id="shout"\nshout = str.upper\n'
    refused = '# Said to be right.\n\n# %% answer id="shout"\nshout = str.title\n'
    changed = {"wrong/07/passes.py": passes, "right/07/refused.py": refused}
    changed[f"book/{NAME}.json"] = json.dumps({"one-word": 0, "any": 2})
    root = course(built, tmp_path, **changed)
    assert main(["exercises", "answers", "--root", str(root)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"{NAME}: wrong/passes: any: paid 2, owed 0"
    assert lines[1].startswith(f"{NAME}: right/refused: one-word: paid 0, owed 1 (AssertionError: expected 'AHOY'")
    assert lines[2:] == [f"{NAME}: right/refused: any: paid 0, owed 2", f"{NAME}: book: one-word: paid 1, owed 0"]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"wrong/07/one.py": None}, "2 wrong answers for the step shout, and 3 are the fewest"),
        ({"wrong/07/none.py": "# Says nothing.\n"}, "wrong/none: names no check that it fails"),
        ({"right/07/letters.py": None}, "there is no unusual right answer in right/07"),
        ({f"book/{NAME}.py": None}, f"there is no {NAME}.py in book"),
        ({f"book/{NAME}.json": '{"one-word": 0.5, "any": 2}'}, f"{NAME}.json owes 0.5 for one-word: 0 or 1"),
    ],
)
def test_answers_that_are_missing_are_said(built, tmp_path, changed, said):
    assert f"{NAME}: {said}" in said_of(course(built, tmp_path, **changed))


def test_check_that_no_wrong_answer_fails_is_said(built, tmp_path):
    only = {name: text.replace("one-word, any", "any") for name, text in ANSWERS.items()}
    assert f"{NAME}: no wrong answer fails the check one-word: it may not be able to fail" in said_of(
        course(built, tmp_path, **only)
    )


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("wrong/07/a.py", "# A.\n# fails: nothing\n", "there is no check 'nothing': one of any, one-word"),
        ("wrong/07/a.py", '# %% answer id="shout"\nshout = 1\n', "says nothing of itself"),
        ("wrong/07/a.py", '# A.\n\n# %% answer id="cry"\n1\n', "there is no answer cell 'cry'"),
        ("wrong/07/a.py", '# A.\n\n# %% replace id="shout"\na\n### BY\nb\n', "is there 0 times in the cell 'shout'"),
        (f"book/{NAME}.json", "[]", "expected points by check"),
    ],
)
def test_answer_that_cannot_be_read_is_refused(built, tmp_path, name, text, said):
    with pytest.raises(InputError, match=said):
        papers(course(built, tmp_path, **{name: text}), read(built / "tests" / f"{NAME}.json"))
