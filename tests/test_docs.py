"""The site: what is written from data, what a reader would type, and what the check of a built site notices."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from agentlab.analysis import IMPORTERS
from agentlab.cli import parser
from agentlab.policy.presets import preset_names

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted((ROOT / "docs").glob("*.md"))
BUILD: dict[str, Any] = runpy.run_path(str(ROOT / "docs" / "build.py"))
TEXTS = {page.name: page.read_text(encoding="utf-8") for page in PAGES}
BLOCKS = [
    (name, block)
    for name, text in TEXTS.items()
    for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
]
FENCED = [
    line
    for text in TEXTS.values()
    for each in re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    for line in each.splitlines()
]
COMMANDS = sorted(
    {
        command.strip()
        for line in [*FENCED, *(c for text in TEXTS.values() for c in re.findall(r"`(agentlab [^`]+)`", text))]
        for command in line.partition("#")[0].split("&&")
        if command.strip().startswith("agentlab ") and not command.strip().endswith("--help")
    }
)


@pytest.mark.parametrize(("page", "block"), BLOCKS, ids=[name for name, _ in BLOCKS])
def test_its_python_runs_and_shows_something(page: str, block: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(block, page, "exec"), {})
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("command", COMMANDS)
def test_its_commands_are_commands(command: str) -> None:
    assert parser().parse_args(shlex.split(command)[1:]).run


def test_every_row_of_the_path_is_in_its_table() -> None:
    rows = BUILD["path_table"]().splitlines()
    assert rows[0].startswith("| | minutes |")
    assert len(rows) >= 16
    assert "[01 Observation and continuation](notebooks/01_observation_and_continuation.ipynb) | 25 |" in rows[3]
    assert "(exercises/student/01_limits.ipynb)" in "".join(rows)
    assert not [target for target in re.findall(r"\]\(([^)]+)\)", "".join(rows)) if not (ROOT / target).exists()]


def test_a_notebook_that_is_not_there_is_named_and_not_linked() -> None:
    text = "[01](01_observation_and_continuation.ipynb), [99](99_no.ipynb)"
    assert BUILD["linked"](text, ROOT / "notebooks") == "[01](01_observation_and_continuation.ipynb), 99"


def test_every_preset_and_every_format_is_told_of() -> None:
    policies, formats = BUILD["policies_list"](), BUILD["formats_table"]()
    assert [name for name in preset_names() if f"### {name}\n" not in policies] == []
    assert [name for name in IMPORTERS if f"`{name}`" not in formats] == []


def test_every_layer_has_a_page() -> None:
    names = [name for layer in BUILD["layers"]() for name in layer]
    assert names[0] == "cli"
    assert {"loop", "observe", "truncate", "messages"} <= set(names)
    listed = BUILD["layers_list"]()
    assert [name for name in names if f"[{name}](api/{name}.md)" not in listed] == []
    for name in ("loop", "analysis", "providers"):
        assert f".. automodule:: agentlab.{name}\n" in BUILD["api_page"](name)
    assert "agentlab.providers.offline" in BUILD["api_page"]("providers")
    assert "automodule:: agentlab.analysis.curve" not in BUILD["api_page"]("analysis")


def test_what_a_package_lends_is_documented_once() -> None:
    import agentlab.testing

    assert "Usage" in BUILD["lent"](agentlab.testing).split(", ")
    assert "provider_server" not in BUILD["lent"](agentlab.testing).split(", ")


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ('<a href="no.html">x</a>', "a.html links to no.html, which is not there"),
        ('<a href="b.html#no">x</a>', "a.html links to b.html#no, and there is no such place in it"),
        ('<script src="https://cdn.example/x.js"></script>', "a.html loads https://cdn.example/x.js"),
        ('<link rel="stylesheet" href="//fonts.example/x.css">', "a.html loads //fonts.example/x.css"),
        ('<img src="no.png">', "a.html links to no.png, which is not there"),
    ],
)
def test_what_is_wrong_with_a_site_is_named(tmp_path: Path, html: str, said: str) -> None:
    (tmp_path / "a.html").write_text(html)
    (tmp_path / "b.html").write_text("<p>")
    assert list(BUILD["broken"](tmp_path)) == [said]


def test_a_style_that_loads_a_font_from_elsewhere_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text("@import 'https://fonts.example/a.css'; p { background: url(a.png) }")
    assert list(BUILD["broken"](tmp_path)) == ["a.css loads https://fonts.example/a.css"]


def test_a_whole_site_has_nothing_wrong(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "index.html").write_text('<p id="here"><a href="../a.html">a</a> <a href="#here">b</a>')
    (tmp_path / "a.html").write_text('<a href="b/#here">b</a> <a href="https://example.org">c</a> <img src="data:,">')
    assert list(BUILD["broken"](tmp_path)) == []


def test_docstrings_in_markdown_are_put_into_sphinx_words() -> None:
    pytest.importorskip("docutils")
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        to_rst = runpy.run_path(str(ROOT / "docs" / "markdown_docstrings.py"))["to_rst"]
    finally:
        sys.path.pop(0)
    assert to_rst(["    >>> a`b`", "    `c`", "", "`d e`"]) == ["    >>> a`b`", "    `c`", "", "``d e``", ""]
