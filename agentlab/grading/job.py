"""What the grader and the process that runs a submission tell each other: a job, and a line for all that happens."""

from __future__ import annotations

import msgspec

from agentlab.grading.box import Limits
from agentlab.grading.plan import Step

LISTENING = "jobs"
"""Name of the socket in the worker's private folder, on which it takes jobs."""


class Job(msgspec.Struct, frozen=True):
    """Steps to run in a fresh kernel.

    Attributes:
        nonce: The text that only this run has.
        steps: In order.
        seconds: Wall time that all of them may take together.
        limits: Of a cell.
        another: Whether a further kernel is worth starting ahead.
        compare: Whether what checks show is compared; not for a solution, whose values are what is wanted.
    """

    nonce: str
    steps: list[Step]
    seconds: float
    limits: Limits
    another: bool = False
    compare: bool = True


class Begun(msgspec.Struct, frozen=True, tag="begun"):
    """A step begins: should the kernel end now, it is the one to blame."""

    index: int


class Ran(msgspec.Struct, frozen=True, tag="ran"):
    """A step ran.

    Attributes:
        index: Of the step.
        ok: nbval found nothing wrong. For a control it is right to fail: True then.
        status: The kernel's reply: `ok`, `error`, or "" where none came.
        ename: Class of what was raised, or "".
        evalue: Its text.
        cut_off: `time` or `output`, where a limit stopped it.
        values: What a check showed, a line each, as it came.
        seconds: Wall time.
    """

    index: int
    ok: bool
    status: str = ""
    ename: str = ""
    evalue: str = ""
    cut_off: str = ""
    values: list[str] = []
    seconds: float = 0.0


class Over(msgspec.Struct, frozen=True, tag="over"):
    """The run is over.

    Attributes:
        how: `complete`; `ended`: the kernel is gone; `time`: no time is left; `no kernel`: none began;
            `no worker`: the process that starts them is gone.
        reason: Why, where it is not complete.
    """

    how: str
    reason: str = ""


Line = Begun | Ran | Over
