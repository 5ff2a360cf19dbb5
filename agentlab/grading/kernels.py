"""A boxed kernel as nbval drives it: its end, its silence and its flood are noticed at once."""

from __future__ import annotations

import sys
import time
from collections import deque
from importlib.metadata import EntryPoint
from pathlib import Path
from queue import Empty
from typing import TYPE_CHECKING, Any

import msgspec
import zmq
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import KernelManager
from jupyter_client.provisioning.factory import KernelProvisionerFactory
from nbval.kernel import RunningKernel  # type: ignore[import-untyped]

from agentlab.grading.provisioner import NAME, BoxProvisioner
from agentlab.grading.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentlab.grading.box import Limits, Sandbox

OPTIONS = ("--HistoryManager.enabled=False", "--InteractiveShell.cache_size=0", "--InteractiveShell.colors=nocolor")
"""Of a kernel: no history on disk, no outputs kept, no colours in what it raises."""
POLL = 0.1
"""Seconds between two looks at whether the kernel is alive."""
WATCH = 0.1
"""Seconds between two looks at what it takes."""
GRACE = 2.0
"""Seconds that an interrupted cell has to end."""
START_SECONDS = 60.0
MESSAGE_BYTES = 4 * 2**20
"""Of a larger message nothing is received: the connection is dropped."""
MESSAGES = 256
"""So many messages wait to be read; more are dropped by the kernel's side."""


class KernelEnded(Exception):
    """The kernel is gone, by itself or because it took too much; says why."""


class OutputTooLong(Exception):
    """A cell printed more than it may."""


class _Specs(KernelSpecManager):
    """Knows one kernel: this Python's, boxed."""

    provisioner: dict[str, Any]

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:  # noqa: ARG002 - the base class's signature
        """The kernel, whatever is asked for."""
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", *OPTIONS]
        stanza = {"provisioner_name": NAME, "config": self.provisioner}
        return KernelSpec(
            argv=command, display_name="boxed", language="python", metadata={"kernel_provisioner": stanza}
        )


def register() -> None:
    """Make the provisioner known where agentlab is on the path without being installed."""
    known = KernelProvisionerFactory.instance().provisioners
    module, name = BoxProvisioner.__module__, BoxProvisioner.__name__
    known.setdefault(NAME, EntryPoint(NAME, f"{module}:{name}", KernelProvisionerFactory.GROUP_NAME))


class BoxedKernel(RunningKernel):  # type: ignore[misc]
    """A kernel that begins to start when this is made, and is ready after `wait_ready`.

    Args:
        sandbox: `bwrap` or `limits`.
        limits: What it may take.
        masked: What it must not see.
        user: Where we are root, the number of the user that it runs as; 0 for ourselves.
        folder: Where the folder that it shares with us is made; None for the system's temporary folder.
    """

    def __init__(
        self, *, sandbox: Sandbox, limits: Limits, masked: Sequence[str] = (), folder: str | None = None, user: int = 0
    ) -> None:
        register()
        specs = _Specs()
        specs.provisioner = {
            "sandbox": sandbox,
            "masked": list(masked),
            "folder": folder or "",
            "limits": msgspec.to_builtins(limits),
            "user": user,
        }
        self.limits = limits
        self.km = KernelManager(kernel_name=NAME, kernel_spec_manager=specs)
        self.km.start_kernel()
        self.kc = self.km.client()
        self.kc.context.setsockopt(zmq.MAXMSGSIZE, MESSAGE_BYTES)
        self.kc.context.setsockopt(zmq.RCVHWM, MESSAGES)
        self.kc.start_channels(stdin=False, hb=False, control=False)
        provisioner: Any = self.km.provisioner
        self.watch = Watch(provisioner.pid, self.private if sandbox == "bwrap" else None, limits)
        self.waiting: deque[dict[str, Any]] = deque()
        self.reply: dict[str, Any] = {}
        self.printed = 0
        self.ends_at: float | None = None
        self.give_up_at: float | None = None
        self.watched = 0.0

    def wait_ready(self) -> None:
        """Wait until it answers and its output arrives.

        Raises:
            KernelEnded: It ended, or does not answer.
        """
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            asked = self.kc.kernel_info()
            try:
                self.await_reply(asked, timeout=START_SECONDS)
                self.await_idle(asked, 1)
            except Empty:
                continue
            return
        raise KernelEnded("the kernel did not start")

    def begin_cell(self, seconds: float) -> None:
        """Say how long the next cell may take."""
        self.printed = 0
        self.reply = {}
        self.waiting.clear()
        self.ends_at = time.monotonic() + seconds
        self.give_up_at = self.ends_at + 2 * GRACE

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        """Wait for the reply to a request, and keep what is printed meanwhile.

        Raises:
            Empty: It did not come in time: nbval interrupts the cell then.
            KernelEnded: The kernel is gone.
            OutputTooLong: The cell prints too much, and was stopped.
        """
        until = time.monotonic() + (START_SECONDS if timeout is None else timeout)
        if self.ends_at is not None:
            until = min(until, self.ends_at)
        shell, iopub = self.kc.shell_channel, self.kc.iopub_channel
        poller = zmq.Poller()
        poller.register(shell.socket, zmq.POLLIN)
        poller.register(iopub.socket, zmq.POLLIN)
        while True:
            left = until - time.monotonic()
            ready = dict(poller.poll(int(max(0.0, min(POLL, left)) * 1000)))
            if iopub.socket in ready:
                self._keep(iopub)
            if shell.socket in ready:
                message = _received(shell)
                if message is not None and message["parent_header"].get("msg_id") == msg_id:
                    self.reply = message["content"]
                    return
            if left <= 0:
                raise Empty
            self._look()

    def get_message(self, stream: str, timeout: float | None = None) -> dict[str, Any]:
        """The next message.

        Raises:
            Empty: None came in time, or the cell's time is long over.
            KernelEnded: The kernel is gone.
            OutputTooLong: The cell printed too much.
        """
        until = time.monotonic() + (START_SECONDS if timeout is None else timeout)
        if stream == "iopub" and self.waiting:
            return self.waiting.popleft()
        channel = self.kc.iopub_channel if stream == "iopub" else self.kc.shell_channel
        while True:
            if self.give_up_at is not None and time.monotonic() > self.give_up_at:
                raise Empty
            left = until - time.monotonic()
            if channel.socket.poll(int(max(0.0, min(POLL, left)) * 1000)):
                message = _received(channel)
                if message is not None:
                    self._count(message)
                    return message
            if left <= 0:
                raise Empty
            self._look()

    def _keep(self, channel: Any) -> None:
        message = _received(channel)
        if message is not None:
            self._count(message)
            self.waiting.append(message)

    def _count(self, message: dict[str, Any]) -> None:
        """Add up what a cell prints.

        Raises:
            OutputTooLong: It is too much; the cell was interrupted, or its kernel ended.
        """
        content = message["content"]
        if message["msg_type"] == "stream":
            self.printed += len(str(content.get("text", "")))
        elif message["msg_type"] in ("display_data", "execute_result", "update_display_data", "error"):
            self.printed += len(str(content))
        if self.printed > self.limits.output_bytes and self.ends_at is not None:
            self._silence()
            raise OutputTooLong

    def _silence(self) -> None:
        """Interrupt a cell that floods, and end a kernel that goes on."""
        self.printed, self.ends_at = 0, None
        until = time.monotonic() + GRACE
        self.interrupt()
        while time.monotonic() < until:
            for channel in (self.kc.iopub_channel, self.kc.shell_channel):
                while channel.socket.poll(0) and time.monotonic() < until:
                    message = _received(channel)
                    if message is not None and message["msg_type"] == "execute_reply":
                        return
            self._look()
            time.sleep(POLL / 10)
        self.stop()

    def _look(self) -> None:
        """See that the kernel is there and does not take too much.

        Raises:
            KernelEnded: It is not, or did and was ended.
        """
        if not self.is_alive():
            raise KernelEnded("the kernel ended")
        now = time.monotonic()
        if now - self.watched < WATCH:
            return
        self.watched = now
        problem = self.watch.excess()
        if problem is not None:
            self.stop()
            raise KernelEnded(problem)

    def is_alive(self) -> bool:
        """Whether it runs."""
        return hasattr(self, "km") and bool(self.km.is_alive())

    def stop(self) -> None:
        """End it at once."""
        if hasattr(self, "km"):
            super().stop()

    @property
    def private(self) -> Path:
        """The folder that it shares with us."""
        provisioner: Any = self.km.provisioner
        return Path(provisioner.private)


def _received(channel: Any) -> dict[str, Any] | None:
    """A message, or None where what came is not one: whoever has the kernel's key can send anything."""
    try:
        message: dict[str, Any] = channel.get_msg(timeout=0)
        if isinstance(message["content"], dict) and isinstance(message["parent_header"], dict):
            return message
    except (Empty, ValueError, KeyError, TypeError, UnicodeError, RecursionError):
        pass
    return None
