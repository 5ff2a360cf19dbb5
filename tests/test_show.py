"""What a notebook shows: source with its place, messages as a table, texts side by side; no text can break out."""

from __future__ import annotations

import json
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlab import show
from agentlab.analysis import read_messages
from agentlab.builtin_tools import wordcount
from agentlab.conversation import Conversation
from agentlab.errors import InputError
from agentlab.loop import agent_step, run_turn
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.truncate import cut, cutting

EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&"
SHOWN_TAGS = {"div", "pre", "span", "strong", "table", "thead", "tbody", "tr", "th", "td"}


class Reader(HTMLParser):
    """Reads HTML back: which tags and attributes there are, and the text of each cell."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.open, self.text = set(), set(), [], ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def html_of(shown):
    reader = Reader(shown._repr_html_())
    assert reader.open == []
    assert reader.tags <= SHOWN_TAGS
    assert reader.attributes <= {"style"}
    return reader


def table_of(messages, **settings):
    return repr(show.messages(messages, **settings)).splitlines()


def tool_message(text, **more):
    return {"role": "tool", "tool_call_id": "a", "name": "read_file", "content": text, **more}


def asking(arguments, name="read_file", text=""):
    function = {"name": name, "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)}
    return {"role": "assistant", "content": text, "tool_calls": [{"id": "a", "type": "function", "function": function}]}


# -- source


def test_source_names_file_and_lines_and_they_are_true():
    shown = show.source(run_turn)
    assert shown.file == "agentlab/loop.py"
    assert repr(shown).startswith(f"agentlab/loop.py, lines {shown.first_line}-{shown.last_line}\n\ndef run_turn(")
    lines = Path(sys.modules["agentlab.loop"].__file__).read_text(encoding="utf-8").split("\n")
    assert "\n".join(lines[shown.first_line - 1 : shown.last_line]) == shown.code


def test_source_of_a_method_stands_at_the_left():
    assert show.source(cutting._Job._fit).code.startswith("def _fit(")
    assert show.source(Conversation).code.startswith("class Conversation:")


def test_source_of_a_tool_is_what_runs():
    shown = show.source(wordcount)
    assert shown.file == "agentlab/builtin_tools/basics.py"
    assert "return str(len(text.split()))" in shown.code


def test_source_of_a_module_begins_at_its_first_line():
    shown = show.source(cutting)
    assert shown.first_line == 1
    assert shown.code.startswith('"""The cut')
    assert shown.last_line == len(Path(cutting.__file__).read_text(encoding="utf-8").splitlines())


def test_the_docstring_can_be_left_out_and_nothing_else_is():
    whole, short = show.source(agent_step), show.source(agent_step, docstring=False)
    assert '"""' in whole.code
    assert '"""' not in short.code
    head, _, rest = whole.code.partition('    """')
    assert short.code == head + rest.partition('"""\n')[2]
    assert short.place == whole.place


def only_described():
    """Nothing but this."""


class Described:
    """One line."""

    name = "described"


def test_leaving_the_docstring_out_keeps_valid_python():
    assert '"""' in show.source(only_described, docstring=False).code
    assert show.source(Described, docstring=False).code == 'class Described:\n    name = "described"'
    assert show.source(html_of, docstring=False).code == show.source(html_of).code


def test_source_tells_no_folder_of_the_machine(tmp_path):
    for item in (run_turn, html_of, json.dumps):
        assert not show.source(item).file.startswith(("/", "\\"))
    assert show.source(json.dumps).file == "json/__init__.py"


def test_source_of_a_cell_is_this_notebook():
    import linecache

    code = "def in_a_cell():\n    return 1\n"
    name = "/tmp/ipykernel_1234/567.py"
    linecache.cache[name] = (len(code), None, code.splitlines(keepends=True), name)
    space = {"__name__": "cell_of_a_notebook"}
    exec(compile(code, name, "exec"), space)
    assert repr(show.source(space["in_a_cell"])) == f"this notebook, lines 1-2\n\n{code.rstrip()}"


@pytest.mark.parametrize("item", [len, 3, "agentlab.loop"])
def test_no_source_is_an_error_that_says_what_has_one(item):
    with pytest.raises(InputError, match="name a function, a class, a module or a tool"):
        show.source(item)


def test_source_as_html_has_the_code_and_the_colours_of_the_theme():
    shown = show.source(run_turn)
    assert html_of(shown).text.rstrip("\n") == shown.place + shown.code
    assert "var(--jp-mirror-editor-keyword-color)" in shown._repr_html_()


def test_source_as_html_is_plain_where_the_style_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "jupyterlab_pygments", None)
    shown = show.source(run_turn)
    assert html_of(shown).text == shown.place + shown.code
    assert "<span" not in shown._repr_html_()


# -- messages


def test_messages_of_a_turn():
    messages = []
    model = ScriptedModel([call("wordcount", text="a b c"), "Three."])
    agent_step("How many words?", messages, model, "Be brief.")
    assert repr(show.messages(messages)) == (
        "#  role       name       chars  tokens  text\n"
        "0  user                     15       4  How many words?\n"
        "1  assistant                25       9  → wordcount(text='a b c')\n"
        "2  tool       wordcount      1       1  3\n"
        "3  assistant                 6       2  Three.\n"
        "4 messages, 47 characters, 16 tokens (o200k_base, texts alone)"
    )
    assert show.messages(Conversation(messages)) == show.messages(messages) == show.messages(read_messages(messages))


def test_sizes_count_the_whole_text_and_the_arguments():
    table = show.messages([asking({"text": "x" * 500}), tool_message("word " * 10_000)], limit=20)
    assert [row.characters for row in table.rows] == [len("read_file") + len('{"text": ""}') + 500, 50_000]
    assert table.rows[1].tokens.n > 10_000
    assert table.rows[1].tokens.exact


def test_a_long_text_is_clipped_and_says_how_many_lines_follow():
    table = show.messages([tool_message("\n".join(["first " * 50, *["more"] * 4_999]))], limit=40)
    assert len(table.rows[0].text) == 40
    assert table.rows[0].text.startswith("first first")
    assert table.rows[0].text.endswith("… (+4,999 lines)")


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({"path": "a.txt", "start_line": 3}, "→ read_file(path='a.txt', start_line=3)"),
        ({}, "→ read_file()"),
        ('{"path": "a', '→ read_file({"path": "a)'),
        ("[1, 2]", "→ read_file([1, 2])"),
    ],
)
def test_calls_show_their_arguments_as_they_came(arguments, shown):
    assert table_of([asking(arguments)])[1].endswith(shown)


def test_words_beside_a_call_are_shown_after_it():
    assert table_of([asking({}, text="Let me look.")])[1].endswith("→ read_file()  Let me look.")


def test_an_error_and_what_the_loop_said_are_marked():
    loop_said = {"role": "user", "content": "Go on.", "origin": "loop"}
    lines = table_of([tool_message("Error: KeyError: 'a'", is_error=True), loop_said])
    assert lines[1].endswith("(error) Error: KeyError: 'a'")
    assert "user (loop)" in lines[2]
    assert "(error)" in html_of(show.messages([tool_message("no", is_error=True)])).text


def test_content_of_other_logs_is_read():
    parts = [{"type": "text", "text": "one"}, {"type": "image"}, "two"]
    lines = table_of([{"role": "user", "content": parts}, {"role": "assistant", "content": None}])
    assert lines[1].endswith("one (+2 lines)")
    assert lines[2].split() == ["1", "assistant", "0", "0"]


def test_no_messages_is_an_empty_table():
    assert table_of([]) == ["#  role  name  chars  tokens  text", "0 messages, 0 characters, 0 tokens"]
    html_of(show.messages([]))


@pytest.mark.parametrize("wrong", ["text", {"role": "user"}, None, 3])
def test_what_holds_no_messages_is_refused(wrong):
    with pytest.raises(InputError, match="expected a list of messages or a conversation"):
        show.messages(wrong)


@pytest.mark.parametrize("wrong", [{"content": "no role"}, "text", None, {"role": "assistant", "tool_calls": [{}]}])
def test_what_is_no_message_is_refused_by_its_number(wrong):
    with pytest.raises(InputError, match=r"messages\[1\]: expected a message with a role"):
        show.messages([{"role": "user", "content": "a"}, wrong])


def test_a_limit_below_one_is_refused():
    with pytest.raises(InputError, match="limit: expected a number of characters from 1, found 0"):
        show.messages([], limit=0)


def test_missing_ranks_give_an_estimate_that_says_so(monkeypatch):
    from agentlab.errors import MissingRanksError
    from agentlab.show import table

    def missing(text):
        raise MissingRanksError("not there")

    monkeypatch.setattr(table, "count_text", missing)
    lines = table_of([{"role": "user", "content": "x" * 40}])
    assert lines[1].split() == ["0", "user", "40", "≈10", "x" * 40]
    assert lines[-1] == "1 message, 40 characters, ≈10 tokens (characters/4, texts alone)"


def test_no_text_can_break_out_of_the_table():
    evil = [
        {"role": EVIL, "content": EVIL},
        asking({EVIL: EVIL}, name=EVIL, text=EVIL),
        tool_message(EVIL, name=EVIL),
        {"role": "user", "content": "a", "origin": EVIL},
    ]
    reader = html_of(show.messages(evil))
    assert reader.text.count("<script>") >= 6


def test_a_terminal_is_left_alone():
    line = table_of([{"role": "user", "content": "a\x1b[2Jb\tc\rd\x00\ud800e"}])[1]
    assert line.endswith("a\N{REPLACEMENT CHARACTER}[2Jb c d\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}e")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), st.text(max_size=60))), st.integers(1, 50))
def test_any_texts_make_a_table_with_a_line_each(pairs, limit):
    table = show.messages([{"role": role, "content": text} for role, text in pairs], limit=limit)
    assert len(repr(table).split("\n")) == len(pairs) + 2
    assert [row.characters for row in table.rows] == [len(text) for _, text in pairs]
    html_of(table)


# -- side by side


def test_side_by_side_puts_texts_into_columns():
    lines = repr(show.side_by_side({"short": "a\nb", "long": "c" * 50})).split("\n")
    cells = [[cell.strip() for cell in line.split(" | ")] for line in lines]
    assert cells == [["short", "long"], ["-----", "----"], ["a", "c" * 46], ["b", "c" * 4]]


def test_the_marker_of_a_cut_stands_out():
    text = cut("<b>" * 1_000, 200).text
    html = show.side_by_side({"middle": text})._repr_html_()
    assert html_of(show.side_by_side({"middle": text})).text == f"middle{text}"
    assert "<strong>[...truncated: " in html
    assert "middle...]</strong>" in html


def test_side_by_side_escapes_titles_and_texts():
    assert html_of(show.side_by_side({EVIL: EVIL, "b": EVIL})).text == f"{EVIL}b{EVIL}{EVIL}"


def test_nothing_to_show_is_nothing():
    assert repr(show.side_by_side({})) == ""
    html_of(show.side_by_side({}))


# -- all of them


def test_no_background_and_no_text_colour_is_set():
    shown = [show.source(run_turn), show.messages([tool_message("a")]), show.side_by_side({"a": "b"})]
    for each in shown:
        styles = each._repr_html_()
        assert "background:transparent" in styles or "background" not in styles
        assert ";color:#" not in styles
        assert '"color:#' not in styles
        assert "color: #" not in styles


def test_importing_loads_neither_jupyter_nor_pandas_nor_a_tokenizer():
    heavy = "('IPython', 'pygments', 'pandas', 'matplotlib', 'tiktoken')"
    code = f"import sys, agentlab.show; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
