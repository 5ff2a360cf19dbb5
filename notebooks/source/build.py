"""Write the notebooks: their sources are the `.py` files beside this script, in jupytext's percent format.

    python notebooks/source/build.py            executes the sources and writes the notebooks, outputs included
    python notebooks/source/build.py 02 04      only those whose names begin so
    python notebooks/source/build.py --check    changes nothing; exit code 1 where a notebook is not from its source

A notebook is only edited through its source. `--check` compares the cells and leaves the outputs to nbval.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

SOURCE = Path(__file__).resolve().parent
NOTEBOOKS = SOURCE.parent
CELL_SECONDS = 120
VIEW = "application/vnd.jupyter.widget-view+json"


def sources(names: Sequence[str] = ()) -> list[Path]:
    """The sources, in the order of their numbers: all, or those whose names begin with one of `names`."""
    found = sorted(SOURCE.glob("[0-9][0-9]*_*.py"))
    return [source for source in found if source.stem.startswith(tuple(names))] if names else found


def notebook_of(source: Path) -> Any:
    """The notebook of a source, without outputs; its cells have the same ids at every build."""
    import jupytext

    notebook = jupytext.read(source)
    notebook.metadata.pop("jupytext", None)
    for number, cell in enumerate(notebook.cells, 1):
        cell.id = f"cell-{number:02d}"
        cell.metadata.pop("lines_to_next_cell", None)
    return notebook


def keep_static(notebook: Any) -> None:
    """Leave what shows without a kernel: a view of a widget names a model that is gone with the kernel."""
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(VIEW, None)


def build(source: Path) -> Path:
    """Execute a source where its notebook stands, and write the notebook."""
    import nbformat
    from nbclient import NotebookClient

    notebook = notebook_of(source)
    place = {"metadata": {"path": str(NOTEBOOKS)}}
    settings = {"timeout": CELL_SECONDS, "record_timing": False, "coalesce_streams": True, "store_widget_state": False}
    NotebookClient(notebook, resources=place, **settings).execute()
    keep_static(notebook)
    notebook.metadata.language_info = {"name": "python"}
    target = NOTEBOOKS / f"{source.stem}.ipynb"
    written = target.with_suffix(".tmp")
    nbformat.write(notebook, written)
    written.replace(target)
    return target


def cells_of(notebook: Any) -> list[tuple[Any, ...]]:
    """What a source decides of a notebook: ids, types, texts and tags."""
    return [(cell.id, cell.cell_type, cell.source, cell.metadata.get("tags", [])) for cell in notebook.cells]


def is_current(source: Path) -> bool:
    """Whether a notebook is there and has the cells of its source."""
    import nbformat

    target = NOTEBOOKS / f"{source.stem}.ipynb"
    return target.is_file() and cells_of(nbformat.read(target, as_version=4)) == cells_of(notebook_of(source))


def say(line: str) -> None:
    """Tell the person who runs it."""
    sys.stdout.write(f"{line}\n")


def main(arguments: list[str] | None = None) -> int:
    """Build or check; returns the exit code."""
    parser = argparse.ArgumentParser(description="Write the notebooks from their sources.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail where a notebook is not current")
    parser.add_argument("names", nargs="*", help="beginnings of the names of notebooks, such as 02; without them all")
    given = parser.parse_args(arguments)
    chosen = sources(given.names)
    if not chosen:
        parser.error(f"no source in notebooks/source begins with {' or '.join(given.names)}")
    if given.check:
        stale = [source.stem for source in chosen if not is_current(source)]
        for name in stale:
            say(f"notebooks/{name}.ipynb is not what its source says: run python notebooks/source/build.py")
        return 1 if stale else 0
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    for source in chosen:
        say(f"wrote notebooks/{build(source).name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
