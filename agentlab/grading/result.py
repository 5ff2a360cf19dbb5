"""The grade of a notebook: a mark for each check, the texts that a person marks, how it came about."""

from __future__ import annotations

import hashlib
import hmac

import msgspec

from agentlab.grading.exercise import PUBLIC_SECRET


class Mark(msgspec.Struct, frozen=True):
    """What a check earned.

    Attributes:
        id: Of the check.
        task: Of its task.
        name: What it checks.
        hidden: It is not in the student's notebook.
        points: What it is worth.
        earned: What it earned: all or nothing.
        feedback: Where it earned nothing, what was expected, what came, where to look. For a hidden check, the hint.
        reason: The same of a hidden check, for the instructor alone: it may tell what the check is.
    """

    id: str
    task: str
    name: str
    hidden: bool
    points: float
    earned: float
    feedback: str = ""
    reason: str = ""


class Text(msgspec.Struct, frozen=True):
    """A paragraph that waits for a person, or was marked by one.

    Attributes:
        id: Of the paragraph.
        name: What it is.
        points: The most that it can earn.
        text: What the student wrote.
        earned: What a person gave; None before that.
        comment: What the person said of it.
    """

    id: str
    name: str
    points: float
    text: str
    earned: float | None = None
    comment: str = ""


class Result(msgspec.Struct, frozen=True):
    """The grade of a notebook.

    Attributes:
        exercise: Name of its exercise.
        digest: Of the notebook.
        sandbox: `bwrap`; or `limits`, where nothing was boxed.
        seed: `public`, or the fingerprint of the secret that drew the hidden inputs.
        marks: A mark for each check.
        texts: Paragraphs for a person.
        problems: What else the student and the instructor should know.
        seconds: Wall time of its cells; the one field that differs between two runs.
    """

    exercise: str
    digest: str
    sandbox: str
    seed: str
    marks: list[Mark]
    texts: list[Text]
    problems: list[str]
    seconds: float = 0.0

    @property
    def earned(self) -> float:
        """All points, those of a person included where there are some."""
        return sum(mark.earned for mark in self.marks) + sum(text.earned or 0.0 for text in self.texts)

    @property
    def points(self) -> float:
        """All points that could be had."""
        return sum(mark.points for mark in self.marks) + sum(text.points for text in self.texts)


def fingerprint(secret: bytes) -> str:
    """Names a secret without telling it: `public` for the fixed seed.

    >>> fingerprint(PUBLIC_SECRET), len(fingerprint(b"ours"))
    ('public', 12)
    """
    if secret == PUBLIC_SECRET:
        return "public"
    return hmac.new(secret, b"agentlab fingerprint", hashlib.sha256).hexdigest()[:12]
