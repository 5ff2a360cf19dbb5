"""Every attack on the grader runs against a real box, and earns what its honest part is worth."""

from __future__ import annotations

import os
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agentlab.grading.box import Limits
from agentlab.grading.engine import Engine
from agentlab.grading.grader import grade
from agentlab.grading.submission import parse
from tests.boxes import needs_box
from tests.grading_attacks import ATTACKS, LEAKS, leaking
from tests.grading_class import ALL, EXERCISE, notebook, solved, write_exercise

LIMITS = Limits(cell_seconds=2.0, notebook_seconds=40.0, memory=2**30)

pytestmark = needs_box


@pytest.fixture(scope="module")
def port():
    """A port of this machine that somebody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture(scope="module")
def verdicts(port, tmp_path_factory):
    """All attacks, and what can be reached, graded four at a time, as a class would be."""
    contents = {name: attack.content for name, attack in ATTACKS.items()}
    answers = write_exercise(tmp_path_factory.mktemp("answers"))
    contents["honest, at the end"] = solved()
    with Engine(sandbox="bwrap", limits=LIMITS, masked=[answers], ahead=2) as engine, ThreadPoolExecutor(4) as pool:
        leaks = pool.submit(grade, leaking(port), parse(notebook([])), engine, another=True)
        graded = pool.map(lambda content: grade(EXERCISE, parse(content), engine, another=True), contents.values())
        yield dict(zip(contents, graded, strict=True)) | {"leaks": leaks.result()}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_earns_what_its_honest_part_is_worth(verdicts, name):
    result = verdicts[name]
    earned = tuple(mark.earned for mark in result.marks)
    assert earned == ATTACKS[name].earned, result
    assert ATTACKS[name].said in "\n".join(result.problems), result.problems


def test_box_shows_nothing_and_gives_nothing(verdicts):
    assert {mark.id: mark.feedback for mark in verdicts["leaks"].marks if not mark.earned} == {}
    assert len(verdicts["leaks"].marks) == len(LEAKS)


def test_honest_notebook_after_all_attacks_is_paid(verdicts):
    assert verdicts["honest, at the end"].earned == ALL
    assert verdicts["honest, at the end"].problems == []


def test_hidden_checks_tell_the_hint_alone(verdicts):
    hidden = [mark for result in verdicts.values() for mark in result.marks if mark.hidden and not mark.earned]
    assert len(hidden) > 30
    assert {mark.feedback for mark in hidden} <= {"Hint: Negative numbers too.", "Hint: An empty text."}


def test_nothing_is_left_behind(verdicts):
    places = (Path("/usr"), Path("/etc"), Path("/dev"), Path("/tmp"), Path(os.__file__).parent)
    assert [place for place in places if (place / "agentlab-leak").exists()] == []
