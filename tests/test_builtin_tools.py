"""The tools that agentlab comes with: what they return, what they refuse, and that nothing leaves the workspace."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlab.budgets import Scope
from agentlab.builtin_tools import TOOLS, lorem, make_now, now, read_file, wordcount, workspace_tools
from agentlab.builtin_tools.files import MAX_WHOLE_BYTES, read_text
from agentlab.builtin_tools.matching import cannot_explode, compiled
from agentlab.builtin_tools.search import search
from agentlab.builtin_tools.shell import BothEnds, run_shell, without_secrets
from agentlab.builtin_tools.workspace import Workspace
from agentlab.errors import Cancelled, DeadlineExceeded, InputError, ToolError
from agentlab.truncate import truncate_observation

posix = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")


@pytest.fixture
def outside(tmp_path):
    folder = tmp_path / "outside-7K"
    folder.mkdir()
    (folder / "secret.txt").write_text("hidden words\n")
    return folder


@pytest.fixture
def root(tmp_path, outside):
    folder = tmp_path / "root-4Q"
    (folder / "docs" / "deep").mkdir(parents=True)
    (folder / "notes.txt").write_text("one\ntwo\nthree\n")
    (folder / "docs" / "guide.md").write_text("# Guide\nsay hello\n")
    (folder / "docs" / "deep" / "code.py").write_text("import os\n\n\ndef hello():\n    return 1\n")
    return folder


@pytest.fixture
def tools(root):
    return {tool.name: tool for tool in workspace_tools(root, commands=True, command_seconds=20)}


def refusal(call, *args, **kwargs):
    with pytest.raises(ToolError) as caught:
        call(*args, **kwargs)
    return str(caught.value)


# --- the small ones


def test_the_chapters_three_tools_are_the_default_and_their_limits_fit():
    assert [tool.name for tool in TOOLS] == ["now", "wordcount", "read_file"]
    assert [tool.max_observation_chars for tool in TOOLS] == [100, 50, 4000]
    assert lorem not in TOOLS


def test_now_is_iso_utc_on_the_clock_it_is_given():
    assert make_now(lambda: 1_778_686_822.99).run() == "2026-05-13T15:40:22Z"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", now.run())


@pytest.mark.parametrize(("text", "count"), [("", "0"), ("  a\tb\nc  ", "3"), ("one", "1")])
def test_wordcount_counts_what_white_space_separates(text, count):
    assert wordcount.run(text=text) == count


def test_lorem_is_50000_characters_in_numbered_lines_and_always_the_same():
    text = lorem.run()
    assert len(text) == 50_000
    assert text == lorem.run()
    assert all(line.startswith(f"{number:04d}") for number, line in enumerate(text.splitlines()[:-1], 1))


def test_schemas_say_what_a_model_needs_and_leave_the_scope_out(tools):
    assert list(tools) == ["read_file", "list_dir", "grep", "run_command"]
    for tool in tools.values():
        assert tool.description
        assert "scope" not in tool.parameters["properties"]
        assert all(described["description"] for described in tool.parameters["properties"].values())
    assert tools["grep"].parameters["required"] == ["pattern"]
    assert tools["read_file"].parameters["properties"]["start_line"]["type"] == "integer"


def test_commands_are_off_unless_switched_on(root):
    assert "run_command" not in [tool.name for tool in workspace_tools(root)]


def test_a_workspace_that_is_no_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        workspace_tools(tmp_path / "missing")


def test_importing_the_tools_loads_nothing_heavy():
    loads = "import sys; import agentlab.builtin_tools; print(*[m for m in sys.argv[1:] if m in sys.modules])"
    heavy = ["subprocess", "difflib", "pathlib", "agentlab.builtin_tools.workspace", "agentlab.builtin_tools.search"]
    bare = "import sys; import agentlab.tools; print(*[m for m in sys.argv[1:] if m in sys.modules])"
    ours, base = (
        subprocess.check_output([sys.executable, "-c", code, *heavy], text=True).split() for code in (loads, bare)
    )
    assert ours == base


# --- confinement


@pytest.mark.parametrize("name", ["read_file", "list_dir", "grep"])
@pytest.mark.parametrize(
    "path", ["../outside-7K/secret.txt", "..", "docs/../../outside-7K", "{outside}/secret.txt", "/"]
)
def test_paths_that_lead_outside_are_refused_and_say_so(tools, outside, name, path):
    arguments = {"pattern": "hidden"} if name == "grep" else {}
    assert "outside the workspace" in refusal(tools[name].run, path=path.format(outside=outside), **arguments)


@posix
@pytest.mark.parametrize(
    "path", ["way/secret.txt", "docs/leaf", "way", "chain/secret.txt", "docs/up/outside-7K/secret.txt"]
)
def test_links_that_lead_outside_are_refused_in_any_part_of_a_path(tools, root, outside, path):
    (root / "way").symlink_to(outside)
    (root / "chain").symlink_to(root / "way")
    (root / "docs" / "leaf").symlink_to(outside / "secret.txt")
    (root / "docs" / "up").symlink_to("../..")
    for name, arguments in (("read_file", {}), ("list_dir", {}), ("grep", {"pattern": "hidden"})):
        text = refusal(tools[name].run, path=path, **arguments)
        assert "outside the workspace" in text
        assert str(outside) not in text


@posix
def test_links_inside_are_followed_and_a_folder_that_is_named_alike_is_outside(tools, root):
    (root / "link.txt").symlink_to("docs/guide.md")
    (root / "more").symlink_to(root / "docs")
    assert tools["read_file"].run(path="link.txt").startswith("# Guide")
    assert tools["read_file"].run(path="more/guide.md").startswith("# Guide")
    (root.parent / f"{root.name}-2").mkdir()
    assert "outside" in refusal(tools["list_dir"].run, path=f"../{root.name}-2")


def test_absolute_paths_inside_are_fine_and_come_back_relative(tools, root):
    assert tools["read_file"].run(path=str(root / "notes.txt")) == "one\ntwo\nthree\n"
    assert tools["grep"].run(pattern="two", path=str(root)) == "notes.txt:2: two"


@posix
def test_a_link_put_in_between_looking_and_opening_is_not_followed(root, outside, monkeypatch):
    workspace = Workspace(root)
    resolve = workspace.resolve

    def resolve_then_swap(path):
        real = resolve(path)
        (root / "docs").rename(root / "moved")
        (root / "docs").symlink_to(outside)
        return real

    (root / "docs" / "secret.txt").write_text("harmless")
    monkeypatch.setattr(workspace, "resolve", resolve_then_swap)
    assert "hidden" not in refusal(workspace.open, "docs/secret.txt")


@posix
def test_no_error_text_names_where_the_root_lies(tools, root):
    (root / "loop").symlink_to("loop")
    (root / "dangling").symlink_to("nowhere")
    for path in ("missing", "notes.txt/x", "loop", "dangling", "docs", "a\0b", "x" * 5_000, "\ud800"):
        assert str(root) not in refusal(tools["read_file"].run, path=path)
        assert str(root.parent) not in refusal(tools["list_dir"].run, path="notes.txt" if path == "docs" else path)


# --- read_file


def test_read_file_works_in_the_folder_of_the_moment(root, monkeypatch):
    monkeypatch.chdir(root)
    assert read_file.run(path="notes.txt") == "one\ntwo\nthree\n"
    monkeypatch.chdir(root / "docs")
    assert read_file.run(path="guide.md").startswith("# Guide")
    assert "outside" in refusal(read_file.run, path="../notes.txt")


@pytest.mark.parametrize(
    ("start", "end", "text"),
    [
        (None, None, "one\ntwo\nthree\n"),
        (2, None, "two\nthree\n"),
        (None, 1, "one\n"),
        (2, 2, "two\n"),
        (3, 99, "three\n"),
    ],
)
def test_line_ranges_count_from_1_and_include_both_ends(tools, start, end, text):
    assert tools["read_file"].run(path="notes.txt", start_line=start, end_line=end) == text


@pytest.mark.parametrize(("start", "end"), [(0, 2), (-1, None), (3, 2), (4, None), (4, 9), (None, 0)])
def test_ranges_that_the_file_has_not_are_refused_with_its_line_count(tools, start, end):
    text = refusal(tools["read_file"].run, path="notes.txt", start_line=start, end_line=end)
    assert "3 lines" in text


def test_a_missing_file_names_the_closest(tools):
    assert "notes.txt" in refusal(tools["read_file"].run, path="note.txt")
    assert "guide.md" in refusal(tools["read_file"].run, path="docs/guide.txt")
    text = refusal(tools["read_file"].run, path="dcos/guide.md")
    assert "'dcos'" in text
    assert "docs/" in text
    assert "is a file, not a folder" in refusal(tools["read_file"].run, path="notes.txt/x")
    assert "list_dir" in refusal(tools["read_file"].run, path="zzzzzzzz")


def test_a_folder_says_to_list_it_and_an_empty_file_that_it_is_empty(tools, root):
    (root / "empty.txt").touch()
    assert "list_dir" in refusal(tools["read_file"].run, path="docs")
    assert tools["read_file"].run(path="empty.txt") == "(empty.txt is empty)"
    assert tools["read_file"].run(path="empty.txt", start_line=1, end_line=5) == "(empty.txt is empty)"


@pytest.mark.parametrize("data", [b"\x7fELF\0\0\1", b"text then\0nul", bytes(range(128, 256)) * 4])
def test_binary_files_are_refused_with_their_size(tools, root, data):
    (root / "thing.bin").write_bytes(data)
    text = refusal(tools["read_file"].run, path="thing.bin")
    assert "binary" in text
    assert f"{len(data)} bytes" in text


def test_other_encodings_are_read_and_said(tools, root):
    (root / "latin.txt").write_bytes("grüße aus köln, und noch mehr text\n".encode("latin-1"))
    first, rest = tools["read_file"].run(path="latin.txt").split("\n", 1)
    assert "not all UTF-8" in first
    assert rest == "gr\ufffd\ufffde aus k\ufffdln, und noch mehr text\n"
    (root / "wide.txt").write_bytes("grüße\r\nund\n".encode("utf-16"))
    assert tools["read_file"].run(path="wide.txt") == "grüße\r\nund\n"
    assert tools["read_file"].run(path="wide.txt", start_line=2) == "und\n"
    (root / "bom.txt").write_text("grüße \ufffd\n", encoding="utf-8-sig")
    assert tools["read_file"].run(path="bom.txt") == "grüße \ufffd\n"


def test_a_huge_file_is_refused_whole_and_streamed_by_range(tools, root):
    with (root / "huge.log").open("wb") as file:
        file.write(b"first line\nsecond line\n" + b"filler " * 2_000 + b"\n")
        file.truncate(MAX_WHOLE_BYTES * 40)  # sparse: takes no room
    text = refusal(tools["read_file"].run, path="huge.log")
    assert "start_line" in text
    assert str(MAX_WHOLE_BYTES * 40) in text
    started = time.monotonic()
    assert tools["read_file"].run(path="huge.log", start_line=1, end_line=2) == "first line\nsecond line\n"
    assert time.monotonic() - started < 1
    assert "characters" in refusal(tools["read_file"].run, path="huge.log", start_line=2)


def test_a_line_longer_than_a_piece_is_still_one_line(tools, root):
    (root / "wide.txt").write_text("x" * 3_000_000 + "\nsecond\n")
    assert tools["read_file"].run(path="wide.txt", start_line=2) == "second\n"
    assert "2 lines" in refusal(tools["read_file"].run, path="wide.txt", start_line=3)


def test_reading_far_into_a_huge_file_ends_with_the_scope(root):
    with (root / "huge.log").open("wb") as file:
        file.write(b"x\n" * 10_000)
        file.truncate(MAX_WHOLE_BYTES * 100)
    scope = Scope()
    scope.cancel("enough")
    with pytest.raises(Cancelled):
        read_text(Workspace(root), "huge.log", 1_000_000, 1_000_001, scope)


@posix
def test_pipes_and_devices_are_refused_at_once(tools, root):
    os.mkfifo(root / "pipe")
    started = time.monotonic()
    assert "named pipe" in refusal(tools["read_file"].run, path="pipe")
    assert "named pipe" in refusal(tools["grep"].run, pattern="x", path="pipe")
    assert tools["grep"].run(pattern="two").startswith("notes.txt:2")
    assert "pipe (not a regular file)" in tools["list_dir"].run()
    assert time.monotonic() - started < 2
    assert "device" in refusal(Workspace("/dev").open, "null")


@posix
def test_a_refused_pipe_is_not_even_opened(tools, root):
    os.mkfifo(root / "pipe")
    writer = threading.Thread(target=lambda: (root / "pipe").open("wb").close())
    writer.start()
    try:
        time.sleep(0.1)
        assert "named pipe" in refusal(tools["read_file"].run, path="pipe")
        writer.join(0.2)
        assert writer.is_alive()
    finally:
        with (root / "pipe").open("rb"):
            writer.join(5)


@settings(max_examples=60, deadline=None)
@given(
    text=st.text(st.sampled_from("ab é😀\n\r\t\u2028\x0c"), max_size=60),
    cuts=st.lists(st.integers(1, 12), max_size=4),
)
def test_consecutive_ranges_put_together_are_the_whole(tmp_path_factory, text, cuts):
    folder = tmp_path_factory.mktemp("ranges")
    (folder / "f.txt").write_bytes(text.encode())
    workspace = Workspace(folder)
    whole = read_text(workspace, "f.txt", None, None)
    assert whole == (text or "(f.txt is empty)")
    count = text.count("\n") + (not text.endswith("\n"))
    bounds = sorted({cut for cut in cuts if cut < count} | {0, count})
    parts = [read_text(workspace, "f.txt", low + 1, high) for low, high in pairwise(bounds)]
    assert "".join(parts) == whole if text else all("empty" in part for part in parts)


# --- list_dir


def test_list_dir_is_sorted_with_marked_folders_and_sizes(tools, root):
    assert tools["list_dir"].run() == "docs/\nnotes.txt (14 bytes)"
    (root / "bare").mkdir()
    assert tools["list_dir"].run(path="bare") == "(bare is an empty folder)"
    assert "not a folder" in refusal(tools["list_dir"].run, path="notes.txt")
    assert "docs/" in refusal(tools["list_dir"].run, path="doc")


@posix
def test_list_dir_shows_where_links_lead_but_not_outside(tools, root, outside):
    (root / "in").symlink_to("docs/guide.md")
    (root / "out").symlink_to(outside)
    listed = tools["list_dir"].run()
    assert "in (link to docs/guide.md)" in listed
    assert "out (link that leads outside the workspace)" in listed
    assert outside.name not in listed


@posix
def test_odd_names_stay_on_one_line_of_valid_text(tools, root):
    (root / "a\nb").touch()
    (root / os.fsdecode(b"c\xff")).touch()
    listed = tools["list_dir"].run()
    listed.encode()
    assert len(listed.splitlines()) == 4


def test_a_folder_of_very_many_names_is_listed_in_part_with_its_count(tools, root):
    (root / "many").mkdir()
    for number in range(2_010):
        (root / "many" / f"{number:05d}").touch()
    lines = tools["list_dir"].run(path="many").splitlines()
    assert lines[-1] == "(and 10 more: 2010 names in all)"
    assert len(lines) == 2_001


# --- grep


def test_grep_compiles_without_warnings(tools, root):
    (root / "links.txt").write_text("see [[home]]\n")
    assert tools["grep"].run(pattern="[[]home") == "links.txt:1: see [[home]]"


def test_grep_gives_path_line_and_text_in_order(tools):
    assert tools["grep"].run(pattern="hello") == "docs/deep/code.py:4: def hello():\ndocs/guide.md:2: say hello"
    assert tools["grep"].run(pattern=r"^t\w+", path="notes.txt") == "notes.txt:2: two\nnotes.txt:3: three"
    assert tools["grep"].run(pattern="GUIDE", ignore_case=True) == "docs/guide.md:1: # Guide"


@pytest.mark.parametrize("glob", ["*.py", "**/*.py", "docs/**/*.py", "docs/*.py", "*.{py,txt}", "./docs/deep/code.py"])
def test_grep_takes_globs_by_name_and_by_path(tools, glob):
    assert tools["grep"].run(pattern="hello", glob=glob) == "docs/deep/code.py:4: def hello():"


def test_grep_says_what_was_not_found_and_where_nothing_was_searched(tools):
    assert tools["grep"].run(pattern="absent") == "no match for 'absent' in 3 files"
    assert "each line" in tools["grep"].run(pattern=r"one\ntwo")
    assert "no file" in tools["grep"].run(pattern="x", glob="*.rs")
    assert "notes.txt" in refusal(tools["grep"].run, pattern="x", path="nots.txt")


@pytest.mark.parametrize("pattern", ["(", "a{2,1}", "(?P<a", "[z-a]", "(" * 900])
def test_a_bad_expression_is_refused_with_the_reason(tools, pattern):
    assert "not a regular expression" in refusal(tools["grep"].run, pattern=pattern)


@pytest.mark.parametrize("arguments", [{"pattern": ""}, {"pattern": "x" * 1_001}, {"pattern": "x", "max_matches": 0}])
def test_other_bad_arguments_are_refused(tools, arguments):
    assert "expected" in refusal(tools["grep"].run, **arguments)
    assert "simpler" in refusal(tools["grep"].run, pattern="x", glob="{a,b}" * 20)


def test_grep_stops_at_max_matches_and_says_so_only_when_there_are_more(tools, root):
    (root / "many.txt").write_text("hit\n" * 5)
    lines = tools["grep"].run(pattern="hit", max_matches=4).splitlines()
    assert len(lines) == 5
    assert "stopped at 4" in lines[-1]
    assert len(tools["grep"].run(pattern="hit", max_matches=5).splitlines()) == 5


def test_grep_counts_what_it_did_not_search(tools, root):
    (root / "a.bin").write_bytes(b"two\0")
    (root / "b.bin").write_bytes(b"\0")
    with (root / "big.txt").open("wb") as file:
        file.write(b"two\n")
        file.truncate(MAX_WHOLE_BYTES + 1)
    (root / ".git").mkdir()
    (root / ".git" / "HEAD").write_text("two\n")
    assert tools["grep"].run(pattern="two") == "notes.txt:2: two\n(not searched: 2 binary, 1 over 20 MB)"
    assert tools["grep"].run(pattern="two", path=".git") == ".git/HEAD:1: two"


def test_grep_shows_the_part_of_a_long_line_where_the_match_is(tools, root):
    (root / "long.txt").write_text("x" * 1_500 + "needle" + "y" * 9_000 + "far\n")
    line, note = tools["grep"].run(pattern="needle").splitlines()
    assert "needle" in line
    assert len(line) <= len("long.txt:1: ") + 500
    assert "2000 characters" in note
    assert "no match" in tools["grep"].run(pattern="far")


@posix
def test_grep_leaves_hidden_folders_out_unless_they_are_named(tools, root):
    for name in (".cache/deep/a.txt", "docs/.index/b.txt", "__pycache__/c.txt", "plain/.dot.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("seldom\n")
    assert tools["grep"].run(pattern="seldom") == "plain/.dot.txt:1: seldom"
    assert tools["grep"].run(pattern="seldom", path=".cache") == ".cache/deep/a.txt:1: seldom"
    assert tools["grep"].run(pattern="seldom", path="docs/.index/b.txt") == "docs/.index/b.txt:1: seldom"
    assert tools["grep"].run(pattern="seldom", path="__pycache__") == "__pycache__/c.txt:1: seldom"


def test_grep_follows_no_link_so_nothing_is_found_twice_or_outside(tools, root, outside):
    (root / "docs" / "loop").symlink_to(root)
    (root / "out").symlink_to(outside)
    (root / "twin.txt").symlink_to("notes.txt")
    assert tools["grep"].run(pattern="two") == "notes.txt:2: two"
    assert "no match" in tools["grep"].run(pattern="hidden")


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|a)*b", r"(?:a*)*c"])
def test_an_expression_that_would_run_for_ever_is_stopped(root, pattern):
    (root / "docs" / "aaa.txt").write_text("a" * 60 + "!\n")
    assert not cannot_explode(pattern)
    started = time.monotonic()
    text = search(Workspace(root), pattern, glob="aaa.txt", seconds=0.5)
    assert "stopped early" in text
    assert time.monotonic() - started < 5


def test_a_stopped_search_leaves_the_rest_of_the_process_running_and_ends_with_its_scope(root):
    (root / "aaa.txt").write_text("a" * 60 + "!\n")
    scope = Scope()
    threading.Timer(0.3, scope.cancel, ["no longer wanted"]).start()
    started = time.monotonic()
    with pytest.raises(Cancelled, match="no longer wanted"):
        search(Workspace(root), "(a+)+$", glob="aaa.txt", scope=scope)
    with pytest.raises(DeadlineExceeded):
        search(Workspace(root), "(a+)+$", glob="aaa.txt", scope=Scope(0.3))
    assert time.monotonic() - started < 5


def test_expressions_find_the_same_here_and_in_a_process_of_their_own(root):
    (root / "odd.txt").write_bytes("größe 12\nline\xa0two 345\r\n".encode() + b"caf\xe9 6\n")
    plain = search(Workspace(root), r"\d", path="odd.txt")
    apart = search(Workspace(root), r"(\d+)+", path="odd.txt")
    assert plain == apart
    assert plain.splitlines() == ["odd.txt:1: größe 12", "odd.txt:2: line\xa0two 345", "odd.txt:3: caf\ufffd 6"]


@settings(max_examples=200, deadline=None)
@given(pattern=st.text(st.sampled_from("ab(|)*+?.[]^\\{2,}"), min_size=1, max_size=14))
def test_what_runs_here_ends_soon(pattern):
    try:
        expression = compiled(pattern, ignore_case=False)
    except (re.error, OverflowError):
        return
    if cannot_explode(pattern):
        started = time.process_time()
        expression.search("ab" * 200 + "a" * 400 + "!")
        assert time.process_time() - started < 0.5


# --- run_command


@posix
def test_a_command_gives_both_streams_in_order_and_its_exit_code_last(tools):
    text = tools["run_command"].run(command="echo out; echo err >&2; ls; exit 3")
    assert text == "out\nerr\ndocs\nnotes.txt\nexit code: 3"
    assert tools["run_command"].run(command="true") == "(no output)\nexit code: 0"
    assert tools["run_command"].run(command="cat; printf done") == "done\nexit code: 0"
    assert tools["run_command"].run(command="kill -9 $$").endswith("exit code: -9")


@posix
def test_pitfall_14_the_exit_line_of_a_failing_build_survives_the_default_cut(tools):
    tool = tools["run_command"]
    text = tool.run(command="seq 1 20000; echo 'error: no such member' >&2; exit 2")
    assert tool.strategy == "middle_snip"
    cut = truncate_observation(text, tool.max_observation_chars)
    assert len(cut) <= tool.max_observation_chars
    assert cut.startswith("1\n2\n")
    assert cut.splitlines()[-2:] == ["error: no such member", "exit code: 2"]


@posix
def test_a_command_that_takes_too_long_is_stopped_with_all_that_it_started(root):
    started = time.monotonic()
    text = run_shell("echo begun; (sleep 60; touch late) & sleep 60", str(root), 0.4)
    assert time.monotonic() - started < 5
    assert text.splitlines() == ["begun", "(stopped after 0.4 seconds)", f"exit code: -{int(signal.SIGKILL)}"]


@posix
def test_what_a_command_leaves_running_does_not_outlive_it(root):
    text = run_shell("(sleep 0.7; touch late) & echo gone", str(root), 20)
    assert text == "gone\nexit code: 0"
    time.sleep(1.0)
    assert not (root / "late").exists()


@posix
def test_a_command_ends_with_its_scope(root):
    scope = Scope()
    threading.Timer(0.3, scope.cancel, ["stop"]).start()
    started = time.monotonic()
    with pytest.raises(Cancelled):
        run_shell("sleep 60", str(root), 50, scope)
    with pytest.raises(DeadlineExceeded):
        run_shell("sleep 60", str(root), 50, Scope(0.3))
    assert time.monotonic() - started < 5


@posix
def test_secrets_stay_out_of_a_commands_environment(tools, monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-planted-1")
    monkeypatch.setenv("my_secret", "sk-planted-2")
    monkeypatch.setenv("GH_TOKEN", "sk-planted-3")
    monkeypatch.setenv("DB_URL", "postgres://me:sk-planted-4@host/db")
    monkeypatch.setenv("HARMLESS", "kept")
    text = tools["run_command"].run(command="env")
    assert "HARMLESS=kept" in text
    assert "planted" not in text
    assert without_secrets({"DB_PASSWORD": "x", "SSH_AUTH_SOCK": "x", "GIT_AUTHOR_NAME": "me"}) == {
        "GIT_AUTHOR_NAME": "me"
    }


@posix
def test_endless_output_is_held_to_two_ends(root):
    text = run_shell("yes | head -c 30000000; echo; echo last", str(root), 30)
    assert len(text) < 2_100_000
    assert "not kept" in text
    assert text.endswith("last\nexit code: 0")


@settings(deadline=None)
@given(chunks=st.lists(st.binary(max_size=9), max_size=12), each=st.integers(1, 8))
def test_both_ends_keep_exactly_the_ends_and_count_the_rest(chunks, each):
    data = bytes(byte % 128 for byte in b"".join(chunks))
    ends, at = BothEnds(each), 0
    for chunk in chunks:
        ends.add(data[at : at + len(chunk)])
        at += len(chunk)
    text = ends.text()
    if len(data) <= 2 * each:
        assert text == data.decode()
    else:
        note = f"\n({len(data) - 2 * each} bytes in the middle of the output were not kept)\n"
        assert text == data[:each].decode() + note + data[-each:].decode()


@pytest.mark.parametrize("command", ["", "  ", "a\0b"])
def test_commands_that_are_none_are_refused(root, command):
    assert "command is empty" in refusal(run_shell, command, str(root), 1)


def test_a_command_in_a_folder_that_is_gone_says_why(tmp_path):
    text = refusal(run_shell, "true", str(tmp_path / "gone"), 5)
    assert "could not be started" in text
    assert str(tmp_path) not in text
    assert Path(tmp_path).exists()
