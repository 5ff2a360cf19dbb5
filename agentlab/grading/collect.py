"""Find what was handed in: files, a folder per student, nbgrader's `submitted/`, the zips of Moodle and Canvas.

Nothing is unpacked: a zip's members are read where they are, and a member's name is only ever a label.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import msgspec

from agentlab.errors import InputError
from agentlab.grading.submission import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

NOTEBOOK, ZIP = ".ipynb", ".zip"

MOODLE = re.compile(r"^(?P<name>.+?)_(?P<number>\d+)_assignsubmission_[a-z]+_?")
"""A folder, or the beginning of a file's name, in a zip of all submissions from Moodle: full name and number."""

CANVAS = re.compile(r"^(?P<login>[^_\W]+)_(?:LATE_)?(?P<number>\d+)_\d+_.+")
"""A file's name in a zip of all submissions from Canvas: last and first name written together, number of the user."""

WRAPPERS = ("submissions", "submitted")
"""Folders that hold the folders of students."""


class Handed(msgspec.Struct, frozen=True):
    """A notebook that was handed in, not yet read.

    Attributes:
        label: How reports call it: its path as it was found.
        who: What may name its student, the likeliest first.
        file: The notebook, or the zip that holds it.
        member: Its name in the zip; empty for a file.
    """

    label: str
    who: tuple[str, ...]
    file: str
    member: str = ""

    def read(self) -> bytes:
        """Its bytes; of one that is too large, no more than shows that it is.

        Raises:
            InputError: It cannot be read.
        """
        try:
            if not self.member:
                with Path(self.file).open("rb") as stream:
                    return stream.read(MAX_BYTES + 1)
            with zipfile.ZipFile(self.file) as archive, archive.open(self.member) as stream:
                return stream.read(MAX_BYTES + 1)
        except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as error:
            raise InputError(f"cannot be read ({error}): ask for it again") from None


def find(
    paths: Iterable[str | Path], *, exercises: Collection[str] = (), id_from: str | None = None
) -> tuple[list[Handed], list[str]]:
    """All notebooks under some paths, in the natural order of their names; and what was found and is none.

    Args:
        paths: Notebooks, folders, zips.
        exercises: Names of exercises, which are no part of a student's name in a file's name.
        id_from: A regular expression that finds the student in a notebook's path: its group `id`, else its first group,
            else all that it matches.

    Raises:
        InputError: A path is not there, or the expression is none.
    """
    try:
        pattern = None if id_from is None else re.compile(id_from)
    except re.error as error:
        raise InputError(f"no regular expression ({error}): mend it", field="--id-from") from None
    found: list[Handed] = []
    problems: list[str] = []
    for given in paths:
        path = Path(given)
        if not path.exists():
            raise InputError("no such file or folder: name notebooks, a folder or a zip", path=path)
        for file, inner in _files(path):
            if file.suffix.lower() == ZIP:
                members, said = _members(file)
                problems += said
            elif file.suffix.lower() == NOTEBOOK:
                members = [""]
            else:
                members = []
                problems.append(f"{file}: is no notebook and no zip")
            for member in members:
                label = f"{file}/{member}" if member else str(file)
                who = _who(label, pattern) or tuple(names(inner / member, path.stem, exercises))
                found.append(Handed(label, who, str(file), member))
    unique = {(each.file, each.member): each for each in found}
    return sorted(unique.values(), key=lambda each: natural(each.label)), problems


def natural(text: str) -> tuple[tuple[bool, int, str], ...]:
    """A key that sorts numbers in a text by their value.

    >>> sorted(["nb-10", "nb-9", "nb"], key=natural)
    ['nb', 'nb-9', 'nb-10']
    """
    parts = re.findall(r"\d+|\D+", text)
    return tuple((not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts)


def _files(path: Path) -> Iterator[tuple[Path, PurePosixPath]]:
    """The files at a path, each with its path within it; a zip stands for the folder that it would unpack to."""
    if path.is_file():
        yield path, PurePosixPath() if path.suffix.lower() == ZIP else PurePosixPath(path.name)
        return
    for file in sorted(path.rglob("*")):
        inner = PurePosixPath(*file.relative_to(path).parts)
        if not file.is_file() or _hidden(inner) or file.suffix.lower() not in (ZIP, NOTEBOOK):
            continue
        yield file, inner.with_suffix("") if file.suffix.lower() == ZIP else inner


def _hidden(path: PurePosixPath) -> bool:
    """Whether it is a copy that a program made for itself."""
    return any(part.startswith((".", "__MACOSX")) and part != ".." for part in path.parts)


def _members(file: Path) -> tuple[list[str], list[str]]:
    """The notebooks in a zip, and what else is in it that could be a submission."""
    try:
        with zipfile.ZipFile(file) as archive:
            names = [info.filename for info in archive.infolist() if not info.is_dir()]
    except (OSError, zipfile.BadZipFile, ValueError):
        return [], [f"{file}: is damaged, and no zip can be read from it"]
    names = [name for name in names if not _hidden(PurePosixPath(name))]
    notebooks = [name for name in names if name.lower().endswith(NOTEBOOK)]
    return notebooks, [f"{file}: holds {name}, which is not read: unpack it" for name in names if name.endswith(ZIP)]


def _who(label: str, pattern: re.Pattern[str] | None) -> tuple[str, ...]:
    """The student that the expression finds in a path, or the path where it finds none; nobody without one."""
    if pattern is None:
        return ()
    matched = pattern.search(label)
    return (label,) if matched is None else (_group(matched),)


def _group(matched: re.Match[str]) -> str:
    if "id" in matched.re.groupindex:
        return matched["id"] or matched[0]
    return (matched[1] if matched.re.groups else None) or matched[0]


def names(inner: PurePosixPath, outer: str, exercises: Collection[str] = ()) -> Iterator[str]:
    """What in a notebook's path may name its student, the likeliest first.

    Args:
        inner: Its path within what was given.
        outer: The name of what was given.
        exercises: Names of exercises.

    >>> list(names(PurePosixPath("Ada Lovelace_815_assignsubmission_file_/01_a.ipynb"), "all"))
    ['Ada Lovelace', '815']
    >>> list(names(PurePosixPath("lovelaceada_LATE_42_99_01_a-1.ipynb"), "submissions"))
    ['lovelaceada', '42']
    >>> list(names(PurePosixPath("submitted/ada/week1/01_a.ipynb"), "course"))
    ['ada']
    >>> list(names(PurePosixPath("ada-01_a.ipynb"), "inbox", ["01_a"]))
    ['ada']
    """
    parts = [part for part in inner.parts if part not in ("..", "/")]
    while len(parts) > 1 and parts[0].lower() in WRAPPERS:
        del parts[0]
    for part in parts:
        for form in (MOODLE, CANVAS):
            if matched := form.match(part):
                yield from matched.groups()
                return
    if len(parts) > 1:
        yield parts[0]
        return
    stem = PurePosixPath(parts[0]).stem if parts else ""
    for name in sorted(exercises, key=len, reverse=True):
        stem = stem.replace(name, " ")
    yield re.sub(r"\s*\(\d+\)$", "", stem).strip(" _.-") or outer
