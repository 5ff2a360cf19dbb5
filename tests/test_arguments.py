"""Arguments as models send them, and tools made from functions."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.arguments import read_arguments
from agentlab.errors import ArgumentError, InputError
from agentlab.tools import Tool, tool, toolbox


@tool
def look(
    path: str, start: int = 1, end: int | None = None, mode: Literal["text", "bytes"] = "text", deep: bool = False
) -> str:
    """Look at a file.

    Args:
        path: Where it is,
            below the workspace.
        start: First line, from 1.
    """
    return f"{path}:{start}-{end} {mode} {deep}"


def test_a_tool_is_made_from_signature_and_docstring() -> None:
    assert look.name == "look"
    assert look.description == "Look at a file."
    assert look.parameters["required"] == ["path"]
    assert look.parameters["properties"]["path"]["description"] == "Where it is, below the workspace."
    assert look.parameters["properties"]["end"] == {"type": "integer"}
    assert look.parameters["properties"]["mode"]["enum"] == ["bytes", "text"]
    assert look("a", start=2) == "a:2-None text False"


def test_scope_is_not_a_parameter_of_the_schema() -> None:
    @tool
    def wait(seconds: float, scope: Any = None) -> str:
        """Wait."""
        return "ok"

    assert list(wait.parameters["properties"]) == ["seconds"]
    assert wait.takes_scope


def test_what_cannot_be_described_is_refused_with_a_reason() -> None:
    with pytest.raises(InputError, match="no docstring"):
        tool(lambda: "x")
    with pytest.raises(InputError, match="'x' has no annotation"):

        @tool
        def bare(x) -> str:  # type: ignore[no-untyped-def]
            """Bare."""
            return str(x)

    with pytest.raises(InputError, match="passed by name"):

        @tool
        def many(*names: str) -> str:
            """Many."""
            return "".join(names)

    with pytest.raises(InputError, match="letters, digits"):
        Tool("no spaces", "x", {}, print)
    with pytest.raises(InputError, match="two tools are named 'look'"):
        toolbox([look, look])


@pytest.mark.parametrize(
    "sent",
    [
        {"path": "a.txt", "start": 5},
        '{"path": "a.txt", "start": 5}',
        '"{\\"path\\": \\"a.txt\\", \\"start\\": 5}"',
        [{"path": "a.txt", "start": 5}],
        {"arguments": {"path": "a.txt", "start": 5}},
        {"arguments": '{"path": "a.txt", "start": 5}'},
        {"path": "a.txt", "start": "5"},
        {"path": "a.txt", "start": 5.0},
        {"path": "a.txt", "start": "5", "end": None},
    ],
)
def test_pitfall_25_arguments_in_every_form_are_read(sent: Any) -> None:
    assert read_arguments(look, sent) == {"path": "a.txt", "start": 5}


@pytest.mark.parametrize("sent", ["", "  ", "{}", [], None, "[]", "null"])
def test_pitfall_25_no_arguments_in_every_form_are_none(sent: Any) -> None:
    nothing = Tool("now", "Now.", {"type": "object", "properties": {}, "additionalProperties": False}, lambda: "x")
    assert read_arguments(nothing, sent) == {}


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ({"path": "a", "start": "five"}, ["'start'", "an integer", 'the string "five"']),
        ({"start": 5}, ["'path'", "missing", "a string"]),
        ({"path": "a", "pth": "b"}, ["'pth'", "did you mean 'path'"]),
        ({"path": ["a"]}, ["'path'", "a string", "the list"]),
        ({"path": "a", "mode": "hex"}, ["'mode'", '"text"', '"hex"']),
        ({"path": "a", "deep": "perhaps"}, ["'deep'", "a boolean", "perhaps"]),
        ('{"path": "a', ["not valid JSON", "path (string, required)"]),
        ("[1, 2]", ["expected an object", "the list"]),
        ("7", ["expected an object", "the number 7"]),
    ],
)
def test_pitfall_25_an_error_names_the_field_what_came_and_what_was_expected(sent: Any, words: list[str]) -> None:
    with pytest.raises(ArgumentError) as caught:
        read_arguments(look, sent)
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_field_named_arguments_in_the_schema_is_not_unwrapped() -> None:
    schema = {"type": "object", "properties": {"arguments": {"type": "object"}}, "required": ["arguments"]}
    own = Tool("run", "Run.", schema, print)
    assert read_arguments(own, {"arguments": {"path": "a"}}) == {"arguments": {"path": "a"}}


def test_pitfall_10_arguments_that_carry_our_own_marker_are_refused() -> None:
    write = Tool("write", "Write.", {"type": "object", "properties": {"text": {"type": "string"}}}, print)
    copied = {"text": "start\n\n[...truncated: 4923 characters omitted from the middle...]\n\nend"}
    with pytest.raises(ArgumentError, match="not run"):
        read_arguments(write, copied)
    assert read_arguments(write, {"text": "truncated: 3 characters"}) == {"text": "truncated: 3 characters"}


def test_a_schema_that_is_not_valid_is_said_and_not_crashed_on() -> None:
    broken = Tool("broken", "Broken.", {"type": "object", "properties": {"n": {"type": "nonsense"}}}, print)
    with pytest.raises(ArgumentError, match="own schema"):
        read_arguments(broken, {"n": 1})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["path", "start", "arguments", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(json_values | st.text())
def test_any_arguments_are_read_or_refused_in_one_line(sent: Any) -> None:
    try:
        read = read_arguments(look, sent)
    except ArgumentError as error:
        reason = str(error)
    else:
        reason = "look: read"
        assert isinstance(read["path"], str)
        assert set(read) <= set(look.parameters["properties"])
    assert reason.startswith("look: ")
    assert "\n" not in reason
