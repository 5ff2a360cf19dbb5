"""The course's exercises: built from their sources, provided with answers whose worth is known, graded, released.

All those answers go through the graders in `tests/course`, which takes minutes: `make test-course`.
"""

from __future__ import annotations

import json
import re

import pytest

from agentlab.cli import main
from agentlab.grading.building.build import orphans, stale
from agentlab.grading.building.trust import missing, papers
from tests.boxes import needs_box
from tests.course.handed_in import NAMES, course_papers, exercise, hand_in
from tests.course.ours import run
from tests.course.places import EXERCISES

SECRET = b"a secret of our own, not in use"


@pytest.mark.parametrize("name", NAMES)
def test_what_is_built_is_current_and_its_checks_hold(name):
    assert list(stale(EXERCISES / "source" / f"{name}.py")) == []


def test_nothing_is_built_of_a_source_that_is_gone():
    assert list(orphans(EXERCISES)) == []
    assert [name.split("_")[0] for name in NAMES] == [f"{number:02}" for number in range(1, len(NAMES) + 1)]


@pytest.mark.parametrize("name", NAMES)
def test_every_check_has_an_answer_that_it_rejects_and_every_step_three(name):
    assert list(missing(EXERCISES, exercise(name))) == []


@pytest.mark.parametrize("name", NAMES)
def test_book_is_owed_something_and_right_answers_everything(name):
    by_name = course_papers(name)
    full = {check.id: check.points for check in exercise(name).checks}
    assert 0 < sum(by_name["book"].owed.values()) <= sum(full.values())
    assert all(paper.owed == full for who, paper in by_name.items() if who.startswith(("right-", "solution")))
    assert len({json.dumps(paper.cells, sort_keys=True) for paper in papers(EXERCISES, exercise(name))}) == len(by_name)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """Solutions and untouched notebooks, graded twice under one secret and once without: the reports."""
    place = tmp_path_factory.mktemp("graded")
    for name in NAMES:
        for who in ("solution", "untouched"):
            student = EXERCISES / "student" / f"{name}.ipynb"
            hand_in(student, course_papers(name)[who].cells, place / "inbox" / f"{who}-{name}" / f"{name}.ipynb")
    (place / "secret").write_bytes(SECRET)
    said = {
        "first": run(place / "inbox", place / "first", "--secret", str(place / "secret")),
        "again": run(place / "inbox", place / "again", "--secret", str(place / "secret"), "--workers", "1"),
        "public": run(place / "inbox", place / "public"),
    }
    return said, {each: (place / each / "grades.json").read_text(encoding="utf-8") for each in said}


@needs_box
@pytest.mark.parametrize("seed", ["first", "public"])
def test_solution_has_all_points_and_an_untouched_notebook_none(graded, seed):
    handed = {each["id"]: each for each in json.loads(graded[1][seed])["submissions"]}
    for name in NAMES:
        marks = handed[f"solution-{name}"]["marks"]
        assert [mark["id"] for mark in marks if mark["earned"] < mark["points"]] == []
        assert sum(mark["earned"] for mark in marks) == sum(check.points for check in exercise(name).checks)
        assert [mark["id"] for mark in handed[f"untouched-{name}"]["marks"] if mark["earned"]] == []


@needs_box
def test_same_secret_gives_the_same_grades_and_no_secret_is_stamped(graded):
    said, reports = graded
    assert reports["first"] == reports["again"]
    assert json.loads(reports["public"])["seed"] == "public"
    assert re.fullmatch("[0-9a-f]{12}", json.loads(reports["first"])["seed"])
    assert "public seed" in said["public"]
    assert "public seed" not in said["first"]
    assert SECRET.decode() not in reports["first"] + said["first"]


def test_class_bundle_has_all_notebooks_and_no_answer(tmp_path, capsys):
    out = tmp_path / "class"
    assert main(["exercises", "release", "--root", str(EXERCISES), "--out", str(out)]) == 0
    names = [f"{name}.ipynb" for name in NAMES]
    assert sorted(str(path.relative_to(out)) for path in out.rglob("*")) == [
        "00_start_here.ipynb",
        *names,
        "requirements.txt",
    ]
    start = (out / "00_start_here.ipynb").read_text(encoding="utf-8")
    assert "pip install -r requirements.txt" in start
    assert all(name in start for name in names)
    assert re.search(r"^agentlab-observe==\d", (out / "requirements.txt").read_text(), re.MULTILINE)
    for name in NAMES:
        text = (out / f"{name}.ipynb").read_text(encoding="utf-8")
        cells = {cell["id"]: cell for cell in json.loads(text)["cells"]}
        of = exercise(name)
        assert not any(check.id in cells for check in of.checks if check.hidden)
        assert all("".join(cells[each.id]["source"]) == each.source for each in of.cells if each.kind == "answer")
        assert not any(cell.get("outputs") for cell in cells.values())
        assert "BEGIN SOLUTION" not in text
    assert main(["exercises", "release", "--root", str(EXERCISES), "--out", str(out)]) == 2
    assert "holds something already" in capsys.readouterr().err
