"""The box that a student's kernel runs in: what it sees, what it may use, and whether this machine can make one.

Bubblewrap gives the kernel a file system that holds Python, the installed packages, the course's data and nothing else:
no home, no exercises, no repository, no submission. It has no network but its own loopback, sees no other process, and
writes only to a folder in memory. `prlimit` bounds what each process takes; `agentlab.grading.watch` what they take
together.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Sandbox = Literal["bwrap", "limits"]

SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store")
"""Where programs and libraries of the system are."""

SETTINGS = tuple(
    f"/etc/{name}"
    for name in (
        *("alternatives", "fonts", "group", "hosts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d"),
        *("localtime", "mime.types", "nsswitch.conf", "passwd", "ssl/certs"),
    )
)
"""Settings that programs read; no shadow file, no keys of the host."""

COURSE = ("notebooks", "data")
"""Folders of a checkout that a notebook may read."""

ANSWERS = ("exercises", "data/week_plan.py", "data/__pycache__")
"""What of a checkout it must not read: the exercises, and which turns of the week are planted, compiled or not."""

WORK, HOME = "/tmp/work", "/tmp/home"  # noqa: S108 - inside the box, where /tmp is its own
"""The kernel's working folder, empty at first, and its home; both in memory."""
FONTS = f"{HOME}/.matplotlib"


class Limits(msgspec.Struct, frozen=True):
    """What a kernel may take.

    Attributes:
        cell_seconds: Wall time of a cell.
        setup_seconds: Wall time of a setup cell: it is ours, and imports what is slow.
        notebook_seconds: Wall time of all cells of a submission, replays included.
        memory: Bytes of address space of a process, and of resident memory of all together.
        file_bytes: Size of a file.
        disk_bytes: Size of all files together.
        files: Open files of a process.
        processes: Processes of a kernel, itself included; the system lets it have four times as many threads.
        output_bytes: What a cell may print.
    """

    cell_seconds: float = 10.0
    setup_seconds: float = 40.0
    notebook_seconds: float = 90.0
    memory: int = 4 * 2**30
    file_bytes: int = 64 * 2**20
    disk_bytes: int = 256 * 2**20
    files: int = 512
    processes: int = 64
    output_bytes: int = 10**6


def box_command(
    command: Sequence[str],
    *,
    sandbox: Sandbox,
    private: Path,
    limits: Limits,
    masked: Iterable[Path] = (),
    environment: dict[str, str] | None = None,
    user: int = 0,
) -> list[str]:
    """The command that runs a kernel's command in its box.

    Args:
        command: Starts the kernel.
        sandbox: `bwrap`, or `limits` for bounds without a box.
        private: The folder of its connection file and sockets: the one that it shares with us.
        limits: What it may take.
        masked: Files and folders that it must not see where they lie within what it is shown.
        environment: Its variables; it gets no others.
        user: Where we are root, the number of the user that it runs as; 0 for ourselves.
    """
    bounded = [*_bounds(limits, alone=sandbox == "bwrap", user=user), *command]
    if sandbox == "limits":
        return bounded
    built = ["bwrap", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"]
    built += ["--die-with-parent", "--new-session", "--hostname", "box", "--cap-drop", "ALL"]
    built += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"] if user else ["--unshare-user-try"]
    built += ["--proc", "/proc", "--dev", "/dev"]
    for folder in ("/tmp", "/dev/shm"):  # noqa: S108 - the box's own
        built += ["--perms", "1777", "--size", str(limits.disk_bytes), "--tmpfs", folder]
    for folder in (WORK, HOME, FONTS):
        built += ["--perms", "0777", "--dir", folder]
    built += _mounts(private, tuple(masked))
    built += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", WORK, "--clearenv"]
    for name, value in (environment or {}).items():
        built += ["--setenv", name, value]
    return [*built, "--", *bounded]


def _mounts(private: Path, masked: Sequence[Path]) -> list[str]:
    """The arguments that show and hide, outer folders first: what lies deeper has the last word."""
    places: dict[Path, list[str]] = {}
    shown = [Path(name) for name in (*SYSTEM, *SETTINGS)] + needed()
    for path in shown:
        if path.exists():
            places[path] = ["--ro-bind", str(path), str(path)]
    for path in font_lists():
        places[Path(FONTS, path.name)] = ["--ro-bind", str(path), f"{FONTS}/{path.name}"]
    for path in (*masked, *answers()):
        if path.exists() and any(path.is_relative_to(folder) for folder in shown):
            hide = ["--tmpfs", str(path), "--remount-ro", str(path)]
            places[path] = hide if path.is_dir() else ["--ro-bind", "/dev/null", str(path)]
    places[private] = ["--bind", str(private), str(private)]
    mounted = set(places)
    for folder in {folder for path in mounted for folder in path.parents} - {Path("/"), Path("/tmp"), Path("/dev")}:  # noqa: S108
        if not any(folder.is_relative_to(path) for path in mounted):
            places[folder] = ["--perms", "0755", "--dir", str(folder)]
    return [part for path in sorted(places, key=lambda path: (len(path.parts), path)) for part in places[path]]


@cache
def needed() -> list[Path]:
    """Folders without which the kernel does not start, or the course's notebooks find nothing."""
    package = Path(__file__).resolve().parents[1]
    paths = sysconfig.get_paths()
    found = [Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent.parent]
    found += [Path(paths[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    found += [package, *(package.parent / name for name in COURSE)]
    outer: list[Path] = []
    for path in sorted({path.resolve() for path in found} | {Path(sys.prefix)}):
        if path != Path("/") and not any(path.is_relative_to(folder) for folder in (*outer, Path("/usr"))):
            outer.append(path)
    return outer


def font_lists() -> list[Path]:
    """What matplotlib found out about this machine's fonts; without it every kernel would look for them again."""
    folder = Path(os.environ.get("MPLCONFIGDIR") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "matplotlib"))
    return sorted(folder.expanduser().glob("fontlist-*.json"))


def list_fonts() -> None:
    """Let matplotlib look for this machine's fonts, once for all kernels, where it has not done so."""
    if not font_lists():
        look = [sys.executable, "-c", "import matplotlib.font_manager"]
        subprocess.run(look, capture_output=True, timeout=120, check=False)  # noqa: S603


def answers() -> list[Path]:
    """The exercises as the package carries them, and the plan of what one of them asks for: no kernel must see them."""
    package = Path(__file__).resolve().parents[1]
    carried = [folder / name for folder in (package / "materials", package.parent) for name in ANSWERS]
    return [*carried, package.parent / ".git"]


def import_path() -> str:
    """The folder that a kernel imports `agentlab` from."""
    return str(Path(__file__).resolve().parents[2])


def box_environment(sandbox: Sandbox, *, home: str = HOME, temporary: str = "/tmp") -> dict[str, str]:  # noqa: S108
    """The variables of a kernel: none of ours, so no key."""
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": temporary,
        "IPYTHONDIR": f"{home}/.ipython",
        "MPLCONFIGDIR": f"{home}/.matplotlib",
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "PYTHONPATH": import_path(),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "AGENTLAB_SANDBOX": sandbox,
    }


def _bounds(limits: Limits, *, alone: bool, user: int) -> list[str]:
    """The command that bounds what a process takes, and gives up our rights where we have many.

    Args:
        limits: The bounds.
        alone: Whether the system counts this kernel's processes apart from others: it does for a user of its own, and
            in a user namespace for whoever is not root.
        user: The user to run as, or 0.
    """
    program = shutil.which("prlimit")
    if program is None:
        return []
    counted = [f"--nproc={4 * limits.processes}"] if alone and (user or os.geteuid() != 0) else []
    bounds = [*counted, f"--as={limits.memory}", f"--fsize={limits.file_bytes}", f"--nofile={limits.files}"]
    as_user = [f"--reuid={user}", f"--regid={user}", "--clear-groups", "--no-new-privs", "--"]
    return [program, *bounds, "--core=0", "--", *(["setpriv", *as_user] if user else [])]
