"""A notebook that was handed in, read as data: nothing of it is imported, executed or copied here."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.errors import InputError
from agentlab.grading.exercise import METADATA

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable

    from agentlab.grading.exercise import Exercise, Paragraph

MAX_BYTES = 20 * 2**20
"""A larger notebook is not read: it holds outputs that nobody needs."""
MAX_CELLS = 1_000


class OwnCell(msgspec.Struct, frozen=True):
    """A cell of the student's.

    Attributes:
        ident: Its id in the exercise, or "" for one that the student added.
        place: Its place in the notebook, from 1, counting all cells.
        code: Its text.
        markdown: It is text to read.
    """

    ident: str
    place: int
    code: str
    markdown: bool = False

    @property
    def key(self) -> str:
        """A name that no other cell of the notebook has."""
        return f"#{self.place}"

    @property
    def title(self) -> str:
        """How a report calls it."""
        return f"cell {self.place}" + (f" ({self.ident})" if self.ident else "")


class Notebook(msgspec.Struct, frozen=True):
    """A notebook that was handed in.

    Attributes:
        digest: Of its bytes: equal for equal notebooks.
        exercise: Name of its exercise as its metadata have it, or "".
        cells: All cells, in order.
    """

    digest: str
    exercise: str
    cells: list[OwnCell]

    @property
    def code(self) -> list[OwnCell]:
        """Its code cells."""
        return [cell for cell in self.cells if not cell.markdown]


def parse(content: bytes) -> Notebook:
    """Read a notebook.

    Raises:
        InputError: It is no notebook of format 4, or too large.

    >>> parse(b'{"nbformat": 4, "metadata": {}, "cells": [{"cell_type": "code", "source": ["a = 1"]}]}').cells[0].code
    'a = 1'
    >>> parse(b"{")
    Traceback (most recent call last):
    agentlab.errors.InputError: is damaged (no JSON), expected a notebook: ask for it again
    """
    if len(content) > MAX_BYTES:
        raise InputError(
            f"has {len(content):,} bytes, expected at most {MAX_BYTES:,}: clear its outputs, hand in again"
        )
    if not content.strip():
        raise InputError("is empty, expected a notebook: ask for it again")
    try:
        data = msgspec.json.decode(content)
    except (msgspec.DecodeError, RecursionError):
        raise InputError("is damaged (no JSON), expected a notebook: ask for it again") from None
    if not isinstance(data, dict) or not isinstance(data.get("cells"), list):
        raise InputError("is no notebook of format 4 (it has no cells): save it once in JupyterLab, and hand in again")
    if len(data["cells"]) > MAX_CELLS:
        raise InputError(f"has {len(data['cells']):,} cells, expected at most {MAX_CELLS:,}")
    cells = [_cell(place, cell) for place, cell in enumerate(data["cells"], 1)]
    named = _ours(data).get("exercise")
    digest = hashlib.sha256(content).hexdigest()
    return Notebook(digest, named if isinstance(named, str) else "", [cell for cell in cells if cell is not None])


def _cell(place: int, cell: Any) -> OwnCell | None:
    if not isinstance(cell, dict) or cell.get("cell_type") not in ("code", "markdown"):
        return None
    source = cell.get("source", "")
    if isinstance(source, list):
        source = "".join(part for part in source if isinstance(part, str))
    ident = _ours(cell).get("id")
    if not isinstance(source, str):
        source = ""
    return OwnCell(ident if isinstance(ident, str) else "", place, source, cell["cell_type"] == "markdown")


def _ours(item: dict[str, Any]) -> dict[str, Any]:
    """What the metadata of a notebook or cell say of us."""
    metadata = item.get("metadata")
    ours = metadata.get(METADATA) if isinstance(metadata, dict) else None
    return ours if isinstance(ours, dict) else {}


def exercise_of(notebook: Notebook, exercises: Iterable[Exercise]) -> Exercise | None:
    """The exercise of a notebook: by its metadata, else the one that most of its cells' ids are from, else None."""
    listed = list(exercises)
    for exercise in listed:
        if exercise.name == notebook.exercise:
            return exercise
    idents = {cell.ident for cell in notebook.cells if cell.ident}
    shared = [(len(idents & {cell.id for cell in exercise.cells}), exercise.name, exercise) for exercise in listed]
    best = max(shared, key=lambda each: each[:2], default=None)
    return best[2] if best is not None and best[0] > len(idents) / 2 else None


def paragraph_of(cells: Iterable[OwnCell], paragraph: Paragraph) -> str:
    """The text that a person marks: the cell's, or what the cell assigns to the variable; "" where there is none."""
    texts = [cell for cell in cells if cell.ident == paragraph.cell]
    for cell in reversed(texts):
        if not paragraph.variable:
            return cell.code.strip()
        assigned = _assigned(cell.code, paragraph.variable)
        if assigned is not None:
            return assigned.strip()
    return ""


def _assigned(code: str, name: str) -> str | None:
    """The text that code assigns to a name, the last time; nothing runs.

    One that is put together, as by an f-string, is given as it stands in the code: a person reads that as well.
    """
    import ast

    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = None
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign):
            continue
        if any(isinstance(target, ast.Name) and target.id == name for target in node.targets):
            text = _text_of(node.value, code)
            found = found if text is None else text
    return found


def _text_of(value: ast.expr, code: str) -> str | None:
    import ast

    if isinstance(value, ast.Constant):
        return value.value if isinstance(value.value, str) else None
    texts = [each.value for each in ast.walk(value) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return ast.get_source_segment(code, value) if any(text.strip() for text in texts) else None


def changed(notebook: Notebook, exercise: Exercise) -> list[str]:
    """What the student made of cells that are ours: they run as they were, so that it costs no points."""
    said = []
    for cell in exercise.cells:
        if cell.kind not in ("setup", "check") or (cell.kind == "check" and exercise.check(cell.id).hidden):
            continue
        copies = [own for own in notebook.cells if own.ident == cell.id and not own.markdown]
        ours = cell.source if cell.kind == "setup" else exercise.check(cell.id).code
        if not copies:
            said.append(f"{cell.kind} cell {cell.id!r} was deleted, and ran as it was")
        elif any(ours.strip() not in own.code for own in copies):
            said.append(f"{cell.kind} cell {cell.id!r} was edited, and ran as it was")
    return said
