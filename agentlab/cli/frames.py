"""`agentlab frames`: session logs as tables, one per grain, in files."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentlab.cli.logs import add_arguments, executor_of, progress_bar, tell_problems
from agentlab.cli.terminal import decoded, write_json
from agentlab.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agentlab.analysis.facts import Facts

EXAMPLES = """\
Four tables: a row per session, user turn, model call, message; each as Parquet and as CSV. Tokens are those that the
log reports, else characters / 4, and the columns prompt_measured and output_measured say which. columns.json has the
type, unit and meaning of every column. No text of any message is in them.

examples:
  agentlab frames ~/.claude/projects --out frames
  agentlab frames runs/first runs/second --out frames --json
  agentlab frames big.jsonl --out frames --format chat
  agentlab frames /shared/logs --out frames --dask tcp://host:8786    (the workers read the same paths)
"""


def add(commands: Any) -> None:
    """Describe the command."""
    parser = commands.add_parser(
        "frames",
        help="session logs as Parquet and CSV: sessions, turns, calls, messages",
        description="Write session logs as tables, a row per session, per user turn, per model call, per message.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser, one=False, counts=False)
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="folder for the files; made if need be")
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    from agentlab.analysis.reading import read_facts

    with executor_of(arguments) as executor, progress_bar("reading") as progress:
        facts, problems = read_facts(arguments.paths, format=arguments.format, executor=executor, progress=progress)
    tell_problems(problems, every=arguments.problems)
    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
        rows = write_frames(facts, arguments.out)
    except OSError as error:
        where = error.filename or arguments.out
        raise InputError(f"cannot be written ({error.strerror or error})", path=where) from error
    if arguments.json:
        said = [decoded(str(problem)) for problem in problems]
        write_json({"out": decoded(str(arguments.out)), "rows": rows, "problems": said})
        return 0
    for name, number in rows.items():
        files = f"{arguments.out / name}.parquet and .csv"
        sys.stdout.write(f"{name:<9} {number:>11,} rows  {files}\n")
    sys.stdout.write(f"columns: {arguments.out / 'columns.json'}\n")
    return 0


def write_frames(facts: Facts, folder: Path) -> dict[str, int]:
    """Write the frame of each grain as Parquet and CSV, and what their columns mean; each file whole or not at all.

    Returns:
        How many rows each has.

    Raises:
        OSError: The system refuses.
    """
    import msgspec
    import pyarrow as pa  # type: ignore[import-untyped]
    from pyarrow import csv, parquet

    from agentlab.analysis.grain_columns import GRAINS
    from agentlab.analysis.grains import grain_of

    rows = {}
    for name in GRAINS:
        table = pa.Table.from_pandas(grain_of(facts, name), preserve_index=False)
        rows[name] = table.num_rows
        with _whole(folder / f"{name}.parquet") as path:
            parquet.write_table(table, path)
        with _whole(folder / f"{name}.csv") as path:
            csv.write_csv(table, path)
    with _whole(folder / "columns.json") as path:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(GRAINS)) + b"\n")
    return rows


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A path beside another, that takes its name when the block has ended well."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
