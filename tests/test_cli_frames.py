"""`agentlab frames`: what it writes can be read back, and bad input or a full disk leaves no half of a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pandas as pd
import pytest

from agentlab.analysis import GRAINS, grains, load
from agentlab.cli import main

if TYPE_CHECKING:
    from pathlib import Path

TALK = [
    {"role": "user", "content": 'Say "hi", please\nnow', "session": "a,1", "ts": 1_790_000_000.25},
    {
        "role": "assistant",
        "content": "hi",
        "session": "a,1",
        "ts": 1_790_000_001,
        "model": "m-1",
        "usage": {"input_tokens": 30, "output_tokens": 5, "cache_read_tokens": 70},
    },
    {"role": "user", "content": "Bye", "session": "b"},
    {"role": "assistant", "content": "Bye.", "session": "b"},
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(message) + "\n" for message in TALK) + '{"torn', encoding="utf-8")
    return path


def test_four_tables_are_written_and_read_back(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "new" / "frames"
    assert main(["frames", str(log), "--out", str(out)]) == 0
    said = capsys.readouterr()
    assert [line.split()[:3] for line in said.out.splitlines()[:4]] == [
        ["sessions", "2", "rows"],
        ["turns", "2", "rows"],
        ["calls", "2", "rows"],
        ["messages", "4", "rows"],
    ]
    assert said.err.startswith(f"agentlab: {log}:5: the line is torn")
    files = {f"{name}.{kind}" for name in GRAINS for kind in ("parquet", "csv")} | {"columns.json"}
    assert {path.name for path in out.iterdir()} == files
    sessions, _ = load(log)
    for (name, columns), frame in zip(GRAINS.items(), grains(sessions), strict=True):
        read = pd.read_parquet(out / f"{name}.parquet")
        assert list(read.columns) == [column.name for column in columns]
        pd.testing.assert_frame_equal(read, frame)
        csv = pd.read_csv(out / f"{name}.csv")
        assert list(csv.columns) == [column.name for column in columns]
        assert list(csv.session) == list(frame.session)
    calls = pd.read_csv(out / "calls.csv")
    assert list(calls.prompt_tokens) == [100, 1]
    assert list(calls.prompt_measured) == [True, False]
    assert pd.to_datetime(calls.time)[0] == pd.Timestamp("2026-09-21T14:13:21Z")
    meanings = json.loads((out / "columns.json").read_text())
    assert meanings["calls"][0] == {"name": "session", "dtype": "string", "unit": "", "meaning": "id of the session"}


def test_json_says_what_was_written(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["frames", str(log), str(tmp_path / "lost"), "--out", str(tmp_path / "o"), "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    assert whole["rows"] == {"sessions": 2, "turns": 2, "calls": 2, "messages": 4}
    assert len(whole["problems"]) == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lost", "--out", "o"], "no such file or folder"),
        (["log.jsonl"], "--out"),
        (["log.jsonl", "--out", "log.jsonl/o"], "cannot be written"),
        (["log.jsonl", "--out", "o", "--format", "tau-bench"], "not of the format 'tau-bench'"),
    ],
)
def test_what_cannot_be_is_one_line(
    arguments: list[str], said: str, log: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(log.parent)
    assert main(["frames", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert not (log.parent / "o").exists()


def test_a_file_that_cannot_be_replaced_leaves_no_part(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "o" / "calls.csv" / "full").mkdir(parents=True)
    assert main(["frames", str(log), "--out", str(tmp_path / "o")]) == 2
    assert "calls.csv" in capsys.readouterr().err
    assert not list((tmp_path / "o").glob("*.part"))
