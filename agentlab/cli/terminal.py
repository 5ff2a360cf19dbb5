"""What the terminal is given and gives: text that every stream can carry, JSON, and a console that reads no markup."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

from agentlab.errors import InputError
from agentlab.printable import printable

if TYPE_CHECKING:
    from rich.console import Console

MIN_WIDTH = 80


def prepare_streams() -> None:
    """Let no character that a stream's encoding lacks end a command, and stand in for an input that is closed.

    Raises:
        InputError: Standard output is closed: the next file that is opened would take its place.
    """
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115, PTH123 - for as long as the process runs
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    if sys.stdout is None:
        raise InputError("standard output is closed: send it to a file, or to /dev/null")
    _carry_all(sys.stdin, "surrogateescape")
    _carry_all(sys.stdout, "backslashreplace")
    _carry_all(sys.stderr, "backslashreplace")


def _carry_all(stream: TextIO, errors: str) -> None:
    """Change how a stream treats what it cannot code; one that is not the terminal's own stays as it is."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None and stream.errors != errors:
        try:
            reconfigure(errors=errors)
        except ValueError:  # it was read from already, so it can
            return


def settle_output() -> None:
    """Flush standard output; what it refuses is dropped, or Python would complain of it once more at the exit."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)
        except (OSError, ValueError):  # not a stream of the system
            return


def tell(text: str) -> None:
    """Say a line on standard error, if anybody is there to read it."""
    try:
        sys.stderr.write(f"agentlab: {printable(text)}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        return


def write_json(value: Any) -> None:
    """Print a value as JSON; escaped where the stream's encoding has no room for it."""
    import msgspec

    try:
        text = msgspec.json.format(msgspec.json.encode(value)).decode()
    except UnicodeEncodeError:  # a name of a file that is no UTF-8
        import json

        text = printable(json.dumps(msgspec.to_builtins(value), indent=2, ensure_ascii=False))
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        import json

        text = json.dumps(json.loads(text), indent=2)
    sys.stdout.write(text + "\n")


def decoded(text: str) -> str:
    r"""A text from the system, such as an argument or a path, as UTF-8; a byte that is none becomes U+FFFD.

    >>> decoded("caf\udcc3\udca9"), decoded("o\udcff") == "o\ufffd"
    ('café', True)
    """
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def plain_console(*, stderr: bool = False, quiet: bool = False) -> Console:
    """A console that prints text as it stands: brackets are not markup, colons are no emoji, numbers get no colour.

    Where nobody reads it any more, printing raises BrokenPipeError.
    """
    from rich.console import Console

    class PlainConsole(Console):
        def on_broken_pipe(self) -> None:  # rich would end the whole process here
            raise BrokenPipeError("nobody reads the output any more")

        def print(self, *objects: Any, **style: Any) -> None:
            super().print(*[printable(each) if isinstance(each, str) else each for each in objects], **style)

    return PlainConsole(
        file=None if stderr else sys.stdout, stderr=stderr, quiet=quiet, markup=False, emoji=False, highlight=False
    )
