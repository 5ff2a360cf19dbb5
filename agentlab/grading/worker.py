"""The process that runs submissions: it imports nbval once, and forks a child for each, which starts its kernel ahead.

It is single-threaded, so that forking is safe, and works for graders with any number of threads. Children take jobs
from a socket that all listen on. It ends, with all its children, when its standard input ends.
"""

from __future__ import annotations

import ctypes
import gc
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from agentlab.grading.box import Limits, Sandbox
from agentlab.grading.box_trial import user_of_kernel
from agentlab.grading.job import LISTENING, Job, Over
from agentlab.grading.kernels import BoxedKernel, KernelEnded, register
from agentlab.grading.nbval_cells import SUFFIX, Run

if TYPE_CHECKING:
    from agentlab.grading.job import Line

PR_SET_PDEATHSIG = 1
UNUSED = ("cacheprovider", "doctest", "junitxml", "logging", "pastebin", "stepwise", "unraisableexception", "unittest")
"""Plugins of pytest that no job needs; each takes a few milliseconds of every job."""


class Setting(msgspec.Struct, frozen=True):
    """What a worker needs to know at its start.

    Attributes:
        folder: Private; holds its socket.
        sandbox: `bwrap` or `limits`.
        limits: Of a kernel.
        masked: What no kernel must see.
        ahead: How many kernels to start at once.
        drop_root: We are root, and each kernel is to run as a user of its own.
    """

    folder: str
    sandbox: Sandbox
    limits: Limits
    masked: list[str] = []
    ahead: int = 1
    drop_root: bool = False


def serve(setting: Setting) -> None:
    """Keep a child waiting for each job to come, until standard input ends."""
    register()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(Path(setting.folder, LISTENING)))
    listener.listen(1_000)
    taken, tells = os.pipe()
    gc.collect()
    gc.freeze()  # children need not look through what they were forked with
    idle = 0
    for _ in range(setting.ahead):
        idle += _fork(setting, listener, tells)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while True:
        wanted = [sys.stdin.fileno(), taken] if idle else [sys.stdin.fileno(), taken, listener.fileno()]
        ready, _, _ = select.select(wanted, [], [], 1.0)
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        if sys.stdin.fileno() in ready:
            break
        if taken in ready:
            for another in os.read(taken, 1_000):
                idle -= 1
                if another:
                    idle += _fork(setting, listener, tells)
        elif listener.fileno() in ready:
            idle += _fork(setting, listener, tells)


def _fork(setting: Setting, listener: socket.socket, tells: int) -> int:
    """Start a child that waits for a job; returns 1, the number of children."""
    worker = os.getpid()
    if os.fork() == 0:
        code = 1
        try:
            _die_with(worker)
            _child(setting, listener, tells)
            code = 0
        finally:
            os._exit(code)
    return 1


def _die_with(parent: int) -> None:
    """End this process when the one that forked it ends, however that comes."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _child(setting: Setting, listener: socket.socket, tells: int) -> None:
    """Start a kernel, take a job, and run it."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    kernel: BoxedKernel | None = None
    problem = ""
    user = user_of_kernel(os.getpid()) if setting.drop_root else 0
    try:
        kernel = BoxedKernel(
            sandbox=setting.sandbox, limits=setting.limits, masked=setting.masked, folder=setting.folder, user=user
        )
        kernel.wait_ready()
    except (KernelEnded, OSError, RuntimeError) as error:
        problem = str(error) or type(error).__name__
    connection, _ = listener.accept()
    job = _job(connection)
    os.write(tells, bytes([job.another]))
    encoder = msgspec.json.Encoder()

    def say(line: Line) -> None:
        connection.sendall(encoder.encode(line) + b"\n")

    try:
        say(Over("no kernel", problem) if problem or kernel is None else run(job, kernel, say))
    finally:
        if kernel is not None:
            kernel.stop()


def _job(connection: socket.socket) -> Job:
    """The job that a client sends, up to the end of its half of the connection."""
    parts = []
    while part := connection.recv(1 << 16):
        parts.append(part)
    return msgspec.json.decode(b"".join(parts), type=Job)


def run(job: Job, kernel: BoxedKernel, say: Any) -> Over:
    """Run a job under pytest and nbval; returns how it ended."""
    place = kernel.private / f"job{SUFFIX}"
    place.touch()
    running = Run(job, kernel, say)
    quiet = ["-q", "-p", "nbval.plugin", "--nbval-lax", "--color=no", "-c", os.devnull]
    quiet += [part for plugin in UNUSED for part in ("-p", f"no:{plugin}")]
    where = ["--rootdir", str(place.parent), "--noconftest", str(place)]
    cell = f"--nbval-cell-timeout={max(job.limits.cell_seconds, job.limits.setup_seconds)}"
    pytest.main([*quiet, cell, *where], plugins=[running])
    return running.over or Over("complete")


def main() -> None:
    """Serve as the first argument of the command line says, and end with all that was started."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    os.environ.pop("PYTEST_ADDOPTS", None)
    serve(msgspec.json.decode(sys.argv[1], type=Setting))
    os.killpg(0, signal.SIGKILL)  # the children, which may be in the midst of a run that nobody waits for
