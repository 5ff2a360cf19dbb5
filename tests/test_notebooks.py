"""The notebooks as they are committed: from their sources, small cells, outputs that everybody may see.

That they run, and that compared outputs are still what they were, is what `pytest --nbval-lax notebooks` tests.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import runpy
import shutil
from pathlib import Path

import pytest

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
BUILD = NOTEBOOKS / "source" / "build.py"
PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
MOST_LINES, MOST_COLUMNS = 12, 104
TAGS = {"nbval-check-output"}  # nbval ignores a tag that it does not know
OF_A_MACHINE = re.compile(
    r"(?<![\w.~])/(?:home|root|tmp|work|usr|var|Users|private)/|[A-Za-z]:\\|ipykernel_\d|0x[0-9a-f]{8}"
)
DATES = re.compile(r"\b(?:19|20)\d\d-\d\d-\d\d\b")
THE_DATE = "2026-05-13"  # of the clock that the notebook brings

pytestmark = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def cells_of(path, kind=None):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if kind in {None, cell["cell_type"]}]


def code_of(cell):
    return "".join(cell["source"])


def texts_of(cell):
    """All that a cell's outputs say, pictures left out."""
    for output in cell["outputs"]:
        yield "".join(output.get("text", ""))
        for kind, data in output.get("data", {}).items():
            if not kind.startswith("image/"):
                yield "".join(data) if isinstance(data, list) else str(data)


def test_it_is_from_its_source(path):
    pytest.importorskip("jupytext")
    is_current = runpy.run_path(str(BUILD))["is_current"]
    assert is_current(NOTEBOOKS / "source" / f"{path.stem}.py"), "run python notebooks/source/build.py"


def test_check_notices_a_cell_that_was_edited_in_the_notebook(path, tmp_path, capsys):
    pytest.importorskip("jupytext")
    shutil.copytree(NOTEBOOKS / "source", tmp_path / "source")
    copy = tmp_path / path.name
    main = runpy.run_path(str(tmp_path / "source" / "build.py"))["main"]
    shutil.copy(path, copy)
    assert main(["--check", path.stem]) == 0
    edited = json.loads(path.read_text(encoding="utf-8"))
    edited["cells"][-1]["source"] = ["something else"]
    copy.write_text(json.dumps(edited), encoding="utf-8")
    assert main(["--check", path.stem[:2]]) == 1
    assert f"{path.name} is not what its source says" in capsys.readouterr().out
    assert main(["--check"]) == 1


def test_a_name_that_no_source_has_is_refused(path, capsys):
    pytest.importorskip("jupytext")
    with pytest.raises(SystemExit) as stopped:
        runpy.run_path(str(BUILD))["main"](["--check", f"no-{path.stem}"])
    assert stopped.value.code == 2
    assert f"no source in notebooks/source begins with no-{path.stem}" in capsys.readouterr().err


def test_code_cells_are_small_and_come_after_a_sentence(path):
    before = None
    for cell in cells_of(path):
        if cell["cell_type"] == "code":
            lines = [line for line in code_of(cell).split("\n") if line.strip()]
            assert len(lines) <= MOST_LINES, lines[0]
            assert max(map(len, lines)) <= MOST_COLUMNS, max(lines, key=len)
            assert before is not None
            assert before["cell_type"] == "markdown", lines[0]
        before = cell


def test_every_cell_was_run_in_order_and_shows_something(path):
    cells = cells_of(path, "code")
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        assert cell["outputs"], code_of(cell)
        assert {output["output_type"] for output in cell["outputs"]} <= {"stream", "execute_result", "display_data"}
        assert "stderr" not in {output.get("name") for output in cell["outputs"]}


def test_tags_are_ones_that_nbval_knows(path):
    tags = [tag for cell in cells_of(path) for tag in cell["metadata"].get("tags", [])]
    assert set(tags) <= TAGS
    assert tags.count("nbval-check-output") >= min(5, len(cells_of(path, "code")) // 2)


def test_outputs_tell_neither_machine_nor_day(path):
    for cell in cells_of(path, "code"):
        for text in texts_of(cell):
            assert not OF_A_MACHINE.search(text), text[:200]
            assert set(DATES.findall(text)) <= {THE_DATE}, text[:200]
        assert cell["metadata"].keys() <= {"tags"}


def test_it_is_quick_to_load(path):
    assert path.stat().st_size < 1_000_000
    pictures = [
        data
        for cell in cells_of(path, "code")
        for output in cell["outputs"]
        for kind, data in output.get("data", {}).items()
        if kind == "image/png"
    ]
    assert pictures
    assert max(map(len, pictures)) < 150_000


def test_it_defines_no_name_of_the_package(path):
    trees = [ast.parse(code_of(cell)) for cell in cells_of(path, "code")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    modules = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module.startswith("agentlab")}
    taken = {name for module in modules for name in dir(importlib.import_module(module)) if not name.startswith("_")}
    made = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.col_offset == 0}
    imported = {
        alias.asname or alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    stored = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    assert imported
    assert not made & taken
    assert not (made | stored) & imported


def test_it_says_that_the_model_is_none(path):
    if any("OfflineModel" in code_of(cell) for cell in cells_of(path, "code")):
        assert "rule-based, not an LLM" in "".join(code_of(cell) for cell in cells_of(path, "markdown"))
