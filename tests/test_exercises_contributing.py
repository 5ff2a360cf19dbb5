"""What CONTRIBUTING says of adding an exercise, done literally in an empty folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.boxes import needs_box
from tests.course.places import ROOT

BLOCK = re.compile(r"(?:^`(?P<file>[^`\n]+)`:\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def followed(tmp_path_factory):
    """The folder in which a reader typed all files and gave all commands in order, and what each command said."""
    place = tmp_path_factory.mktemp("instructor")
    section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Add an exercise\n")[2]
    said = {}
    for block in BLOCK.finditer(section):
        if block["file"]:
            path = place / block["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block["text"], encoding="utf-8")
        elif block["kind"] == "bash":
            said |= {line: run(line, place) for line in block["text"].splitlines() if can_run(line)}
    return place, said


def can_run(line):
    """Whether there is what a command needs."""
    return not line.startswith("agentlab grade") or shutil.which("bwrap") is not None


def run(line, place):
    """Give a command; returns its exit code and what it printed."""
    words = [sys.executable, "-m", "agentlab", *line.split()[1:]]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(words, cwd=place, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + (done.stderr if done.returncode else "")


def test_all_commands_work_as_they_stand(followed):
    _, said = followed
    assert {line: text for line, (code, text) in said.items() if code} == {}
    assert said["agentlab exercises build 07"][1] == "07_shout: wrote 5 files\n"
    assert said["agentlab exercises answers 07"][1] == "07_shout: 7 answers, each paid what it is owed\n"
    assert said["agentlab exercises check 07"][1] == ""


def test_class_gets_the_new_exercise(followed):
    place, _ = followed
    names = sorted(path.name for path in (place / "class").iterdir())
    assert names == ["00_start_here.ipynb", "07_shout.ipynb", "requirements.txt"]


@needs_box
def test_untouched_notebook_is_graded_with_0_points(followed):
    _, said = followed
    _, text = next(said[line] for line in said if line.startswith("agentlab grade"))
    assert re.search(r"0\s+3\b", text), text


def test_every_file_that_the_text_names_is_there():
    section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("## Add an exercise\n")[2]
    named = {match["file"] for match in BLOCK.finditer(section) if match["file"]}
    assert {Path(each).parts[1] for each in named} == {"source", "wrong", "right", "book"}
    assert len(named) == 7
