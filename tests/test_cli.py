"""The command `agentlab`: what it prints, what it writes, and that bad input is one line and exit code 2."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentlab.analysis import load
from agentlab.cli import main
from agentlab.cli.doctor import examine
from agentlab.cli.folders import dated_folder, is_empty_folder, make_folder
from agentlab.cli.given import prompts_of
from agentlab.cli.lab import lab_command, materials
from agentlab.cli.models import close_model
from agentlab.cli.results import write_results
from agentlab.errors import InputError
from agentlab.messages import Reply, ToolCall, Usage
from agentlab.providers.replay import Recorder
from agentlab.providers.retry import Retry
from agentlab.providers.scripted import ScriptedModel
from agentlab.testing import check_messages, provider_server
from agentlab.transcript import read_session


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "big.py").write_text("".join(f"value_{n} = {n}\n" for n in range(3_000)) + "THE_END = 1\n")
    (tmp_path / "src" / "small.txt").write_text("one two three\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> tuple[str, str]:
    assert main(arguments) == code
    return capsys.readouterr()


RUN = (
    "run",
    "--workspace",
    "src",
    "--prompt",
    "Read big.py. What is at its end?",
    "--prompt",
    "How many words are in small.txt?",
)


def test_run_writes_a_session_and_prints_what_it_comes_to(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = said(capsys, *RUN, "--out", "first")
    record, problems = read_session(folder / "first")
    assert problems == []
    assert [turn.status for turn in record.turns] == ["complete", "complete"]
    assert record.turns[0].tool_calls[0]["name"] == "read_file"
    check_messages(record.messages)
    for name in ("curve.csv", "curve.png", "cuts.csv", "cuts.png"):
        assert (folder / "first" / name).stat().st_size > 100
    assert (folder / "first" / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert "without continuation" in " ".join(out.split())
    assert "middle_snip" in out
    assert "written to first/" in out


def test_run_as_json_can_be_read_by_a_program(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = said(capsys, *RUN, "--out", "first", "--json")
    whole = json.loads(out)
    assert err == ""
    assert [row["turn"] for row in whole["curve"]] == [1, 2]
    assert len(whole["cuts"]) == 15
    assert {row["limit"] for row in whole["cuts"]} == {500, 1_000, 2_000, 4_000, 16_000}
    first = whole["curve"][0]
    parts = first["new_tokens"] + first["resent_iterations"] + first["resent_turns"] + first["base"]
    assert parts == first["turn_tokens"]


def test_a_recorded_run_is_answered_from_its_cassette(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, *RUN, "--out", "first", "--record", "tape.jsonl", "--json")
    said(capsys, *RUN, "--out", "second", "--cassette", "tape.jsonl", "--json")
    replies = [[turn.reply for turn in read_session(folder / name)[0].turns] for name in ("first", "second")]
    assert replies[0] == replies[1]
    _, err = said(
        capsys,
        "run",
        "--workspace",
        "src",
        "--prompt",
        "Read small.txt",
        "--out",
        "third",
        "--cassette",
        "tape.jsonl",
        code=1,
    )
    assert "provider_error" in err + capsys.readouterr().out or "not recorded" in err


def test_curve_reads_our_folders_and_message_lists(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, *RUN, "--out", "first", "--json")
    ours = json.loads(said(capsys, "curve", "first", "--json")[0])
    run = json.loads(said(capsys, *RUN, "--out", "second", "--json")[0])
    assert len(ours["curve"]) == len(run["curve"]) == 2
    messages = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello."},
    ]
    (folder / "talk.json").write_text(json.dumps(messages))
    out, _ = said(capsys, "curve", "talk.json", "--plot", "talk.png")
    assert "1 call in 1 turn" in out
    assert (folder / "talk.png").stat().st_size > 1_000


TAU = Path(__file__).resolve().parents[2] / "shared" / "data" / "sessions" / "tau-bench" / "gpt-4o-airline.json"


@pytest.mark.skipif(not TAU.exists(), reason="the public tau-bench log is not beside the project")
def test_curve_takes_one_of_the_200_runs_of_tau_bench(capsys: pytest.CaptureFixture[str]) -> None:
    first = json.loads(said(capsys, "curve", str(TAU), "--run", "1", "--json")[0])
    last = json.loads(said(capsys, "curve", str(TAU), "--run", "200", "--json")[0])
    assert first["sessions"] == last["sessions"] == 200
    assert first["session"] != last["session"]
    assert all(row["turn_tokens"] > 0 for row in last["curve"])
    _, err = said(capsys, "curve", str(TAU), "--run", "201", code=2)
    assert "1 to 200" in err


LONG = "x" * 300
BAD: list[tuple[list[str], str]] = [
    (["run"], "--prompt TEXT or --script FILE"),
    (["run", "--prompt", "x", "--workspace", "nowhere"], "no such folder"),
    (["run", "--script", "nowhere.txt"], "nowhere.txt: cannot be read"),
    (["run", "--script", "binary.bin"], "binary.bin: is not a text file"),
    (["run", "--prompt", "x", "--provider", "opnai"], "did you mean 'openai'"),
    (["run", "--prompt", "x", "--provider", "anthropic"], "ANTHROPIC_API_KEY"),
    (["run", "--prompt", "x", "--provider", "openai", "--model", "gpt-4p"], "did you mean 'gpt-4'"),
    (["run", "--prompt", "x", "--provider", "openai"], "needs a model"),
    (["run", "--prompt", "x", "--policy", "bad.json"], "unknown field `defualt`"),
    (["run", "--prompt", "x", "--cassette", "nowhere.jsonl"], "nowhere.jsonl"),
    (["run", "--prompt", "x", "--max-iterations", "0"], "at least 1"),
    (["run", "--prompt", "x", "--out", "src/small.txt"], "is there already"),
    (["run", "--prompt", "x", "--window", "many"], "--window"),
    (["run", "--prompt", "x", "--window", "0"], "at least 1 token"),
    (["run", "--prompt", "x", "--threads", "0"], "--threads is at least 1"),
    (["run", "--prompt", "x", "--provider", "local"], "needs a model file (GGUF)"),
    (["run", "--prompt", "x", "--provider", "local", "--model", "src/small.txt"], "is no GGUF file"),
    (["run", "--prompt", "x", "--provider", "scripted"], "choose one of offline, anthropic, openai, local"),
    (["run", "--prompt", "x", "--max-cost", "nan"], "above 0, and nan is not"),
    (["run", "--prompt", "x", "--max-cost", "-1"], "above 0, and -1 is not"),
    (["run", "--prompt", "x", "--record", "src"], "is not a regular file"),
    (["run", "--prompt", "x", "--record", "/dev/zero"], "is not a regular file"),
    (["run", "--prompt", "x", "--cassette", "/dev/zero"], "is not a regular file"),
    (["run", "--prompt", "x", "--out", "src"], "src: is there already and is not empty"),
    (["run", "--prompt", "x", "--out", "src/small.txt/x"], "cannot be made"),
    (["run", "--prompt", "x", "--workspace", LONG], "no such folder"),
    (["run", "--prompt", "x", "--out", LONG], "too long"),
    (["run", "--prompt", "x", "--record", LONG], "too long"),
    (["demo", "--out", LONG], "too long"),
    (["demo", "--out", "src"], "src: is there already and is not empty"),
    (["curve", LONG], "too long"),
    (["chat", "--workspace", LONG], "no such folder"),
    (["chat", "--transcript", "src"], "src: cannot be written"),
    (["start", "src/small.txt/x"], "cannot be written"),
    (["start", LONG], "too long"),
    (["curve", "nowhere"], "no such file or folder"),
    (["curve", "src/small.txt"], "src/small.txt"),
    (["curve", "binary.bin"], "binary.bin"),
    (["chat", "--workspace", "nowhere"], "no such folder"),
    (["lab", "nowhere"], "no such folder"),
    (["lab", "src"], "there is no notebooks/"),
    (["start", "src/small.txt"], "is a file"),
    (["frobnicate"], "invalid choice"),
    ([], "COMMAND"),
]


@pytest.mark.parametrize(
    ("arguments", "words"), BAD, ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else ""
)
def test_bad_input_is_one_line_that_says_what_to_do(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    (folder / "bad.json").write_text('{"defualt": {}}')
    (folder / "binary.bin").write_bytes(bytes(range(256)))
    out, err = said(capsys, *arguments, code=2)
    assert out == ""
    assert err.count("\n") == 1
    assert err.startswith("agentlab: ")
    assert words in err
    assert not (folder / "runs").exists()


def test_a_session_that_is_there_is_not_written_over(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, *RUN, "--out", "first", "--json")
    _, err = said(capsys, *RUN, "--out", "first", code=2)
    assert "is there already" in err
    _, err = said(capsys, "demo", "--out", "first", code=2)
    assert "another session" in err


def test_a_second_demo_replaces_what_the_first_one_wrote_and_nothing_else(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentlab.cli.demo.PROMPTS", ["What time is it?"])
    said(capsys, "demo", "--out", "kept", "--json")
    (folder / "kept" / "notes.txt").write_text("mine")
    (folder / "kept" / "store").mkdir(exist_ok=True)
    (folder / "kept" / "store" / "mine.txt").write_text("mine")
    (folder / "link").symlink_to("kept")
    for out in ("kept", "link"):
        said(capsys, "demo", "--out", out, "--json")
        assert len(read_session(folder / "kept")[0].turns) == 1
    assert (folder / "link").is_symlink()
    assert (folder / "kept" / "notes.txt").read_text() == (folder / "kept" / "store" / "mine.txt").read_text() == "mine"


def test_runs_that_begin_in_one_second_get_a_folder_each(folder: Path) -> None:
    made = [dated_folder("20260501-101500") for _ in range(3)]
    assert [path.name for path in made] == ["20260501-101500", "20260501-101500-2", "20260501-101500-3"]
    assert all(path.is_dir() for path in made)


def test_a_folder_that_two_runs_want_is_given_to_one(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not is_empty_folder(Path("new"))
    make_folder(Path("new"))
    with pytest.raises(InputError, match="is there already"):
        make_folder(Path("new"))
    said(capsys, "run", "--prompt", "Hi", "--out", "new", "--json")  # empty, and so as good as new
    assert len(read_session(folder / "new")[0].turns) == 1


def test_results_that_cannot_be_written_are_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said(capsys, "run", "--prompt", "Hi", "--out", "first", "--json")
    (folder / "first" / "curve.csv").unlink()
    (folder / "first" / "curve.csv").mkdir()
    session = load(folder / "first")[0][0]
    with pytest.raises(InputError, match=r"curve\.csv: cannot be written"):
        write_results(session, folder / "first")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes any bytes as a name")
def test_paths_that_are_not_utf_8_are_used_and_shown_with_a_replacement(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "ws\udcff").mkdir()
    run = ("run", "--workspace", "ws\udcff", "--prompt", "Hi \udcff", "--out", "o\udcff")
    whole = json.loads(said(capsys, *run, "--json")[0])
    assert whole["folder"] == "o\ufffd"
    record, _ = read_session(folder / "o\udcff")
    assert record.header.settings["workspace"] == "ws\ufffd"
    assert record.turns[0].prompt == "Hi \ufffd"
    assert json.loads(said(capsys, "curve", "o\udcff", "--json")[0])["session"] == "o\ufffd"


def test_a_narrow_terminal_costs_no_digit(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said(capsys, *RUN, "--out", "first", "--json")
    monkeypatch.setenv("COLUMNS", "40")
    rows = json.loads(said(capsys, "curve", "first", "--json")[0])["curve"]
    lines = [line.split() for line in said(capsys, "curve", "first")[0].splitlines()]
    for row in rows:
        wanted = [f"{row[name]:,}" for name in ("turn", "calls", "turn_tokens", "context", "new_tokens")]
        assert wanted in [line[:5] for line in lines]


def test_what_was_typed_is_shown_as_it_was_typed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prompt = "list [/red] files [red] :smile:"
    _, err = said(capsys, "run", "--workspace", "src", "--prompt", prompt, "--out", "first")
    assert prompt in err
    asks = {"id": "1", "type": "function", "function": {"name": "re[/x]ad", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "", "tool_calls": [asks]},
        {"role": "tool", "tool_call_id": "1", "name": "re[/x]ad", "content": "word " * 500},
        {"role": "assistant", "content": "Hello."},
    ]
    (folder / "talk.json").write_text(json.dumps(messages))
    assert "re[/x]ad" in said(capsys, "curve", "talk.json")[0]


def test_a_hosted_model_is_asked_about_first_and_never_without_somebody_there(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-not-a-real-key-0000")
    _, err = said(capsys, "run", "--prompt", "x", "--provider", "anthropic", "--out", "first", code=2)
    assert "claude-haiku-4-5" in err
    assert "per million tokens (prices of" in err
    assert "the run ends at $0.50" in err
    assert "add --yes" in err
    assert "sk-ant" not in err
    assert not (folder / "first").exists()


def test_prompts_come_from_arguments_and_a_script(tmp_path: Path) -> None:
    script = tmp_path / "prompts.txt"
    script.write_text("# a comment\n\nFirst?\n  Second?  \n")
    assert prompts_of(["Zeroth?"], str(script)) == ["Zeroth?", "First?", "Second?"]


def test_chat_talks_in_the_terminal(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agentlab", "chat", "--workspace", "src", "--transcript", "t.jsonl"],
        input="How many words are in small.txt?\n\n",
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert "3" in done.stdout
    assert json.loads((folder / "t.jsonl").read_text())["iterations"] >= 2


def test_help_has_examples_and_loads_nothing_heavy() -> None:
    heavy = "['pandas', 'matplotlib', 'anthropic', 'openai', 'rich', 'IPython', 'tiktoken']"
    ask = "import sys, agentlab.cli as c\ntry: c.main(['--help'])\nexcept SystemExit: pass\n"
    code = f"{ask}print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "examples:" in done.stdout
    assert done.stdout.splitlines()[-1] == "[]"
    for command in ("demo", "run", "chat", "curve", "lab", "start", "doctor"):
        done = subprocess.run(
            [sys.executable, "-m", "agentlab", command, "--help"], capture_output=True, text=True, check=True
        )
        assert "examples:" in done.stdout


def test_doctor_says_what_is_there_and_what_to_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    out, _ = said(capsys, "doctor")
    for name in (
        "Python",
        "tokenizer",
        "notebook kernel",
        "key for anthropic",
        "local models",
        "node",
        "browser",
        "sandbox",
    ):
        assert name in out
    checks = {check.name: check for check in examine(lambda name: None)}
    assert not checks["sandbox"].ok
    assert "bubblewrap" in checks["sandbox"].fix
    assert checks["tokenizer"].ok
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-value-1234")
    out, _ = said(capsys, "doctor", "--json")
    assert "sk-secret" not in out
    assert next(c for c in json.loads(out) if c["name"] == "key for openai")["ok"]


def test_start_copies_the_notebooks_and_leaves_what_is_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "course" / "data" / "observations" / "planted.json"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    said(capsys, "start", str(tmp_path / "course"))
    assert mine.read_text() == "mine"
    copied = {p.relative_to(tmp_path / "course") for p in (tmp_path / "course").rglob("*") if p.is_file()}
    assert Path("notebooks/01_observation_and_continuation.ipynb") in copied
    assert Path("data/observations/services.yaml") in copied
    assert not any(path.suffix == ".py" and path.parts[0] == "notebooks" for path in copied)
    assert (materials() / "notebooks").is_dir()


def test_lab_starts_at_the_root_and_shows_the_notebooks(tmp_path: Path) -> None:
    command: list[Any] = lab_command(tmp_path, port=9_000, browser=False, root=False)
    assert f"--ServerApp.root_dir={tmp_path.resolve()}" in command
    assert "--LabApp.default_url=/lab/tree/notebooks" in command
    assert command[-2:] == ["--port=9000", "--no-browser"]
    assert "--allow-root" in lab_command(tmp_path, port=None, browser=True, root=True)


def test_lab_opens_the_first_notebook_where_there_is_one(tmp_path: Path) -> None:
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "00_start_here.ipynb").write_text("{}")
    command = lab_command(tmp_path, port=None, browser=False, root=False)
    assert "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb" in command


def counting(body: Any) -> Any:
    """A model that lists a folder once and then answers."""
    asked = [m for m in body["messages"] if m["role"] != "assistant"]
    last = json.dumps(asked[-1])
    if "tool_result" in last or '"tool"' in last:
        return "Two files."
    return Reply("", (ToolCall("", "list_dir", {}),), Usage(2_000, 50))


@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_run_over_the_wire_with_a_cap_on_the_cost(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, provider: str
) -> None:
    key = "sk-ant-not-a-real-key-0000"
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", key)
    model = {"anthropic": "claude-haiku-4-5", "openai": "gpt-4o"}[provider]
    with provider_server(counting) as server:
        url = server.url if provider == "anthropic" else f"{server.url}/v1"
        monkeypatch.setenv(f"{provider.upper()}_BASE_URL", url)
        arguments = [
            "run",
            "--workspace",
            "src",
            "--prompt",
            "Which files?",
            "--provider",
            provider,
            "--model",
            model,
            "--yes",
        ]
        arguments += ["--cache", "5m"] if provider == "anthropic" else []
        out, _ = said(capsys, *arguments, "--out", "first", "--json")
        whole = json.loads(out)
        assert (whole["status"], whole["curve"][0]["calls"]) == ("complete", 2)
        assert whole["curve"][0]["measured"]
        if provider == "anthropic":
            assert whole["caching"] == "on, 5 minutes"
            assert "cache_control" in json.dumps(server.requests[0].body)
        out, _ = said(capsys, *arguments, "--out", "second", "--json", "--max-cost", "0.000001")
        whole = json.loads(out)
        assert (whole["status"], whole["reason"], whole["curve"][0]["calls"]) == ("partial", "max_cost", 1)
    written = b"".join(path.read_bytes() for path in folder.rglob("*.jsonl"))
    assert key.encode() not in written


def test_a_budget_that_is_used_up_ends_the_session_after_a_whole_reply(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-not-a-real-key-0000")
    hosted = ("--provider", "anthropic", "--max-cost", "0.000001", "--yes")
    with provider_server(lambda body: Reply("Hello.", (), Usage(2_000, 50))) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        asked = ("run", "--workspace", "src", "--prompt", "Hi", "--prompt", "Again", *hosted)
        whole = json.loads(said(capsys, *asked, "--out", "first", "--json")[0])
        assert (whole["status"], whole["reason"], whole["turns"], whole["asked"]) == ("partial", "max_cost", 1, 2)
        assert len(server.requests) == 1
        assert "turn 1 of 2: partial (max_cost)" in said(capsys, *asked, "--out", "second")[0]
        alone = ("run", "--workspace", "src", "--prompt", "Hi", *hosted, "--out", "third", "--json")
        assert json.loads(said(capsys, *alone)[0])["status"] == "complete"  # everything that was asked has its reply


def test_the_connections_of_a_model_are_closed_through_its_wrappers(folder: Path) -> None:
    closed: list[str] = []

    class Model(ScriptedModel):
        def close(self) -> None:
            closed.append("closed")

    close_model(Retry(Recorder(Model(["Hello."]), folder / "tape.jsonl")))
    close_model(ScriptedModel(["Hello."]))
    assert closed == ["closed"]
