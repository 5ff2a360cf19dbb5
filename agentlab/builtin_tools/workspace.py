"""The one folder that the file tools may see.

A path is resolved first, links included, and refused where it leads outside. Then it is opened by walking down from
the root without following links, so that a link put there between the two steps is refused as well.
"""

# pathlib cannot open relative to a folder's descriptor, and costs more to import than all of this.
# ruff: noqa: PTH112, PTH118, PTH206

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from agentlab.errors import InputError, ToolError

if TYPE_CHECKING:
    from collections.abc import Iterator

SKIPPED_FOLDERS = frozenset({"__pycache__"})
"""Folders of bookkeeping that a search does not enter unless it is asked to by name."""

_BENEATH = os.open in os.supports_dir_fd
_SEARCHABLE = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | _NO_LINK | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a link that leads nowhere"),
)


class Entry(msgspec.Struct, frozen=True):
    """One name in a folder: `kind` is `"file"`, `"folder"`, `"link"` or `"other"`; `size` in bytes, of files."""

    name: str
    kind: str
    size: int = 0


class Workspace:
    """A folder, and nothing outside it.

    Texts for the model show paths relative to the root, never where the root lies on the machine.

    Args:
        root: An existing folder; relative to the current folder now, whatever that becomes later.

    Raises:
        InputError: There is no such folder.

    >>> Workspace(".").resolve("../secret")
    Traceback (most recent call last):
    agentlab.errors.ToolError: '../secret' leads outside the workspace, and only files inside it can be used: ...
    """

    def __init__(self, root: str | os.PathLike[str] = ".") -> None:
        self.root = os.path.realpath(root)
        if not os.path.isdir(self.root):
            raise InputError("there is no such folder: a workspace is an existing folder", path=os.fspath(root))

    def resolve(self, path: str) -> str:
        """The real place of a path, which need not exist.

        Args:
            path: Relative to the root, or absolute.

        Raises:
            ToolError: It leads outside, by `..`, by a link anywhere in it, or as an absolute path.
        """
        try:
            real = os.path.realpath(os.path.join(self.root, path))
        except (ValueError, OSError) as error:
            raise ToolError(f"{quoted(path)} is not a path: it has characters that no file name can have") from error
        if real != self.root and not real.startswith(self.root.rstrip(os.sep) + os.sep):
            raise ToolError(
                f"{quoted(path)} leads outside the workspace, and only files inside it can be used: give a path "
                "relative to the workspace, such as '.' for its top folder"
            )
        return real

    def shown(self, real: str) -> str:
        """A resolved path as the model reads it: relative to the root, with forward slashes, `.` for the root."""
        return printable(os.path.relpath(real, self.root).replace(os.sep, "/"))

    def open(self, path: str) -> BinaryIO:
        """Open a regular file for reading, in bytes.

        Raises:
            ToolError: There is no such file, or it is a folder, a pipe or a device, leads outside, or cannot be read.
        """
        real = self.resolve(path)
        try:
            # Opening a pipe or a device can already do something, so its kind is looked at before; what the opened
            # descriptor says is binding.
            self._refuse_unless_file(real, os.lstat(real).st_mode)
            descriptor = self._open_beneath(real)
        except OSError as error:
            raise self._explained(error, path, real) from error
        try:
            self._refuse_unless_file(real, os.fstat(descriptor).st_mode)
            return os.fdopen(descriptor, "rb", buffering=1 << 16)
        except BaseException:
            os.close(descriptor)
            raise

    def scan(self, path: str = ".") -> list[Entry]:
        """What a folder holds, sorted by name; links are not followed.

        Raises:
            ToolError: There is no such folder, or it is a file, leads outside, or cannot be read.
        """
        real = self.resolve(path)
        try:
            if not _BENEATH or os.scandir not in os.supports_fd:
                return _entries(real)
            if not stat.S_ISDIR(os.lstat(real).st_mode):
                raise NotADirectoryError
            descriptor = self._open_beneath(real)
            try:
                return _entries(descriptor)
            finally:
                os.close(descriptor)
        except NotADirectoryError as error:
            raise ToolError(f"{quoted(self.shown(real))} is not a folder: read_file reads files") from error
        except OSError as error:
            raise self._explained(error, path, real) from error

    def walk(self, path: str, unreadable: list[str]) -> Iterator[str]:
        """Yield the regular files below a folder, as resolved paths in order; a file yields itself.

        Links are not followed: what they lead to inside the root is met where it lies. Folders that cannot be read
        are added to `unreadable`.

        Raises:
            ToolError: There is nothing at `path`, or it leads outside, or is a folder that cannot be read.
        """
        real = self.resolve(path)
        if not os.path.lexists(real):
            raise self._missing(path, real)
        if not os.path.isdir(real):
            yield real
            return
        pending = [(real, entry) for entry in reversed(self.scan(real))]
        while pending:
            folder, entry = pending.pop()
            inner = os.path.join(folder, entry.name)
            if entry.kind == "file":
                yield inner
            elif entry.kind == "folder" and not _is_skipped(entry.name):
                try:
                    pending += [(inner, below) for below in reversed(self.scan(inner))]
                except ToolError:
                    unreadable.append(inner)

    def _open_beneath(self, real: str) -> int:
        """Open a resolved path; any link met on the way down was put there meanwhile, and fails."""
        if not _BENEATH:
            return os.open(real, _READ)
        parts = [] if real == self.root else real[len(self.root.rstrip(os.sep)) + 1 :].split(os.sep)
        folder = os.open(self.root, _SEARCHABLE)
        try:
            for part in parts[:-1]:
                inner = os.open(part, _SEARCHABLE | _NO_LINK, dir_fd=folder)
                os.close(folder)
                folder = inner
            return os.open(parts[-1] if parts else ".", _READ, dir_fd=folder)
        finally:
            os.close(folder)

    def _refuse_unless_file(self, real: str, mode: int) -> None:
        """Raise for everything but a regular file."""
        if stat.S_ISREG(mode):
            return
        name = quoted(self.shown(real))
        if stat.S_ISDIR(mode):
            raise ToolError(f"{name} is a folder: list_dir shows what it holds")
        kind = next((kind for test, kind in _KINDS if test(mode)), "not a regular file")
        raise ToolError(f"{name} is {kind}, and only regular files can be read")

    def _explained(self, error: OSError, path: str, real: str) -> ToolError:
        """The error for the model: what is wrong with the path, without the machine's own paths."""
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            return self._missing(path, real)
        if isinstance(error, PermissionError):
            return ToolError(f"there is no permission to read {quoted(self.shown(real))}")
        return ToolError(f"{quoted(self.shown(real))} cannot be read: {error.strerror or type(error).__name__}")

    def _missing(self, path: str, real: str) -> ToolError:
        """The error for a path where nothing is: the closest names in the nearest folder that exists."""
        if real == self.root:
            return ToolError("the folder of the workspace is gone: nothing can be read until it is back")
        folder, name = os.path.split(real)
        while folder != self.root and not os.path.isdir(folder):
            folder, name = os.path.split(folder)
        first = os.path.join(folder, name)  # the first part of the path that is not as asked
        if first != real and os.path.lexists(first):
            return ToolError(f"there is no {quoted(path)}: {quoted(self.shown(first))} is a file, not a folder")
        where = "the workspace" if folder == self.root else f"the folder {quoted(self.shown(folder))}"
        missing = "" if first == real else f" ({where} has no {quoted(name)})"
        return ToolError(f"there is no {quoted(path)}{missing}: {self._closest(folder, name, where)}")

    def _closest(self, folder: str, name: str, where: str) -> str:
        """The names in a folder that are closest to one that it does not have."""
        from difflib import get_close_matches

        try:
            there = {printable(entry.name): "/" * (entry.kind == "folder") for entry in self.scan(folder)}
        except ToolError:
            there = {}
        close = get_close_matches(printable(name), there, n=3, cutoff=0.5)
        if not close:
            return f"list_dir shows what {where} holds"
        return f"the closest names in {where} are {', '.join(each + there[each] for each in close)}"


def _entries(folder: str | int) -> list[Entry]:
    """What a folder holds, by its path or its descriptor."""
    found = []
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                if entry.is_symlink():
                    found.append(Entry(entry.name, "link"))
                elif entry.is_dir(follow_symlinks=False):
                    found.append(Entry(entry.name, "folder"))
                elif entry.is_file(follow_symlinks=False):
                    found.append(Entry(entry.name, "file", entry.stat(follow_symlinks=False).st_size))
                else:
                    found.append(Entry(entry.name, "other"))
            except OSError:  # it went away while we looked
                continue
    return sorted(found, key=lambda entry: entry.name)


def printable(text: str) -> str:
    r"""A name on one line of valid text: what cannot be printed becomes an escape.

    >>> printable("a\nb")
    'a\\nb'
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def quoted(path: str) -> str:
    """A path in quotes, as the model gave it, on one line and not for ever."""
    text = printable(path)
    return f"'{text}'" if len(text) <= 200 else f"'{text[:197]}...'"


def _is_skipped(name: str) -> bool:
    """Whether a folder is left out of a walk unless it is named: hidden ones, and what Python leaves behind."""
    return name.startswith(".") or name in SKIPPED_FOLDERS
