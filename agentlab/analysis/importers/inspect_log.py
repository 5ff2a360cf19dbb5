"""Inspect's evaluation logs: `.eval`, a zip archive with a file per sample, and `.json`.

A session for each sample and epoch. The samples of an archive are read one after the other; one that is cut off, and so
has no directory, is read member by member up to there. `attachment://` references are resolved before anything is
counted.

Source: UK AISI, `inspect_ai`, logs of versions 2 and 3.
"""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING, Any

from agentlab.analysis.importers.fields import list_of, object_of
from agentlab.analysis.importers.inspect_sample import NAME, sessions_of
from agentlab.analysis.importers.peek import decode, whole_items
from agentlab.errors import InputError
from agentlab.transcript import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from agentlab.analysis.importers.peek import Peek
    from agentlab.analysis.session import Session

__all__ = ["EXPECTS", "NAME", "read", "recognises"]

EXPECTS = "Inspect's log: an .eval archive, or its JSON with eval and samples"

_MAGIC = b"PK\x03\x04"
_SAMPLES = re.compile(rb'"samples"\s*:\s*\[')
_EVAL = re.compile(rb'"eval"\s*:\s*\{')
_SAMPLE = re.compile(r"samples/.+\.json")
_HEADERS = ("header.json", "_journal/start.json")
_NUMBERS = re.compile(r"(\d+)")


def recognises(peek: Peek) -> bool:
    """Whether it is an archive of Inspect's, or a JSON document of it, whole or cut off."""
    if peek.is_folder:
        return False
    if peek.path.suffix == ".eval":
        return bool(peek.head) and _MAGIC.startswith(peek.head[:4])
    beginning = peek.head[: 1 << 14]
    if not beginning.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") or not _EVAL.search(beginning):
        return False
    return b'"run_id"' in beginning and b'"task"' in beginning and b'"plan"' in peek.head


def read(peek: Peek) -> list[Session]:
    """A session for each sample, and for each sub-agent in it."""
    sessions: list[Session] = []
    samples = _archived(peek) if peek.path.suffix == ".eval" else _listed(peek)
    for line, where, sample, header in samples:

        def report(reason: str, line: int = line, where: str = where) -> None:
            peek.problems.append(Problem(str(peek.path), line, f"{where}: {reason}"))

        if not isinstance(sample, dict):
            report("skipped: expected a sample, an object")
            continue
        try:
            sessions += sessions_of(sample, peek.path, header, report)
        except RecursionError:
            report("skipped: nested too deep")
    return sessions


_Located = tuple[int, str, Any, dict[str, Any]]


def _listed(peek: Peek) -> Iterator[_Located]:
    """The samples of a JSON document; those before the damage where it breaks off."""
    document, line = peek.document, 1
    if isinstance(document, dict):
        samples = list_of(document.get("samples"))
    else:
        samples, line, document = _salvaged_samples(peek)
    for number, sample in enumerate(samples):
        yield line, f"samples[{number}]", sample, document


def _salvaged_samples(peek: Peek) -> tuple[list[Any], int, dict[str, Any]]:
    from json import JSONDecoder

    data = peek.path.read_bytes()
    header: dict[str, Any] = {}
    if (found := _EVAL.search(data)) is not None:
        text = data[found.end() - 1 :].decode("utf-8", "replace")
        try:
            header = {"eval": JSONDecoder().raw_decode(text)[0]}
        except (ValueError, RecursionError):
            header = {}
    begin = _SAMPLES.search(data)
    if begin is None:
        raise InputError("not whole JSON, and there are no samples before it breaks off", path=peek.path)
    start = begin.end() - 1
    samples, line = whole_items(data[start:])
    line += data.count(b"\n", 0, start)
    reason = f"not whole JSON: read up to here, {len(samples)} sample{'' if len(samples) == 1 else 's'}"
    peek.problems.append(Problem(str(peek.path), line, reason))
    return samples, 1, header


def _archived(peek: Peek) -> Iterator[_Located]:
    """The samples of an archive, in the order of their names, one in memory at a time."""
    from zipfile import BadZipFile, LargeZipFile, ZipFile

    def report(reason: str) -> None:
        peek.problems.append(Problem(str(peek.path), 1, reason))

    try:
        archive = ZipFile(peek.path)
    except (BadZipFile, LargeZipFile, OSError, ValueError, NotImplementedError, EOFError) as error:
        report(f"the archive is damaged ({error}): read up to the damage")
        yield from _salvaged_members(peek, report)
        return
    with archive:
        names = set(archive.namelist())
        header: Any = next(
            (head for name in _HEADERS if name in names and (head := _member(archive, name, report))), {}
        )
        for name in sorted(filter(_SAMPLE.fullmatch, names), key=_natural):
            sample = _member(archive, name, report)
            if sample is not None:
                yield 1, name, sample, object_of(header)


def _member(archive: Any, name: str, report: Callable[[str], None]) -> Any:
    """The JSON of a member; None where it cannot be read."""
    from zipfile import BadZipFile

    try:
        return decode(archive.read(name))
    except (BadZipFile, zlib.error, OSError, ValueError, NotImplementedError, EOFError, RuntimeError) as error:
        report(f"{name}: skipped: it is damaged ({error})")
        return None


def _salvaged_members(peek: Peek, report: Callable[[str], None]) -> Iterator[_Located]:
    """The samples of an archive without a directory: its members, as they stand in the file."""
    header: dict[str, Any] = {}
    found: list[tuple[str, bytes]] = []
    for name, packed in _members(peek.path.read_bytes()):
        if name in _HEADERS and (value := _unpacked(packed, name, report)) is not None:
            header = object_of(value)
        elif _SAMPLE.fullmatch(name):
            found.append((name, packed))
    for name, packed in sorted(found, key=lambda each: _natural(each[0])):
        if (sample := _unpacked(packed, name, report)) is not None:
            yield 1, name, sample, header


def _members(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Name and packed content of each member, by the headers before them (PKWARE, "APPNOTE", 4.3.7)."""
    at = data.find(_MAGIC)
    while at >= 0 and at + 30 <= len(data):
        method = int.from_bytes(data[at + 8 : at + 10], "little")
        size = int.from_bytes(data[at + 18 : at + 22], "little")
        name_size, extra = (int.from_bytes(data[at + n : at + n + 2], "little") for n in (26, 28))
        begin = at + 30 + name_size + extra
        name = data[at + 30 : at + 30 + name_size].decode("utf-8", "replace")
        following = data.find(_MAGIC, begin + size)
        whole = size if 0 < size < (1 << 32) - 1 else (following if following >= 0 else len(data)) - begin
        yield name, (b"\0" if method == 0 else b"\x08") + data[begin : begin + whole]
        at = following


def _unpacked(packed: bytes, name: str, report: Callable[[str], None]) -> Any:
    """The JSON of a packed member; None where it is not whole."""
    try:
        return decode(packed[1:] if packed[:1] == b"\0" else zlib.decompressobj(-15).decompress(packed[1:]))
    except (zlib.error, ValueError) as error:
        report(f"{name}: skipped: it is not whole ({error})")
        return None


def _natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts numbers by their value."""
    parts = enumerate(_NUMBERS.split(name))
    return [(int(part[:18]), "") if at % 2 else (-1, part) for at, part in parts]
