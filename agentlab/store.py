"""Where results are kept in full, so that what a cut left out can be read back.

One append-only pack per session, with an index line per text. A text's id is the first 12 hex digits of its sha256, so
the same text is kept once and no call can be shown another call's result.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from agentlab.errors import InputError, UnknownResultError

ID_DIGITS = 12


class Entry(msgspec.Struct, frozen=True):
    """An index line: where a text lies in the pack; `digest` is its whole sha256."""

    id: str
    offset: int
    bytes: int
    chars: int
    digest: str


class Store:
    r"""Texts by id.

    Args:
        folder: Holds `pack.txt` and `index.jsonl`, made when the first text comes; None keeps the texts in memory.

    >>> store = Store()
    >>> key = store.put("alpha\\nbeta\\n")
    >>> store.get(key), store.put("alpha\\nbeta\\n") == key
    ('alpha\\nbeta\\n', True)
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = None if folder is None else Path(folder)
        self.problems: list[str] = []
        self._texts: dict[str, str] = {}
        self._entries: dict[str, Entry] = {}
        self._pack = self._index = -1
        self._sha256: type | None = None
        if self.folder is not None and (self.folder / "index.jsonl").exists():
            self._read_index(self.folder / "index.jsonl")

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: str) -> bool:
        return key in self._entries

    def put(self, text: str) -> str:
        """Keep a text; returns its id. The same text is written once.

        Raises:
            OSError: The disk refused.
        """
        data = text.encode("utf-8", "surrogatepass")
        digest = self._digest(data)
        length = ID_DIGITS
        while (known := self._entries.get(digest[:length])) is not None:
            if known.digest == digest:
                return known.id
            length += 4
        entry = Entry(digest[:length], 0, len(data), len(text), digest)
        if self.folder is None:
            self._texts[entry.id] = text
        else:
            entry = self._write(entry, data)
        self._entries[entry.id] = entry
        return entry.id

    def get(self, key: str) -> str:
        """The whole text.

        Raises:
            UnknownResultError: No text has this id; the text names the nearest id.
        """
        entry = self._entries.get(key)
        if entry is None:
            raise UnknownResultError(self._unknown(key))
        if self.folder is None:
            return self._texts[key]
        try:
            with (self.folder / "pack.txt").open("rb") as pack:
                pack.seek(entry.offset)
                data = pack.read(entry.bytes)
        except OSError:
            data = b""
        if len(data) != entry.bytes or self._digest(data) != entry.digest:
            raise UnknownResultError(f"the stored result {key!r} is no longer there: call the tool again")
        return data.decode("utf-8", "surrogatepass")

    def close(self) -> None:
        """Close the files; the next `put` opens them again."""
        for descriptor in (self._pack, self._index):
            if descriptor >= 0:
                os.close(descriptor)
        self._pack = self._index = -1

    def _digest(self, data: bytes) -> str:
        if self._sha256 is None:
            from hashlib import sha256

            self._sha256 = sha256  # type: ignore[assignment]  # a function that makes one
        return self._sha256(data).hexdigest()  # type: ignore[misc,no-any-return]

    def _unknown(self, key: str) -> str:
        from difflib import get_close_matches

        close = get_close_matches(key, self._entries, n=1)
        hint = f"did you mean {close[0]!r}?" if close else "ids stand in the notes of cut results."
        return f"no stored result has the id {key!r}: {hint} If it is of an earlier session, call the tool again."

    def _write(self, entry: Entry, data: bytes) -> Entry:
        """Append the text, then its index line: a text without a line is dead weight, never a wrong result."""
        if self._index < 0:
            self._open()
        write_all(self._pack, data)
        end = os.lseek(self._pack, 0, os.SEEK_CUR)  # where the system put it: another writer may append here too
        entry = msgspec.structs.replace(entry, offset=end - len(data))
        try:
            write_all(self._index, msgspec.json.encode(entry) + b"\n")
        except OSError:
            self.close()  # the next line is then a fresh one
            raise
        return entry

    def _open(self) -> None:
        folder = self.folder
        if folder is None:
            raise InputError("a store without a folder keeps its texts in memory")
        folder.mkdir(parents=True, exist_ok=True)
        self._pack = open_for_append(folder / "pack.txt", lines=False)
        self._index = open_for_append(folder / "index.jsonl")

    def _read_index(self, path: Path) -> None:
        decoder = msgspec.json.Decoder(Entry)
        for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
            if line:
                try:
                    entry = decoder.decode(line)
                except msgspec.DecodeError as error:
                    self.problems.append(f"{path}:{number}: not an index line ({error}): its text cannot be read back")
                else:
                    self._entries[entry.id] = entry


def open_for_append(path: Path, *, lines: bool = True) -> int:
    """Open a file for appends of whole lines; a torn last line is ended first, so that the next one is fresh."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    size = os.fstat(descriptor).st_size
    if lines and size:
        os.lseek(descriptor, size - 1, os.SEEK_SET)
        if os.read(descriptor, 1) != b"\n":
            write_all(descriptor, b"\n")
    return descriptor


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of it: one write, and more only where the system took a part."""
    written = os.write(descriptor, data)
    while written < len(data):
        written += os.write(descriptor, data[written:])
