"""Mapping over files and sessions: in order, here or elsewhere, and one failure costs no other item."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.analysis import executor as module
from agentlab.analysis import load
from agentlab.analysis.executor import ENOUGH, mapped
from agentlab.errors import InputError

TALK = '{"role": "user", "content": "Hi"}\n{"role": "assistant", "content": "Hello."}\n'


def inverse(number: int) -> float:
    return 1 / number


PROCESS = "__import__('os').getpid()"
DIES = "__import__('os')._exit(9)"


@given(st.lists(st.integers(-3, 3)), st.booleans())
def test_outcomes_come_in_order_and_name_their_errors(numbers: list[int], threads: bool) -> None:
    with ThreadPoolExecutor(3) as pool:
        outcomes = list(mapped(inverse, numbers, executor=pool if threads else None))
    assert [outcome.item for outcome in outcomes] == numbers
    for outcome in outcomes:
        if outcome.item:
            assert (outcome.value, outcome.error) == (1 / outcome.item, None)
        else:
            assert outcome.value is None
            assert isinstance(outcome.error, ZeroDivisionError)


def test_a_killed_process_costs_its_own_item_only() -> None:
    outcomes = list(mapped(eval, ["0", "1", DIES, "3", "4", "5", "6"], executor=2))
    assert [outcome.value for outcome in outcomes] == [0, 1, None, 3, 4, 5, 6]
    assert type(outcomes[2].error).__name__ == "BrokenProcessPool"


@pytest.mark.parametrize(
    ("executor", "size", "elsewhere"), [(None, ENOUGH, True), (None, 1, False), (1, ENOUGH, False)]
)
def test_processes_are_started_for_enough_work(executor: int | None, size: int, elsewhere: bool) -> None:
    outcomes = list(mapped(eval, [PROCESS] * 2, executor=executor, work=lambda _: size))
    assert ({outcome.value for outcome in outcomes} == {os.getpid()}) != (elsewhere and (os.cpu_count() or 1) > 1)


def test_progress_counts_bytes_and_few_items_are_under_way() -> None:
    told: list[tuple[int, int]] = []
    begun: list[int] = []

    def begin(number: int) -> int:
        begun.append(number)
        return number

    with ThreadPoolExecutor(1) as pool:
        outcomes = mapped(
            begin, range(1000), executor=pool, progress=lambda *at: told.append(at), work=lambda number: number
        )
        assert [next(outcomes).value for _ in range(3)] == [0, 1, 2]
        outcomes.close()
    assert told == [(0, 499_500), (1, 499_500)]  # the third was taken, and nothing came after it
    assert len(begun) <= module.AHEAD + 3


SCRIPT = """\
import sys, time
from agentlab.analysis.executor import mapped

def nap(number):
    print("begun", number, flush=True)
    time.sleep(60)

if __name__ == "__main__":
    list(mapped(nap, range(4), executor=2))
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGINT to one process")
def test_ctrl_c_ends_it_and_its_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    child = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert child.stdout is not None
    assert child.stdout.readline().startswith("begun")
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=20)  # returns when the last process that holds the pipe is gone
    assert child.returncode != 0
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert "begun 2" not in out


UNGUARDED = """\
import os, sys
from agentlab.analysis.executor import ENOUGH, mapped
print("once")
print({outcome.value for outcome in mapped(len, ["a", "bcd"], work=lambda _: ENOUGH)})
"""


def test_a_script_without_a_guard_runs_once(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(UNGUARDED)
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr) == ("once\n{1, 3}\n", "")


def test_an_input_error_arrives_whole() -> None:
    error = pickle.loads(pickle.dumps(InputError("is no list", path="a.json", line=3, field="messages")))
    assert (str(error), error.problem, error.line) == ("a.json:3: messages: is no list", "is no list", 3)


@pytest.mark.parametrize("executor", [None, 2])
def test_a_folder_is_read_the_same_by_any_executor(tmp_path: Path, executor: int | None) -> None:
    for number in range(5):
        (tmp_path / f"talk{number}.jsonl").write_text(TALK * (number + 1))
    (tmp_path / "talk2.jsonl").write_text("no log\n")
    told: list[tuple[int, int]] = []
    sessions, problems = load(tmp_path, executor=executor, progress=lambda *at: told.append(at))
    assert [session.id for session in sessions] == ["talk0", "talk1", "talk3", "talk4"]
    assert [len(session.calls) for session in sessions] == [1, 2, 4, 5]
    assert [Path(problem.path).name for problem in problems] == ["talk2.jsonl"]
    assert told[-1] == (len(TALK) * 12 + 7, len(TALK) * 12 + 7)


def test_dask_reads_a_folder(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    for number in range(4):
        (tmp_path / f"talk{number}.jsonl").write_text(TALK * (number + 1))
    (tmp_path / "zero.json").write_text(json.dumps({"messages": 0}))
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        sessions, problems = load(tmp_path, executor=client.get_executor())
        workers = set(client.run(os.getpid))
    assert len(workers) == 2
    assert [len(session.calls) for session in sessions] == [1, 2, 3, 4]
    assert [Path(problem.path).name for problem in problems] == ["zero.json"]
