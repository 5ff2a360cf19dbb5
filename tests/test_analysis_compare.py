"""What cuts keep and save, on sessions whose observations are known."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from analysis_sessions import asks, record, result, says, tool, user
from hypothesis import given
from hypothesis import strategies as st

from agentlab.analysis import COMPARE_COLUMNS, compare, compare_cuts, load, read_messages
from agentlab.analysis.citations import atoms, citations, kept
from agentlab.analysis.compare import nothing_cut, share_kept
from agentlab.analysis.key_lines import lines_of
from agentlab.analysis.shown import kept_of, show
from agentlab.errors import InputError
from agentlab.policy import CHAPTER, Limit, Policy
from agentlab.providers.scripted import call
from agentlab.tokens import count_text
from agentlab.truncate import cut

TAU = Path(__file__).parents[1] / "../shared/data/sessions/tau-bench/gpt-4o-airline.json"
FILLER = "filler text\n" * 200
LOG = f"first line\n{FILLER}ValueError: in the middle\nfound order_77 here\n{FILLER}last line\nexit code: 3"


def session_of(text, *later):
    """One observation, then calls that come after it."""
    messages = [user("Go."), asks(("read", {})), result(text)]
    for arguments in later:
        messages += [asks(("open", arguments)), result("ok", 0)]
    return read_messages([*messages, says("Done.")], model="gpt-4o")


def row(frame, **where):
    for column, value in where.items():
        frame = frame[frame[column] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def test_each_strategy_keeps_what_its_name_says():
    frame = compare_cuts(session_of(LOG), limits=(500, 100_000))
    kept_by = {
        strategy: row(frame, strategy=strategy, limit=500)[
            ["first_lines_kept", "last_lines_kept", "error_lines_kept"]
        ].tolist()
        for strategy in ("middle_snip", "tail_cut", "head_cut")
    }
    assert kept_by == {"middle_snip": [1, 1, 0.5], "tail_cut": [1, 0, 0], "head_cut": [0, 1, 0.5]}
    whole = frame[frame["limit"] == 100_000]
    assert (whole[["first_lines_kept", "last_lines_kept", "error_lines_kept"]] == 1).all(axis=None)
    assert whole["cut"].tolist() == whole["saved_first"].tolist() == whole["saved_resent"].tolist() == [0, 0, 0]
    assert frame["error_lines"].tolist() == [2] * 6


def test_a_name_counts_when_a_later_call_cites_it_and_nothing_else_had_it():
    session = session_of(LOG, {"id": "order_77"}, {"id": "order_77", "note": "absent_1"})
    (citation,) = citations(session, session.observations())
    assert (citation.atom, citation.cited_at, list(citation.sources)) == ("order_77", 3, [2])
    frame = compare_cuts(session, limits=(500, 100_000))
    assert frame["names"].tolist() == [1] * 6
    assert frame[frame["limit"] == 500]["names_kept"].tolist() == [0, 0, 0]
    assert frame[frame["limit"] == 100_000]["names_kept"].tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "messages",
    [
        [user("See order_77."), asks(("read", {})), result("order_77"), asks(("open", {"id": "order_77"}))],
        [user("Go."), asks(("read", {"id": "order_77"})), result("order_77"), asks(("open", {"id": "order_77"}))],
        [
            user("Go."),
            says("order_77"),
            user("?"),
            asks(("read", {})),
            result("order_77"),
            asks(("open", {"id": "order_77"})),
        ],
        [user("Go."), asks(("read", {})), result("xorder_77 order_778"), asks(("open", {"id": "order_77"}))],
        [user("Go."), asks(("open", {"id": "order_77"})), result("order_77")],
    ],
    ids=["user said it", "an earlier call said it", "the model said it", "inside other words", "seen only later"],
)
def test_a_name_that_was_not_taken_from_an_observation_is_none(messages):
    session = read_messages(messages)
    assert citations(session, session.observations()) == []


@pytest.mark.parametrize(
    "note",
    [
        '[characters 1926-5806 of 12639; read_result("bedee990e7a2", start=5806, end=10714) goes on]',
        '[lines 41-5806 of 9000; read_result("bedee990e7a2", start=5806, end=6723) returns them]',
        "[lines 41-5806 of 9000]",
        "[...truncated: 5806 characters omitted from the middle...]",
        "[...truncated: 5806 characters",
    ],
)
def test_what_our_own_notes_say_is_not_observed(note):
    messages = [user("Go."), asks(("read", {})), result(f"before\n{note}"), asks(("open", {"start": 5806}))]
    session = read_messages(messages)
    assert citations(session, session.observations()) == []
    messages[2] = result(f"before 5806\n{note}\n5806")
    session = read_messages(messages)
    (citation,) = citations(session, session.observations())
    end = len(messages[2]["content"])
    assert citation.sources == {2: [(7, 11), (end - 4, end)]}


def test_reading_a_result_back_cites_nothing():
    messages = [user("Go."), asks(("read", {})), result("part 5806"), asks(("read_result", {"id": "a", "start": 5806}))]
    session = read_messages(messages)
    assert citations(session, session.observations()) == []


def test_a_name_is_kept_while_one_source_shows_it():
    messages = [
        user("Go."),
        asks(("read", {})),
        result(LOG),
        asks(("read", {})),
        result("order_77"),
        asks(("open", {"id": "order_77"})),
    ]
    frame = compare_cuts(read_messages(messages), limits=(500,))
    assert frame["names_kept"].tolist() == [1, 1, 1]


def test_a_name_in_the_marker_is_not_one_in_the_observation():
    """The marker says how many characters are missing: the same number in the middle of the text is still lost."""
    draft = "a" * 1000 + " 0000 " + "b" * 1000
    text = draft.replace("0000", str(cut(draft, 300).omitted_chars))
    number = str(cut(text, 300).omitted_chars)
    assert number in cut(text, 300).text
    frame = compare_cuts(session_of(text, {"name": number}), ("middle_snip",), (300,))
    assert (frame["names"].item(), frame["names_kept"].item()) == (1, 0)


def test_tokens_saved_are_counted_once_at_birth_and_once_for_each_call_that_carries_them_again():
    session = session_of(LOG, {"a": 1}, {"a": 2})  # LOG is in the prompts of calls 2, 3 and 4
    found = row(compare_cuts(session, limits=(1000,)), strategy="middle_snip")
    less = count_text(LOG, "gpt-4o").n - count_text(cut(LOG, 1000).text, "gpt-4o").n
    assert (found["saved_first"], found["saved_resent"]) == (less, 2 * less)
    assert found["tokens_first"] == count_text(cut(LOG, 1000).text, "gpt-4o").n + 2 * count_text("ok", "gpt-4o").n


def test_what_was_saved_is_a_share_of_sending_each_in_full_with_every_call():
    session = session_of(LOG, {"a": 1}, {"a": 2})  # LOG is in three prompts; one "ok" in two, one in one
    found = row(compare_cuts(session, limits=(1000,)), strategy="middle_snip")
    log, ok = count_text(LOG, "gpt-4o").n, count_text("ok", "gpt-4o").n
    assert (found["full_first"], found["full_resent"]) == (log + 2 * ok, 2 * log + ok)
    assert found["tokens_first"] + found["saved_first"] == found["full_first"]
    saved = found["saved_first"] + found["saved_resent"]
    assert found["saved_share"] == pytest.approx(saved / (3 * log + 3 * ok))
    assert math.isnan(compare_cuts(read_messages([]))["saved_share"][0])


def test_a_comparison_that_cut_nothing_says_so():
    assert nothing_cut(compare_cuts(session_of(LOG))) == ""
    assert nothing_cut(compare(session_of("x"), [CHAPTER])).startswith("Nothing was cut. The only observation fits")
    assert "500 characters" in nothing_cut(compare_cuts(session_of("x", {}, {})))


@pytest.mark.parametrize(("n", "share", "said"), [(5, 0.6, "60%"), (4, 0.75, "3 of 4"), (1, 0.0, "0 of 1")])
def test_a_share_of_few_is_told_as_counts(n, share, said):
    assert share_kept(n, share) == said


def test_an_observation_that_was_never_sent_saves_nothing():
    session = read_messages([user("Go."), asks(("read", {})), result(LOG)])
    assert compare_cuts(session, limits=(500,))["saved_first"].tolist() == [0, 0, 0]


def test_observations_are_compared_in_full_where_the_store_has_them(tmp_path):
    record(tmp_path / "a", ["Hi"], [call("read"), "Done."], [tool("read", LOG, max_observation_chars=300)])
    (session,), _ = load(tmp_path / "a")
    assert len(session.records[2].text) <= 300
    assert session.observations()[0].text == LOG
    frame = compare_cuts(session, limits=(100_000,))
    assert frame["only_cut"].tolist() == [0, 0, 0]
    (tmp_path / "a/store/pack.txt").unlink()
    (session,), _ = load(tmp_path / "a")
    (seen,) = session.observations()
    assert (seen.whole, seen.text) == (False, session.records[2].text)
    assert compare_cuts(session, limits=(100_000,))["only_cut"].tolist() == [1, 1, 1]


def test_a_foreign_observation_with_a_marker_is_known_to_be_cut():
    assert compare_cuts(session_of(cut(LOG, 1000).text), limits=(500,))["only_cut"].tolist() == [1, 1, 1]


def test_a_policy_is_applied_as_the_loop_applies_it(tmp_path):
    """Replaying the policy of the recording shows each observation as it was recorded."""
    policy = Policy("p", limits={"read": Limit(120, "tokens", "head_cut")}, per_iteration=Limit(900))
    tools = [tool("read", LOG), tool("list", "name\n" * 500)]
    record(tmp_path / "a", ["Hi"], [[call("read"), call("list")], "Done."], tools)
    (session,), _ = load(tmp_path / "a")
    from agentlab.messages import ToolCall
    from agentlab.observe import Outcome, finish

    box = {t.name: t for t in tools}
    expected = finish(
        [ToolCall("", t.name, {}) for t in tools], [Outcome(LOG), Outcome("name\n" * 500)], box, policy=policy
    )
    shown = show(session.observations(), policy)
    assert [s.text for s in shown] == [o.text for o in expected]


def test_errors_have_their_own_limit_in_a_policy_and_the_common_one_in_a_comparison(tmp_path):
    def fail(**_):
        raise ValueError("x" * 1500)

    broken = tool("read", "")
    broken.run = fail
    record(tmp_path / "a", ["Hi"], [call("read"), "Done."], [broken])
    (session,), _ = load(tmp_path / "a")
    assert compare(session, [Policy("p", default=Limit(100))])["cut"].item() == 0
    assert compare_cuts(session, limits=(100,))["cut"].tolist() == [1, 1, 1]


def test_policies_by_name_and_the_tools_own_limits():
    session = session_of(LOG)
    small = tool("read", "", max_observation_chars=50)
    frame = compare(session, [CHAPTER, Policy("none", default=Limit(0))], toolbox={"read": small})
    assert frame["policy"].tolist() == ["chapter", "none"]
    assert frame["limit"].isna().tolist() == [True, False]
    assert frame["tokens_first"][0] <= 50
    assert compare(session, [CHAPTER])["tokens_first"][0] > 500
    assert 0 < frame["tokens_first"][1] < 20  # a sentence that nothing is shown


@pytest.mark.parametrize("messages", [[], [user("Hi"), says("Hello.")]])
def test_no_observations_give_rows_without_shares(messages):
    frame = compare_cuts(read_messages(messages))
    assert len(frame) == 15
    assert frame["observations"].eq(0).all()
    assert all(math.isnan(x) for x in frame["first_lines_kept"])
    assert {name: str(dtype) for name, dtype in frame.dtypes.items()} == {c.name: c.dtype for c in COMPARE_COLUMNS}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"strategies": ("x",)}, "strategies: unknown 'x'"),
        ({"unit": "x"}, "unit: unknown 'x'"),
        ({"limits": (-1,)}, "limits: a limit is at least 0"),
    ],
)
def test_wrong_arguments_are_named(arguments, said):
    with pytest.raises(InputError, match=said):
        compare_cuts(read_messages([]), **arguments)


@pytest.mark.parametrize(
    ("line", "reports"),
    [
        ("ValueError: no", True),
        ("E   AssertionError: x", True),
        ("json.decoder.JSONDecodeError: Expecting value", True),
        ("Traceback (most recent call last):", True),
        ("Error: FileNotFoundError: none", True),
        ("main.c:3:5: error: expected ';'", True),
        ("make: *** [all] Error 2", True),
        ("exit code: 0", True),
        ("3 failed, 4 passed", True),
        ("0 failed", False),
        ("except ValueError:", False),
        ("    raise KeyError", False),
        ("class ParseError(Exception):", False),
        ("# on failure we exit", False),
        ("2026-03-21 11:00 ERROR database refused the connection (code 57P03)", True),
        ("2026-03-21 11:00:00,123 - app - CRITICAL - out of memory", True),
        ("[ERROR] no such file", True),
        ("[ ERROR ] no such file", True),
        ("ERROR no such file", True),
        ("ERROR:root:no such file", True),
        ("11:00 | ERROR    | app:main:3 - no", True),
        ("FATAL:  password authentication failed", True),
        ("2026/03/21 11:00:00 [error] 31#31: *1 open() failed", True),
        ('{"level":"error","msg":"refused"}', True),
        ('time=11:00 severity=FATAL msg="refused"', True),
        ("Segmentation fault (core dumped)", True),
        ("Killed", True),
        ("bash: foo: command not found", True),
        ("sh: 1: foo: not found", True),
        ("cp: cannot stat 'x': No such file or directory", True),
        ("ssh: connect to host a port 22: Connection refused", True),
        ("panic: runtime error: index out of range", True),
        ("thread 'main' panicked at src/main.rs:2:5:", True),
        ("npm error code E404", True),
        ("    ERROR = 40", False),
        ("log.log(logging.ERROR, 'x')", False),
        ("elog(ERROR, (errmsg('x')));", False),
        ("if level == ERROR:", False),
        ("    return ERROR", False),
        ("case ERROR: return 1;", False),
        ("#define ERROR 1", False),
        ("from logging import ERROR as E", False),
        ("MY_ERROR was here", False),
        ("args = [error]", False),
        ("def warn(error: str) -> None:", False),
        ("self.exit(2, '%(prog)s: error: %(message)s' % args)", False),
        ("the page was not found", False),
    ],
)
def test_which_lines_report_an_error(line, reports):
    text = f"before\n{line}\nafter"
    assert lines_of(text).errors == ([(7, 7 + len(line))] if reports else [])


def test_source_code_that_handles_errors_reports_none():
    """Code of the standard library in which errors are raised, caught and logged on hundreds of lines."""
    import argparse
    import logging
    import logging.handlers
    import shutil
    import subprocess

    texts = [Path(module.__file__).read_text() for module in (argparse, logging, logging.handlers, shutil, subprocess)]
    mentions = sum("error" in line.lower() for text in texts for line in text.splitlines())
    found = [text[slice(*span)] for text in texts for span in lines_of(text).errors]
    assert len(found) < 0.02 * mentions, found  # what a comment quotes of a shell counts


def test_of_several_words_that_count_the_first_says_which_part_of_a_long_line():
    line = "x" * 300 + " error: a" + "x" * 300 + " exit code 3" + "x" * 300
    assert lines_of(line).errors == [(201, 408)]


def test_of_a_long_line_its_end_that_counts_is_asked_for():
    one_line = "{" + "x" * 5000 + "}"
    found = lines_of(one_line)
    assert (found.first, found.last) == ((0, 200), (len(one_line) - 200, len(one_line)))
    assert lines_of(" \n\t") == lines_of("")


@given(
    text=st.text("ab\n é", max_size=400),
    limit=st.integers(0, 300),
    strategy=st.sampled_from(["middle_snip", "tail_cut", "head_cut"]),
)
def test_a_line_is_kept_only_if_the_cut_shows_it(text, limit, strategy):
    shown = kept_of(text, cut(text, limit, strategy).text)
    assert 0 <= shown.head <= shown.tail_start <= len(text)
    lines = lines_of(text)
    for span in (lines.first, lines.last):
        if span is not None and kept(span, shown.head, shown.tail_start):
            assert text[slice(*span)] in shown.text


def test_atoms_are_names_and_ids_and_no_words_or_short_numbers():
    found = list(atoms("see lib/json.py, mia_li_3668 and parseFile; 12 times json. on 2024-05-20 HTTPError plain"))
    assert found == ["lib/json.py", "mia_li_3668", "parseFile", "2024-05-20", "HTTPError"]


@pytest.mark.skipif(not TAU.exists(), reason="the recorded tau-bench runs are not beside this checkout")
def test_names_cited_in_tau_bench_are_as_many_as_another_implementation_found():
    """There are 550; the shares that survive 1,000 characters are theirs, which did not count a marker."""
    sessions, _ = load(TAU)
    found = [(seen := session.observations(), citations(session, seen)) for session in sessions]
    assert sum(len(cited) for _, cited in found) == 550
    shares = {}
    for strategy in ("tail_cut", "middle_snip", "head_cut"):
        survive = 0
        for seen, cited in found:
            cuts = {each.index: cut(each.text, 1000, strategy) for each in seen}
            survive += sum(
                any(
                    kept(span, made.kept_head, made.original_chars - made.kept_tail) or not made.was_cut
                    for index, spans in citation.sources.items()
                    for made in (cuts[index],)
                    for span in spans
                )
                for citation in cited
            )
        shares[strategy] = round(100 * survive / 550, 1)
    assert shares == pytest.approx({"tail_cut": 88.7, "middle_snip": 99.5, "head_cut": 99.8}, abs=1)


WORDS = st.text(alphabet="ab1_./- é\n", min_size=0, max_size=30)


@given(st.lists(WORDS, min_size=1, max_size=5), WORDS)
def test_citations_are_those_that_a_search_of_every_text_finds(results, words):
    """The index of words only spares looking; each atom of the last call is looked for in all that came before."""
    talk = [user("Hi")]
    for number, text in enumerate(results):
        talk += [asks((f"t{number}", {})), result(text)]
    session = read_messages([*talk, asks(("last", {"of": words})), result("")])
    observations = session.observations()
    boundary = r"(?<!\w){}(?!\w)"
    expected = {
        atom: [seen.index for seen in observations[:-1] if re.search(boundary.format(re.escape(atom)), seen.text)]
        for atom in atoms(words)
    }
    found = {each.atom: list(each.sources) for each in citations(session, observations)}
    assert found == {atom: places for atom, places in expected.items() if places}
