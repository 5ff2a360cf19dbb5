"""nbval's notebook and cells, fed from a job instead of a file: nbval runs and compares, and each outcome is a line."""

from __future__ import annotations

import time
from collections import defaultdict
from queue import Empty
from typing import TYPE_CHECKING, Any

from nbformat import from_dict
from nbval.plugin import IPyNbCell, IPyNbFile, NbCellError  # type: ignore[import-untyped]

from agentlab.grading.job import Begun, Over, Ran
from agentlab.grading.kernels import GRACE, KernelEnded, OutputTooLong
from agentlab.grading.plan import VALUE, sanitizer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pytest

    from agentlab.grading.job import Job, Line
    from agentlab.grading.kernels import BoxedKernel
    from agentlab.grading.plan import Step

SUFFIX = ".submission"
"""Of the empty file that stands for a job: no other plugin collects it. Neither notebook nor answers lie on disk."""
MALFORMED = (AttributeError, KeyError, TypeError, ValueError, RecursionError)
"""What nbval raises where a kernel's message is not as it should be: a notebook can send any."""
LONGEST = 4_000
"""Characters kept of what a cell raised, and of a value that was compared."""


class Run:
    """A job under way, as a pytest plugin.

    Args:
        job: What runs.
        kernel: Where.
        say: Is told what happens.
    """

    def __init__(self, job: Job, kernel: BoxedKernel, say: Callable[[Line], None]) -> None:
        self.job = job
        self.kernel = kernel
        self.say = say
        self.ends_at = time.monotonic() + job.seconds
        self.over: Over | None = None

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
        """Collect the job."""
        if file_path.suffix != SUFFIX:
            return None
        collected: pytest.Collector = Submission.from_parent(parent, path=file_path)
        collected.run = self  # type: ignore[attr-defined]
        return collected

    def end(self, item: pytest.Item, how: str, reason: str) -> None:
        """Run no further cell."""
        self.over = Over(how, reason)
        item.session.shouldstop = reason


class Submission(IPyNbFile):  # type: ignore[misc]
    """A notebook whose cells are the steps of a job."""

    run: Run

    def setup(self) -> None:
        """Take the kernel that was started ahead, and drop all lines that are not ours before outputs are compared."""
        self.kernel = self.run.kernel
        self.sanitize_patterns = {sanitizer(self.run.job.nonce): ""}

    def teardown(self) -> None:
        """Nothing: the kernel ends after it was told how the run did, so that nobody waits for its end."""

    def collect(self) -> Iterator[pytest.Item]:
        """A cell for each step; markers in the student's text have no effect."""
        for index, step in enumerate(self.run.job.steps):
            outputs = [{"output_type": "stream", "name": "stdout", "text": step.expected}] if step.expected else []
            content = {
                "cell_type": "code",
                "source": step.code,
                "execution_count": 1,
                "outputs": outputs,
                "metadata": {},
            }
            cell: Any = from_dict(content)  # type: ignore[no-untyped-call]
            options = defaultdict(bool, check=step.kind == "check" and self.run.job.compare)
            item = SubmissionCell.from_parent(self, name=str(index), cell_num=index, cell=cell, options=options)
            item.step = step
            yield item


class SubmissionCell(IPyNbCell):  # type: ignore[misc]
    """A step: nbval runs it, and what it found is told."""

    step: Step

    def setup(self) -> None:
        """Nothing: after a timeout nbval would count what fails as expected."""

    def runtest(self) -> None:
        """Run the step."""
        run: Run = self.parent.run
        left = run.ends_at - time.monotonic()
        if left <= 0:
            run.end(self, "time", f"the notebook took more than {run.job.limits.notebook_seconds:g} s")
            return
        if not run.kernel.is_alive():
            run.end(self, "ended", "the kernel ended")
            return
        run.say(Begun(self.cell_num))
        limits = run.job.limits
        run.kernel.begin_cell(min(limits.setup_seconds if self.step.kind == "setup" else limits.cell_seconds, left))
        self.output_timeout = GRACE
        began = time.monotonic()
        problem: Exception | None = None
        try:
            super().runtest()
        except (NbCellError, KernelEnded, OutputTooLong, Empty, RuntimeError, *MALFORMED) as error:
            problem = error
        self._tell(run, problem, time.monotonic() - began)
        if any(isinstance(each, dict) and each.get("source") == "ask_exit" for each in _payload(run)):
            run.kernel.stop()  # `quit()` ends it a little later: in the midst of some other step, which is not to blame
        if not run.kernel.is_alive():
            run.end(self, "ended", str(problem) if isinstance(problem, KernelEnded) else "the kernel ended")

    def _tell(self, run: Run, problem: Exception | None, seconds: float) -> None:
        """Say what became of the step."""
        self.parent.timed_out, timed_out = False, self.parent.timed_out
        reply = run.kernel.reply
        raised = next((out for out in self.test_outputs or () if out.output_type == "error"), reply)
        status = str(reply.get("status", ""))
        ename, evalue = str(raised.get("ename", "")), str(raised.get("evalue", ""))
        ok = problem is None and status == "ok"
        if self.step.kind == "control":
            ok = status == "error" and ename == "AssertionError" and evalue == run.job.nonce
        # The reply came and its output did not arrive: a message so large that the connection was dropped.
        flooded = isinstance(problem, OutputTooLong) or (timed_out and bool(reply))
        cut_off = "output" if flooded else "time" if timed_out else ""
        ran = Ran(self.cell_num, ok, status, ename[:LONGEST], evalue[:LONGEST], cut_off, self._values(run), seconds)
        run.say(ran)

    def _values(self, run: Run) -> list[str]:
        """What a check showed."""
        if self.step.kind != "check":
            return []
        first = f"{VALUE} {run.job.nonce} "
        printed = "".join(str(out.get("text", "")) for out in self.test_outputs or () if out.get("name") == "stdout")
        longest = LONGEST if run.job.compare else None
        return [line.removeprefix(first)[:longest] for line in printed.split("\n") if line.startswith(first)]

    def compare_outputs(self, test: Any, ref: Any, skip_compare: Any = None) -> bool:
        """Compare standard output alone: what else a student's function prints or draws is no mistake."""
        streams = [out for out in test if out.output_type == "stream" and out.name == "stdout"]
        return bool(super().compare_outputs(streams, ref, skip_compare))

    def raise_cell_error(self, message: str, *args: Any, **kwargs: Any) -> None:
        """What nbval raises, without the cell's text, which nobody reads."""
        raise NbCellError(self.cell_num, message, "", *args, **kwargs)


def _payload(run: Run) -> list[Any]:
    """What the kernel asks of whoever shows the notebook."""
    payload = run.kernel.reply.get("payload")
    return payload if isinstance(payload, list) else []
