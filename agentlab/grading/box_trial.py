"""Whether this machine can box a kernel, found out by doing it; and what to do where it cannot."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from agentlab.errors import InputError
from agentlab.grading.box import Limits, box_command, box_environment

REMEDY = (
    "install it with `apt-get install bubblewrap` (or your system's own command); in a container, allow user "
    "namespaces (docker: --security-opt seccomp=unconfined --security-opt apparmor=unconfined); or say "
    "`--sandbox limits`: that bounds time and memory only, and lets a notebook read files and use the network"
)

FIRST_USER, USERS = 50_000, 10_000
"""Numbers of users whom no system has: where we are root, each kernel runs as one of them."""

NEEDED = "import agentlab, ipykernel; print(6 * 7)"


def require_box() -> None:
    """See that a box can be made here.

    Raises:
        InputError: It cannot; says what to do.
    """
    problem = no_box()
    if problem is not None:
        raise InputError(f"{problem}: {REMEDY}")


@cache
def no_box() -> str | None:
    """Why no box can be made on this machine, or None."""
    if sys.platform != "linux":
        return f"no kernel can be boxed on {sys.platform}, since that needs bubblewrap on Linux"
    if shutil.which("bwrap") is None:
        return "no kernel can be boxed, since bubblewrap (`bwrap`) is not installed"
    if shutil.which("prlimit") is None:
        return "no kernel can be bounded, since `prlimit` (util-linux) is not installed"
    problem = None if can_drop_root() else _tried(0)
    return None if problem is None else f"no kernel can be boxed, since bubblewrap failed ({problem})"


@cache
def can_drop_root() -> bool:
    """Whether we are root and a kernel can run as somebody else: what it imports may be readable for root alone."""
    return os.geteuid() == 0 and shutil.which("setpriv") is not None and _tried(FIRST_USER) is None


def user_of_kernel(number: int) -> int:
    """The user that a kernel runs as where we are root, by any number that no other kernel has now.

    >>> user_of_kernel(10_007)
    50007
    """
    return FIRST_USER + number % USERS


def _tried(user: int) -> str | None:
    """Why Python does not start in a box, or None."""
    with_python = box_command(
        [sys.executable, "-c", NEEDED],
        sandbox="bwrap",
        private=Path("/dev/shm"),  # noqa: S108 - bound over by the box's own
        limits=Limits(),
        environment=box_environment("bwrap"),
        user=user,
    )
    try:
        tried = subprocess.run(with_python, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        return type(error).__name__
    if tried.stdout.strip() == "42":
        return None
    return (tried.stderr.strip().splitlines() or ["no reason given"])[-1]
