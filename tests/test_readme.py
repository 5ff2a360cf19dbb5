"""The README: its Python runs, its commands are commands, its links lead somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from agentlab.cli import parser

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^ *```python\n(.*?)^ *```", README, re.DOTALL | re.MULTILINE)
FENCED = re.findall(r"^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
INLINE = [" ".join(text.split()) for text in re.findall(r"`(agentlab [^`]+)`", README)]
LINES = [line.split("#")[0].strip() for block in FENCED for line in block.splitlines() if line.startswith("agentlab ")]
COMMANDS = sorted({command for command in (*INLINE, *LINES) if not command.endswith("--help")})


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_its_python_runs_and_shows_something(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import textwrap

    monkeypatch.chdir(ROOT)
    exec(compile(textwrap.dedent(BLOCKS[number]), "README.md", "exec"), {})
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("command", COMMANDS)
def test_its_commands_are_commands(command: str) -> None:
    arguments = shlex.split(command)[1:]
    assert parser().parse_args(arguments).run


def test_its_links_lead_to_files() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def test_the_offline_answers_of_its_examples_are_right(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import textwrap

    monkeypatch.chdir(ROOT)
    said = []
    for block in BLOCKS:
        exec(compile(textwrap.dedent(block), "README.md", "exec"), {})
        said.append(capsys.readouterr().out)
    assert any("characters omitted from the middle" in out for out in said)
    assert any("8 messages" in out for out in said)
    assert any("Oslo: 12 degrees" in out for out in said)
