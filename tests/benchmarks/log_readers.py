"""JSONL of messages into a frame of calls, in one process: agentlab, and what others would use.

    python -m benchmarks.log_readers ours PATH

Each makes the same frame: session, call, turn, iteration, messages, tool_calls, prompt_tokens, output_tokens,
cache_read_tokens, model, time. It prints CPU seconds, the peak of memory above that after the imports, and totals, one
of them the characters of all contents.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

Totals = dict[str, float]

COUNTS = ["chars", "tool_calls", "prompt_tokens", "output_tokens", "cache_read_tokens"]
SUMMED = ("call", "turn", "iteration", "messages", "tool_calls", "prompt_tokens", "output_tokens")


def ours(path: str) -> tuple[Any, float]:
    """agentlab."""
    from agentlab.analysis.grains import grain_of
    from agentlab.analysis.reading import read_facts

    facts, _ = read_facts(path, executor=1)
    return grain_of(facts, "calls"), float(facts.messages["chars"].sum())


def json_pandas(path: str) -> tuple[Any, float]:
    """The standard library's json into a list, and pandas."""
    import pandas as pd

    with Path(path).open(encoding="utf-8") as file:
        messages = [json.loads(line) for line in file]
    rows = [(m["session"], m["role"], m["ts"], m.get("model"), *_counts(m)) for m in messages]
    named = [
        "session",
        "role",
        "time",
        "model",
        "chars",
        "tool_calls",
        "prompt_tokens",
        "output_tokens",
        "cache_read_tokens",
    ]
    return _with_pandas(pd.DataFrame(rows, columns=named))


def read_json(path: str) -> tuple[Any, float]:
    """pandas alone."""
    import pandas as pd

    read = pd.read_json(path, lines=True)
    counts = [_counts(m) for m in read[["content", "tool_calls", "usage"]].to_dict("records")]
    frame = read[["session", "role", "model"]].assign(time=read["ts"])
    frame[COUNTS] = counts
    return _with_pandas(frame)


def polars(path: str) -> tuple[Any, float]:
    """polars, with a schema given and its streaming reader."""
    import polars as pl

    usage = pl.Struct({"input_tokens": pl.Int64, "output_tokens": pl.Int64, "cache_read_tokens": pl.Int64})
    schema = {
        "session": pl.String,
        "role": pl.String,
        "ts": pl.Float64,
        "model": pl.String,
        "content": pl.String,
        "usage": usage,
        "tool_calls": pl.List(pl.Struct({"id": pl.String})),
    }
    read = pl.scan_ndjson(path, schema=schema, low_memory=True)
    used = pl.col("usage").struct
    frame = (
        read.select(
            "session",
            "role",
            "model",
            pl.col("ts").alias("time"),
            pl.col("content").str.len_chars().alias("chars"),
            pl.col("tool_calls").list.len().fill_null(0),
            (used.field("input_tokens") + used.field("cache_read_tokens")).alias("prompt_tokens"),
            used.field("output_tokens"),
            used.field("cache_read_tokens"),
        )
        .with_columns(
            pl.int_range(pl.len()).over("session").alias("messages"),
            (pl.col("role") == "user").cum_sum().over("session").alias("turn"),
        )
        .with_columns((pl.col("role") == "assistant").cum_sum().over("session", "turn").alias("iteration"))
        .collect(engine="streaming")
    )
    calls = frame.filter((pl.col("role") == "assistant") & (pl.col("turn") > 0)).with_columns(
        (pl.int_range(pl.len()).over("session") + 1).alias("call"),
        (pl.col("time") * 1e6).cast(pl.Datetime("us", "UTC")),
    )
    return calls, float(frame["chars"].sum())


def _counts(message: dict[str, Any]) -> tuple[int, int, int, int, int]:
    content, calls, usage = message["content"], message.get("tool_calls"), message.get("usage")
    chars = len(content) if isinstance(content, str) else sum(len(part["text"]) for part in content)
    called = len(calls) if isinstance(calls, list) else 0
    if not isinstance(usage, dict):
        return chars, called, 0, 0, 0
    prompt = usage["input_tokens"] + usage["cache_read_tokens"]
    return chars, called, prompt, usage["output_tokens"], usage["cache_read_tokens"]


def _with_pandas(frame: Any) -> tuple[Any, float]:
    import pandas as pd

    speaks = frame["role"] == "assistant"
    frame["messages"] = frame.groupby("session").cumcount()
    frame["turn"] = (frame["role"] == "user").groupby(frame["session"]).cumsum()
    frame["iteration"] = speaks.groupby([frame["session"], frame["turn"]]).cumsum()
    calls = frame[speaks & (frame["turn"] > 0)].drop(columns=["role", "chars"])
    calls["call"] = calls.groupby("session").cumcount() + 1
    calls["time"] = pd.to_datetime(calls["time"], unit="s", utc=True)
    return calls, float(frame["chars"].sum())


READERS = {"ours": ours, "json": json_pandas, "read_json": read_json, "polars": polars}


def measure(name: str, path: str) -> Totals:
    """CPU seconds, megabytes and totals of a reader."""
    if name == "polars":
        import polars  # noqa: F401, ICN001 - before the clock starts, as the others
    else:
        import pandas as pd  # noqa: F401
    if name == "ours":
        import agentlab.analysis.reading  # noqa: F401
    before, started = _status("VmRSS"), time.process_time()
    frame, chars = READERS[name](path)
    seconds = time.process_time() - started
    totals = {f"total {column}": float(frame[column].sum()) for column in SUMMED}
    return {
        "cpu": seconds,
        "MB": (_status("VmHWM") - before) / 1024,
        "total chars": chars,
        "total calls": float(len(frame)),
        **totals,
    }


def _status(field: str) -> float:
    """Kilobytes, as the system counts them; 0 where it does not."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0.0
    return next((float(line.split()[1]) for line in lines if line.startswith(field)), 0.0)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measure(sys.argv[1], sys.argv[2])) + "\n")
