"""The notebook that takes a reader's own log, on logs of every format and on odd ones: it gets to its last cell."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared" / "data" / "sessions"
NOTEBOOK = ROOT / "notebooks" / "07_your_own_log.ipynb"
OURS = [ROOT / "data" / "sessions" / name for name in ("short", "trace-1", "harness", "uncut")]
THEIRS = sorted(path for path in SHARED.iterdir() if path.is_dir()) if SHARED.is_dir() else []
CHOICE = 'LOG = ""'


def last_value(log: Path) -> tuple[str, dict[str, Any]]:
    """Run all its cells with a log in the place of none; what the last one shows, and all names."""
    import matplotlib as mpl

    mpl.use("Agg")
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    codes = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert sum(code.startswith(CHOICE) for code in codes) == 1
    names: dict[str, Any] = {}
    value = None
    for code in codes:
        tree = ast.parse(code.replace(CHOICE, f"LOG = {str(log)!r}", 1) if code.startswith(CHOICE) else code)
        shown = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, "cell", "exec"), names)
        if isinstance(shown, ast.Expr):
            value = eval(compile(ast.Expression(shown.value), "cell", "eval"), names)
            if hasattr(value, "html"):
                assert value.html()
    return value.data, names


@pytest.fixture(autouse=True)
def _in_the_folder_of_the_notebook() -> Any:
    import matplotlib.pyplot as plt

    before = Path.cwd()
    os.chdir(NOTEBOOK.parent)
    yield
    os.chdir(before)
    plt.close("all")


@pytest.mark.parametrize("log", [*OURS, *THEIRS], ids=lambda path: path.name)
def test_it_reaches_a_conclusion(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    conclusion, names = last_value(log)
    session = names["session"]
    assert f"**{session.format}, calls: {len(session.calls)}" in conclusion
    assert "prompt tokens (" in conclusion
    assert conclusion.count("of the tokens") == 2
    assert conclusion.splitlines()[-1].startswith("> I would")
    assert "a log of yours" in capsys.readouterr().out


def test_a_session_without_tools_or_usage_is_told_of_and_not_refused(tmp_path: Path) -> None:
    talk = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    (tmp_path / "talk.json").write_text(json.dumps(talk))
    conclusion, names = last_value(tmp_path / "talk.json")
    assert "(estimated, at least in part)" in conclusion
    assert "names cited: 0" in conclusion
    assert names["pretend"]


def test_its_last_cell_holds_no_text_of_a_message() -> None:
    conclusion, names = last_value(OURS[0])
    texts = [record.text for record in names["session"].records if len(record.text) > 20]
    assert texts
    assert not [text for text in texts if text[:20] in conclusion]
