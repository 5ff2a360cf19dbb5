"""Widgets in the notebooks as they are committed: what they show without a kernel, as on GitHub and in print."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
VIEW = "application/vnd.jupyter.widget-view+json"
WIDGETS = {
    "00_start_here": {"ChatLab"},
    "01_observation_and_continuation": {"CutExplorer"},
    "01b_tokens_and_characters": {"CutExplorer"},
    "04_forgetting": {"BudgetLab"},
    "07_your_own_log": {"SessionExplorer", "CutExplorer", "BudgetLab"},
}
MADE = re.compile(r"\b(ChatLab|CutExplorer|SessionExplorer|BudgetLab)\(")


def code_of(path: Path) -> list[tuple[str, list[dict[str, Any]]]]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [("".join(cell["source"]), cell["outputs"]) for cell in cells if cell["cell_type"] == "code"]


@pytest.mark.parametrize("name", WIDGETS)
def test_a_widget_shows_as_html_that_needs_no_script(name: str) -> None:
    shown = set()
    for source, outputs in code_of(NOTEBOOKS / f"{name}.ipynb"):
        made = MADE.findall(source)
        if made:
            (output,) = outputs
            html = "".join(output["data"]["text/html"])
            assert "<script" not in html
            assert len(html) > 1_000
            shown |= set(made)
    assert shown == WIDGETS[name]


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_no_output_names_a_model_that_is_gone(path: Path) -> None:
    assert "widgets" not in json.loads(path.read_text(encoding="utf-8"))["metadata"]
    assert not [source for source, outputs in code_of(path) for each in outputs if VIEW in each.get("data", {})]


def test_the_build_leaves_what_shows_without_a_kernel() -> None:
    keep_static = runpy.run_path(str(NOTEBOOKS / "source" / "build.py"))["keep_static"]
    outputs: list[dict[str, Any]] = [{"data": {VIEW: {"model_id": "1"}, "text/html": "<p>"}}, {"text": "printed"}]
    keep_static(SimpleNamespace(cells=[{"cell_type": "markdown"}, {"outputs": outputs}]))
    assert outputs == [{"data": {"text/html": "<p>"}}, {"text": "printed"}]
