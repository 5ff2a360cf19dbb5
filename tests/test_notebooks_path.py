"""The path through notebooks and exercises: it leads somewhere, takes the minutes that it says, and leaves none out."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = ROOT / "notebooks"
START = NOTEBOOKS / "00_start_here.ipynb"
ALL = [*sorted(NOTEBOOKS.glob("*.ipynb")), *sorted((ROOT / "exercises" / "student").glob("*.ipynb"))]
ROW = re.compile(r"^\| \[[^]]+\]\(([^)]+)\) \| (\d+) \| \S.* \|$", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[[^]]+\]\(([^)\s]+)\)")
HEAD = re.compile(r"\babout (\d+) minutes", re.IGNORECASE)
README_ROW = re.compile(r"^\|[^|]*?([\w/]*\d\d\w?_\w+)(?:\.ipynb)?[^|]*\| (\d+) \|", re.MULTILINE)


def texts_of(path: Path) -> list[str]:
    """Its cells of text, code in them left out: what stands in a fence is no link."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    return [re.sub(r"`[^`]*`", "", re.sub(r"```.*?```", "", text, flags=re.DOTALL)) for text in texts]


def rows() -> list[tuple[str, int]]:
    return [(target, int(minutes)) for target, minutes in ROW.findall("\n".join(texts_of(START)))]


def place(target: str) -> Path:
    return (NOTEBOOKS / unquote(target)).resolve()


def minutes_in_head(path: Path) -> int:
    found = HEAD.search(" ".join(texts_of(path)[:2]).replace("\n", " "))
    assert found, f"{path.name} does not say in its head how many minutes it takes"
    return int(found[1])


@pytest.mark.parametrize(("target", "minutes"), rows(), ids=lambda value: Path(str(value)).stem)
def test_a_row_leads_to_a_notebook_that_says_the_same_minutes(target: str, minutes: int) -> None:
    assert minutes_in_head(place(target)) == minutes


def test_every_notebook_and_every_exercise_is_in_it_once() -> None:
    targets = [place(target) for target, _ in rows()]
    assert len(targets) == len(set(targets))
    assert set(ALL) <= set(targets)


def test_each_exercise_comes_after_the_notebook_it_needs() -> None:
    order = [Path(target).stem for target, _ in rows()]
    assert order[:2] == ["00_start_here", "01_observation_and_continuation"]
    assert order[-1] == "07_your_own_log"
    pairs = [
        ("01_observation_and_continuation", "01_limits"),
        ("01b_tokens_and_characters", "02_tokens"),
        ("02_errors_are_observations", "03_errors"),
        ("05_any_session", "05_budget"),
        ("04_forgetting", "06_production"),
    ]
    for before, after in pairs:
        assert order.index(before) < order.index(after)


def test_the_sum_is_what_the_text_says() -> None:
    assert round(sum(minutes for _, minutes in rows()) / 30) / 2 == 6.5
    assert "About six and a half hours in all." in "\n".join(texts_of(START))


def test_the_readme_says_the_same_minutes() -> None:
    said = {Path(name).stem: int(minutes) for name, minutes in README_ROW.findall((ROOT / "README.md").read_text())}
    path = {Path(target).stem: minutes for target, minutes in rows()}
    assert "01_observation_and_continuation" in said
    assert {name: minutes for name, minutes in said.items() if path.get(name) != minutes} == {}


@pytest.mark.parametrize("path", ALL, ids=lambda path: path.stem)
def test_its_links_lead_to_files(path: Path) -> None:
    for target in LINK.findall("\n".join(texts_of(path))):
        if "://" in target or target.startswith("#"):
            continue
        wanted = (path.parent / unquote(target.partition("#")[0])).resolve()
        assert wanted.exists(), target


def test_code_in_a_text_is_no_link(tmp_path: Path) -> None:
    cell = {"cell_type": "markdown", "source": ["`each[0](x)` and\n", "```\nf[1](y)\n```\n", "[a](b.md)"]}
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": [cell]}))
    assert LINK.findall("\n".join(texts_of(tmp_path / "a.ipynb"))) == ["b.md"]
