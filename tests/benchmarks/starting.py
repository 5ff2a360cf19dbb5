"""What people feel first: an import, `agentlab --help`, the first cell of a notebook, the first picture."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .rounds import ROOT, BenchError, Values, environment

if TYPE_CHECKING:
    from collections.abc import Sequence

_IMPORT = """
import os, sys, resource
before = resource.getrusage(resource.RUSAGE_SELF)
{statement}
after = resource.getrusage(resource.RUSAGE_SELF)
ms = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3
pages = int(open("/proc/self/statm").read().split()[1]) if os.path.exists("/proc/self/statm") else 0
print(ms, (pages * os.sysconf("SC_PAGE_SIZE") or after.ru_maxrss * (1 if sys.platform == "darwin" else 1024)) / 2**20)
"""
FIRST_CELL = """
from agentlab.loop import agent_step
from agentlab.providers.offline import OfflineModel
messages = []
agent_step("What time is it?", messages, OfflineModel(), "Be brief.")
"""
PLOTTING = """
import pandas, matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot
pyplot.plot([1, 2, 3])
pyplot.savefig({path!r})
"""


def imported(statement: str, python: str | Path = sys.executable) -> Values:
    """CPU milliseconds of an import statement, beside a Python that has started, and megabytes of the process then."""
    done = _run([str(python), "-c", _IMPORT.format(statement=statement)])
    ms, megabytes = map(float, done.stdout.split()[-2:])
    return {"ms": ms, "MB": megabytes}


def command(*arguments: str) -> Values:
    """Seconds of a whole process: on the wall, and of the CPU."""
    before, started = os.times(), time.perf_counter()
    _run([sys.executable, *arguments])
    seconds, after = time.perf_counter() - started, os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return {"wall": seconds, "cpu": used}


def first_picture() -> Values:
    """`agentlab demo` in an environment that is installed."""
    with tempfile.TemporaryDirectory() as folder:
        taken = command("-m", "agentlab", "demo", "--out", f"{folder}/demo")
        if not list(Path(folder, "demo").glob("*.png")):
            raise BenchError("agentlab demo wrote no picture")
        return taken


def plotting_alone() -> Values:
    """A process that imports pandas and matplotlib and saves a line."""
    with tempfile.TemporaryDirectory() as folder:
        return command("-c", PLOTTING.format(path=f"{folder}/line.png"))


def cell(code: str) -> Values:
    """Seconds on the wall from asking for a kernel to the end of its first cell."""
    from jupyter_client.manager import KernelManager

    started = time.perf_counter()
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client = manager.client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=120)
        reply = client.execute_interactive(code, output_hook=lambda _message: None, timeout=120)
        seconds = time.perf_counter() - started
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    if reply["content"]["status"] != "ok":
        raise BenchError(f"the first cell failed: {reply['content'].get('evalue', '')}")
    return {"wall": seconds}


def clone_to_picture() -> Values:
    """Seconds on the wall of a clone, of a new environment with all dependencies, and of the demo in it."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder, "clone")
        times = [time.perf_counter()]
        for step in (
            ["git", "clone", "--quiet", str(ROOT), str(clone)],
            ["make", "--no-print-directory", ".venv/.ready"],
            [".venv/bin/agentlab", "demo"],
        ):
            _run(step, cwd=clone if clone.exists() else Path(folder))
            times.append(time.perf_counter())
        return {"clone": times[1] - times[0], "install": times[2] - times[1], "demo": times[3] - times[2]}


def _run(step: Sequence[str], cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(step, cwd=cwd, env=environment(), capture_output=True, text=True, timeout=1800, check=False)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise BenchError(f"{' '.join(step)[:80]}: {last}")
    return done
