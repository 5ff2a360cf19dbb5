"""Run jobs: one worker process for this process, started when it is first needed; any thread may run jobs in it."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.errors import AgentlabError
from agentlab.grading.box import import_path, list_fonts
from agentlab.grading.box_trial import can_drop_root
from agentlab.grading.job import LISTENING, Line, Over

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self

    from agentlab.grading.box import Limits, Sandbox
    from agentlab.grading.job import Job

WORKER = """\
import sys
sys.modules["rfc3987_syntax"] = None
from agentlab.grading.worker import main
main()
"""
"""Starts a worker. jsonschema would build a grammar, for a second, to know formats that no notebook has."""

PATIENCE = 60.0
"""Seconds beyond a notebook's own that a silent run is waited for."""


class EngineError(AgentlabError):
    """Submissions cannot be run here; says why."""


class Engine:
    """Runs jobs in kernels of their own.

    Args:
        sandbox: `bwrap` or `limits`.
        limits: What a kernel may take.
        masked: Files and folders that no kernel must see.
        ahead: How many kernels to start at once.

    Use it as a context: the worker and all kernels end with it.
    """

    def __init__(self, *, sandbox: Sandbox, limits: Limits, masked: Sequence[Path] = (), ahead: int = 1) -> None:
        self.sandbox = sandbox
        self.limits = limits
        self.masked = [str(path.resolve()) for path in masked]
        self.ahead = ahead
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = ""
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def start(self) -> None:
        """Start the worker and its first kernels, where they are not started yet.

        Raises:
            EngineError: It does not start, or the engine was closed.
        """
        with self._lock:
            if self._closed:
                raise EngineError("the grading was ended")
            if self._process is not None and self._process.poll() is None:
                return
            self._end()
            list_fonts()
            self._folder = tempfile.mkdtemp(prefix="agentlab-worker-")
            setting = {
                "folder": self._folder,
                "sandbox": self.sandbox,
                "limits": msgspec.to_builtins(self.limits),
                "masked": self.masked,
                "ahead": self.ahead,
                "drop_root": self.sandbox == "bwrap" and can_drop_root(),
            }
            command = [sys.executable, "-c", WORKER, msgspec.json.encode(setting).decode()]
            self._process = subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=_with_our_package(),
                start_new_session=True,
            )
            if self._process.stdout is None or self._process.stdout.readline() != b"ready\n":
                raise EngineError("the worker that runs notebooks did not start: is nbval installed?")

    def run(self, job: Job) -> Iterator[Line]:
        """Run a job in a fresh kernel; yields what happens, and last an `Over`.

        Raises:
            EngineError: No worker can be started.
        """
        self.start()
        decoder: msgspec.json.Decoder[Line] = msgspec.json.Decoder(Line)
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(job.seconds + PATIENCE)
                connection.connect(str(Path(self._folder, LISTENING)))
                connection.sendall(msgspec.json.encode(job))
                connection.shutdown(socket.SHUT_WR)
                with connection.makefile("rb") as lines:
                    for line in lines:
                        said = decoder.decode(line)
                        yield said
                        if isinstance(said, Over):
                            return
        except TimeoutError:
            yield Over("ended", "the notebook did not come to an end")
            return
        except (OSError, msgspec.DecodeError):
            pass  # what it was told to say breaks off
        if self._gone():
            yield Over("no worker", "the process that runs notebooks ended")
        else:
            yield Over("ended", "the notebook ended the process that ran it")

    def _gone(self) -> bool:
        """Whether the worker ended; its end comes a moment after that of its connections."""
        process = self._process
        if process is None:
            return True
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            return False
        return True

    def close(self) -> None:
        """End the worker, its children and their kernels."""
        with self._lock:
            self._closed = True
            self._end()

    def _end(self) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        if process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
        for _ in range(20):  # a kernel that is just ending may write its last file
            shutil.rmtree(self._folder, ignore_errors=True)
            if not Path(self._folder).exists():
                break
            time.sleep(0.05)


def _with_our_package() -> dict[str, Any]:
    """Our own environment, in which the worker finds this very package."""
    import os

    path = [import_path(), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return os.environ | {"PYTHONPATH": os.pathsep.join(dict.fromkeys(path))}
