"""Every answer whose worth is known, through both graders: false passes 0, false failures 0. Run by `make test-course`.

Under pytest's usual names these would be part of the suite, which they would double.
"""

from __future__ import annotations

import pytest

from agentlab.grading.building.trust import disputed
from tests.boxes import needs_box
from tests.course import ours, theirs
from tests.course.handed_in import NAMES, course_papers, their_papers
from tests.course.places import READY

needs_nbgrader = pytest.mark.skipif(
    not READY.is_file(), reason="NOT TRIED IN NBGRADER: it is not installed; `python -m tests.course` does that"
)


@pytest.fixture(scope="module")
def paid_by_us(tmp_path_factory):
    """Points by check, by student, by exercise, in `agentlab grade`."""
    return ours.grade(NAMES, tmp_path_factory.mktemp("ours"))


@pytest.fixture(scope="module")
def paid_by_nbgrader(tmp_path_factory):
    """The same in nbgrader."""
    return theirs.grade(NAMES, tmp_path_factory.mktemp("theirs"))


def said_of(found, paid):
    """What was paid otherwise than it is owed, a line each."""
    assert {who: sorted(points) for who, points in paid.items()} == {who: sorted(p.owed) for who, p in found.items()}
    return [f"{who}: {line}" for who, paper in found.items() for line in disputed(paper, paid[who])]


@needs_box
@pytest.mark.parametrize("name", NAMES)
def test_our_grader_pays_every_answer_what_it_is_owed(paid_by_us, name):
    assert said_of(course_papers(name), paid_by_us[name]) == []


@needs_nbgrader
@pytest.mark.parametrize("name", NAMES)
def test_nbgrader_pays_every_answer_what_it_is_owed(paid_by_nbgrader, name):
    assert said_of(their_papers(name), paid_by_nbgrader[name]) == []
