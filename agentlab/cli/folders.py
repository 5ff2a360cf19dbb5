"""The folders that a command reads and writes: found, made, and cleared of what agentlab wrote there."""

from __future__ import annotations

import os
import time
from pathlib import Path

from agentlab.errors import InputError

OTHER = "name another folder with --out"
CURVE_CSV, CURVE_PNG, CUTS_CSV, CUTS_PNG = "curve.csv", "curve.png", "cuts.csv", "cuts.png"
RESULTS = (CURVE_CSV, CURVE_PNG, CUTS_CSV, CUTS_PNG)
RUNS = "runs"


def existing_folder(path: str) -> Path:
    """The workspace.

    Raises:
        InputError: There is no such folder.
    """
    if not os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises where a name is too long
        raise InputError("no such folder: name one with --workspace", path=path)
    return Path(path)


def is_empty_folder(path: Path) -> bool:
    """Whether a folder is there and empty; False where nothing is there yet.

    Raises:
        InputError: It cannot take a new session: it is a file, is not empty, or the system refuses it.
    """
    try:
        if any(path.iterdir()):
            raise InputError(f"is there already and is not empty: {OTHER}", path=path)
    except FileNotFoundError:
        return False
    except OSError as error:
        found = "is there already, and is no folder" if os.path.lexists(path) else f"cannot be made ({error.strerror})"
        raise InputError(f"{found}: {OTHER}", path=path) from None
    return True


def make_folder(path: Path, *, exist_ok: bool = False) -> Path:
    """Make a folder for a session; of two runs that want the same one, only one gets it.

    Raises:
        InputError: The system refuses, or somebody else has just made it.
    """
    try:
        path.mkdir(parents=True, exist_ok=exist_ok)
    except FileExistsError:
        raise InputError(f"is there already: {OTHER}", path=path) from None
    except OSError as error:
        raise InputError(f"cannot be made ({error.strerror}): {OTHER}", path=path) from None
    return path


def dated_folder(stamp: str | None = None) -> Path:
    """Make the folder of a run that names none: `runs/DATE-TIME`, with -2, -3 ... where runs begin in one second.

    Raises:
        InputError: The system refuses.
    """
    stamp = stamp or time.strftime("%Y%m%d-%H%M%S")
    path, number = Path(RUNS, stamp), 1
    while True:
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            number += 1
            path = Path(RUNS, f"{stamp}-{number}")
        except OSError as error:
            raise InputError(f"cannot be made ({error.strerror}): {OTHER}", path=path) from None
        else:
            return path


def clear_session(folder: Path) -> None:
    """Take away what agentlab wrote into a session folder, and nothing else.

    Its messages go last: where this is interrupted, the folder is still known for a session.

    Raises:
        InputError: The system refuses.
    """
    from agentlab.transcript import MESSAGES, STORE, TRANSCRIPT

    store = folder / STORE
    own = [folder / name for name in (*RESULTS, TRANSCRIPT)] + [store / "index.jsonl", store / "pack.txt"]
    try:
        for path in [*own, folder / MESSAGES]:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(f"cannot be replaced ({error.strerror}): {OTHER}", path=error.filename or folder) from None
    try:
        store.rmdir()
    except OSError:  # it was never made, or holds something that is not ours
        return
