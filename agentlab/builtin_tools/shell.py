"""What `run_command` does: a command of the shell, in a folder, that ends in time and takes no secret with it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections import deque
from typing import TYPE_CHECKING, BinaryIO

from agentlab.budgets import Scope
from agentlab.errors import ToolError

if TYPE_CHECKING:
    from collections.abc import Mapping

END_BYTES = 1_000_000
"""How much is kept of each end of a command's output, in bytes."""

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH(?!OR)|COOKIE", re.IGNORECASE)
_SECRET_VALUE = re.compile(r"://[^/\s@]*:[^/\s@]*@")


class BothEnds:
    r"""A stream of bytes of which only the two ends are kept.

    Args:
        each: Size of each end, in bytes.

    >>> ends = BothEnds(3)
    >>> ends.add(b"abcdefgh")
    >>> ends.text()
    'abc\n(2 bytes in the middle of the output were not kept)\nfgh'
    """

    def __init__(self, each: int = END_BYTES) -> None:
        self._each = each
        self._head = bytearray()
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._dropped = 0
        self._lock = threading.Lock()

    def add(self, data: bytes) -> None:
        """Take in what came next."""
        with self._lock:
            room = self._each - len(self._head)
            self._head += data[:room]
            if rest := data[room:]:
                self._tail.append(rest)
                self._tail_size += len(rest)
            while self._tail and self._tail_size - len(self._tail[0]) >= self._each:
                first = self._tail.popleft()
                self._tail_size -= len(first)
                self._dropped += len(first)

    def text(self) -> str:
        """The two ends, and how much is missing between them."""
        with self._lock:
            head, tail = bytes(self._head), b"".join(self._tail)
            dropped = self._dropped + max(0, len(tail) - self._each)
        if not dropped:
            return (head + tail).decode("utf-8", "replace")
        note = f"\n({dropped} bytes in the middle of the output were not kept)\n"
        return head.decode("utf-8", "replace") + note + tail[-self._each :].decode("utf-8", "replace")


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment without the variables that may hold a secret: by their name, or by a password in an address.

    >>> without_secrets({"PATH": "/bin", "OPENAI_API_KEY": "sk-1", "PROXY": "http://me:pw@host"})
    {'PATH': '/bin'}
    """
    return {
        name: value
        for name, value in environment.items()
        if not _SECRET_NAME.search(name) and not _SECRET_VALUE.search(value)
    }


def run_shell(command: str, folder: str, seconds: float, scope: Scope | None = None) -> str:
    """Run a command of the shell and wait for its end; nothing that it started outlives it.

    Args:
        command: For the shell of the system.
        folder: Where it runs.
        seconds: When it is stopped.
        scope: Stops it earlier.

    Returns:
        What it wrote, errors included, in the order in which it came; the last line is `exit code: N`, negative for
        the signal that ended it.

    Raises:
        ToolError: It cannot be started.
        ScopeEnded: The scope ended; the command was stopped.
    """
    if not command.strip() or "\0" in command:
        raise ToolError(
            "command is empty, or has a NUL character: give one line as typed into a shell, such as 'ls -l'"
        )
    scope = scope or Scope()
    scope.check()
    try:
        process = subprocess.Popen(  # noqa: S602 - running a shell is what it is for; off unless switched on
            command,
            shell=True,
            cwd=folder,
            env=without_secrets(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise ToolError(f"the command could not be started: {reason}") from error
    output = BothEnds()
    reader = threading.Thread(target=_drain, args=(process.stdout, output), daemon=True)
    undo = scope.on_cancel(lambda: _stop(process))
    late = False
    try:
        reader.start()
        process.wait(min(seconds, scope.remaining()) if not scope.endless else seconds)
    except subprocess.TimeoutExpired:
        late = True
    finally:
        undo()
        _stop(process)
        process.wait()
    # A process that left the group may hold the pipe open for ever: what came until now is the output.
    reader.join(1.0)
    scope.check()
    return _observation(output.text(), process.returncode, f"(stopped after {seconds:g} seconds)\n" if late else "")


def _observation(output: str, code: int, note: str) -> str:
    """Output, note and exit code, each on lines of their own."""
    output = output or "(no output)"
    return f"{output}{'' if output.endswith(chr(10)) else chr(10)}{note}exit code: {code}"


def _drain(pipe: BinaryIO | None, output: BothEnds) -> None:
    """Read a pipe to its end, so that the command never waits for us."""
    if pipe is None:
        return
    with pipe:
        while data := os.read(pipe.fileno(), 1 << 16):
            output.add(data)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its group; that it is gone already is fine."""
    if not hasattr(os, "killpg"):
        process.kill()
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # gone; macOS says the second of a group of zombies
        process.kill()
