"""What the commands over session logs share: several paths, one of the sessions, damage told in few lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from agentlab.cli import main

if TYPE_CHECKING:
    from pathlib import Path

TALK = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]


def written(path: Path, messages: list[dict[str, str]], torn: int = 0) -> str:
    lines = [json.dumps(message) for message in messages] + ["{"] * torn
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_several_paths_are_read_in_their_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = written(tmp_path / "one.jsonl", TALK), written(tmp_path / "two.jsonl", TALK * 2)
    assert main(["curve", one, two, "--run", "2", "--json"]) == 0
    said = capsys.readouterr()
    whole = json.loads(said.out)
    assert (whole["session"], whole["sessions"], len(whole["curve"])) == ("two", 2, 2)
    assert said.err == ""
    assert main(["curve", two, one]) == 0
    said = capsys.readouterr()
    assert said.err == f"agentlab: {two}, {one} hold 2 sessions; this is the first, --run N takes another\n"
    assert said.out.startswith("session 1 of 2: two\n")
    assert main(["curve", one, two, "--run", "3"]) == 2
    assert "--run is 1 to 2, and 3 is not" in capsys.readouterr().err


def test_a_path_that_cannot_be_read_is_told_and_costs_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, lost = written(tmp_path / "one.jsonl", TALK), str(tmp_path / "lost.jsonl")
    assert main(["curve", lost, one]) == 0
    assert capsys.readouterr().err.startswith(f"agentlab: {lost}:1: no such file")
    assert main(["curve", lost, lost]) == 2
    assert "no session in them that can be read" in capsys.readouterr().err
    assert main(["curve", one, lost, "--format", "morse"]) == 2
    assert "unknown format 'morse'" in capsys.readouterr().err


@pytest.mark.parametrize(("torn", "options", "lines"), [(20, [], 20), (23, [], 21), (23, ["--problems"], 23)])
def test_of_many_problems_the_first_are_told_and_a_count(
    torn: int, options: list[str], lines: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "talk.jsonl", TALK, torn)
    assert main(["curve", path, *options]) == 0
    told = capsys.readouterr().err.splitlines()
    assert len(told) == lines
    assert told[0].startswith(f"agentlab: {path}:3: skipped")
    if lines == 21:
        assert told[-1] == "agentlab: and 3 more; --problems tells all of them"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--workers", "0"], "--workers is a number from 1, and 0 is not"),
        (["--workers", "many"], "--workers"),
        (["--dask", "nowhere://x"], "no scheduler of dask answers there"),
    ],
)
def test_an_executor_that_cannot_be_is_one_line(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed")
    assert main(["curve", written(tmp_path / "talk.jsonl", TALK), *options]) == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_a_folder_is_read_by_processes_where_they_are_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path / "one.jsonl", TALK)
    written(tmp_path / "two.jsonl", TALK * 2, torn=1)
    whole = []
    for workers in ("1", "2"):
        assert main(["curve", str(tmp_path), "--run", "2", "--workers", workers, "--json"]) == 0
        whole.append(json.loads(capsys.readouterr().out))
    assert whole[0] == whole[1]
    assert (whole[0]["session"], len(whole[0]["problems"])) == ("two", 1)
