"""Feedback for a student as a page, and the sentence that says how a grade came about."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentlab.grading.exercise import Exercise
    from agentlab.grading.result import Result


def stamp(sandbox: str, seed: str) -> str:
    """How a grade came about, as every report says it.

    >>> stamp("bwrap", "public")
    'Graded in a box (bubblewrap). Hidden inputs: the fixed public seed.'
    """
    boxed = "Graded in a box (bubblewrap)."
    if sandbox != "bwrap":
        boxed = "Graded WITHOUT a box (--sandbox limits): a notebook could read files and use the network."
    drawn = "the fixed public seed" if seed == "public" else f"drawn from the secret {seed}"
    return f"{boxed} Hidden inputs: {drawn}."


def page(result: Result, exercise: Exercise, *, who: str, file: str) -> str:
    """The feedback on a notebook as HTML: every text of the student's is escaped.

    Args:
        result: Its grade.
        exercise: Its exercise.
        who: The student.
        file: The notebook's name.
    """
    return str(
        _template().render(
            result=result,
            exercise=exercise,
            who=who,
            file=file,
            tasks={text.id: text.task for text in exercise.paragraphs},
            stamp=stamp(result.sandbox, result.seed),
        )
    )


@cache
def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("agentlab.grading"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["points"] = lambda value: f"{value:g}"
    return environment.get_template("feedback.html")


def file_name(who: str) -> str:
    """A name of a file or folder for a person: the same for the same person, different for two.

    >>> file_name("ada"), file_name("../ada").startswith("ada-")
    ('ada', True)
    """
    safe = re.sub(r"[^\w.@-]+", "-", who).strip(".-")[:80]
    return safe if safe == who else f"{safe or 'student'}-{hashlib.sha256(who.encode()).hexdigest()[:8]}"
