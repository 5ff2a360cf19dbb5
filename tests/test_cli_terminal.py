"""The command at the edges of a terminal: closed, full and broken streams, other encodings, Ctrl-C."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentlab.__main__ import main
from agentlab.cli.progress import Progress
from agentlab.cli.terminal import write_json
from agentlab.events import ToolFinished, TurnFinished, TurnStarted
from agentlab.messages import ToolCall, Usage
from agentlab.providers.scripted import ScriptedModel
from agentlab.runner import Runner
from agentlab.transcript import read_session

COMMAND = [sys.executable, "-m", "agentlab"]
FULL = Path("/dev/full")
TALK = json.dumps([{"role": "user", "content": "Grüße"}, {"role": "assistant", "content": "Grüße zurück."}])
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}


def shell(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of sh, in which `agentlab` is the command."""
    whole = f'agentlab() {{ "{sys.executable}" -m agentlab "$@"; }}; {line}'
    env = {**os.environ, **environment}
    return subprocess.run(["/bin/bash", "-c", whole], cwd=folder, env=env, capture_output=True, check=False, timeout=60)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "talk.json").write_text(TALK, encoding="utf-8")
    return tmp_path


@pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("command", ["curve talk.json", "curve talk.json --json", "doctor"])
def test_a_full_disk_behind_the_output_is_one_line(folder: Path, command: str) -> None:
    done = shell(f"agentlab {command} > /dev/full", folder)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"cannot be written: No space left on device" in done.stderr


def test_a_closed_output_is_one_line_and_a_closed_input_ends_a_chat(folder: Path) -> None:
    done = shell("agentlab doctor >&-", folder)
    assert (done.returncode, done.stderr.count(b"\n")) == (2, 1)
    assert b"standard output is closed" in done.stderr
    done = shell("agentlab chat <&-", folder)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("command", ["curve talk.json", "doctor"])
def test_a_reader_that_has_gone_is_no_failure(folder: Path, command: str) -> None:
    done = shell(f"agentlab {command} | true; echo ${{PIPESTATUS[0]}}", folder)
    assert (done.stdout, done.stderr) == (b"0\n", b"")


def test_a_run_goes_on_when_nobody_reads_its_progress(folder: Path) -> None:
    done = shell("agentlab run --prompt Hi --out out 2>&1 >/dev/null | true; echo ${PIPESTATUS[0]}", folder)
    assert done.stdout == b"0\n"
    assert [turn.reason for turn in read_session(folder / "out")[0].turns] == ["reply"]


def test_an_output_without_umlauts_is_given_escapes(folder: Path) -> None:
    chat = "printf 'Grüße\\n\\n' | agentlab chat --transcript t.jsonl"
    done = shell(f"{chat} && agentlab curve talk.json && agentlab run --prompt Grüße --out out --json", folder, **ASCII)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert json.loads((folder / "t.jsonl").read_bytes())["prompt"] == "Grüße"
    assert read_session(folder / "out")[0].turns[0].prompt == "Grüße"


def test_json_stays_json_where_the_output_is_ascii(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace")
    monkeypatch.setattr(sys, "stdout", stream)
    write_json({"folder": "Grüße"})
    stream.seek(0)
    assert json.loads(stream.read()) == {"folder": "Grüße"}


def test_ctrl_c_while_the_command_is_loaded_is_no_stack_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loading:
        def __getattr__(self, name: str) -> Any:
            raise KeyboardInterrupt

    monkeypatch.setitem(sys.modules, "agentlab.cli", Loading())
    assert main() == 130


class Broken(io.StringIO):
    """A stream that nobody reads any more."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_display_never_fails_a_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    for stream in (Broken(), io.StringIO()):
        monkeypatch.setattr(sys, "stderr", stream)
        with Runner(ScriptedModel(["Hello.", "Hello."]), sinks=[progress := Progress(2)]) as session:
            if not isinstance(stream, Broken):
                stream.close()
            assert [session.send("Hi").reason, session.send("Hi").reason] == ["reply", "reply"]
        progress.stop()


def test_progress_shows_what_it_is_told_as_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(1)
    progress(TurnStarted(1, "a [/red] b [bold]c[/bold] :smile:"))
    progress(ToolFinished(1, 1, ToolCall("1", "to[/x]ol", {}), 5, 5, False, None))
    progress(TurnFinished(1, "", "re[/y]ply \x1b[2Jend", "complete", "reply", 1, Usage(), [], "", ""))
    shown = capsys.readouterr().err
    for text in ("a [/red] b [bold]c[/bold] :smile:", "to[/x]ol 5 characters", "re[/y]ply \ufffd[2Jend"):
        assert text in shown
