"""Arguments as models send them, and tools made from functions."""

from __future__ import annotations

from typing import Any, Literal

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.arguments import read_arguments
from agentlab.arguments.coercion import coerce
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


def taking(**properties: Any) -> Tool:
    """A tool with these fields."""
    return Tool("take", "Take.", {"type": "object", "properties": properties}, print)


INTEGERS = {"type": "array", "items": {"type": "integer"}}
MAYBE = {"anyOf": [{"type": "integer"}, {"type": "null"}]}
POINT = {"type": "object", "properties": {"x": {"type": "integer"}, "on": {"type": "boolean"}}}


@pytest.mark.parametrize(
    ("schema", "sent", "read"),
    [
        ({"type": "integer"}, 1.0, 1),
        ({"type": "integer"}, "1.0", 1),
        (INTEGERS, ["1", "2"], [1, 2]),
        (INTEGERS, [1.0, 2], [1, 2]),
        (INTEGERS, '["1", 2.0]', [1, 2]),
        (MAYBE, "5", 5),
        (MAYBE, 5.0, 5),
        (MAYBE, None, None),
        ({"type": ["integer", "null"]}, "5", 5),
        ({"oneOf": MAYBE["anyOf"]}, "5", 5),
        ({"allOf": [{"type": "integer"}]}, 5.0, 5),
        ({"anyOf": [INTEGERS, {"type": "null"}]}, ["5"], [5]),
        ({"anyOf": [{"type": "integer"}, {"type": "number"}]}, "5.5", 5.5),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, 5.0, 5),
        ({"anyOf": [{"type": "integer"}, {"type": "string"}]}, "5", "5"),
        (POINT, {"x": "1", "on": "True"}, {"x": 1, "on": True}),
        (POINT, '{"x": 1.0}', {"x": 1}),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"a": 1.0, "b": "2"}, {"a": 1, "b": 2}),
        ({"type": "number"}, 1.0, 1.0),
        ({"type": "array"}, [1.0], [1.0]),
        ({}, 1.0, 1.0),
        (True, "5", "5"),
    ],
)
def test_what_is_plainly_meant_is_read_at_any_depth(schema: Any, sent: Any, read: Any) -> None:
    found = read_arguments(taking(n=schema, also={"type": "integer"}), {"n": sent})["n"]
    assert repr(found) == repr(read)  # 1.0 == 1, and a slice knows the difference


def test_a_whole_float_can_be_sliced_by() -> None:
    cut = Tool(
        "cut", "Cut.", {"type": "object", "properties": {"start": {"type": "integer"}}}, lambda start: "abc"[start:]
    )
    assert cut.run(**read_arguments(cut, {"start": 1.0})) == "bc"
    assert cut.run(**read_arguments(cut, '{"start": 1.0}')) == "bc"


def test_arguments_without_a_whole_float_are_not_copied() -> None:
    sent = {"path": "a.txt", "start": 5}
    assert read_arguments(look, sent) is sent


def test_a_schema_that_is_put_in_place_of_another_is_the_one_that_counts() -> None:
    own = taking(n={"type": "integer"})
    assert read_arguments(own, {"n": 5}) == {"n": 5}
    own.parameters = {"type": "object", "properties": {"n": {"type": "boolean"}}}
    with pytest.raises(ArgumentError, match="a boolean"):
        read_arguments(own, {"n": 5})


def test_a_property_that_is_a_truth_value_takes_anything_or_nothing() -> None:
    own = taking(any=True, none=False, n={"type": "integer"})
    assert read_arguments(own, {"any": [1], "n": "5"}) == {"any": [1], "n": 5}
    with pytest.raises(ArgumentError, match=r"'n': expected an integer.*any \(any\), n \(integer\)\.$"):
        read_arguments(own, {"any": 1, "n": "five"})
    with pytest.raises(ArgumentError, match="field 'none' must not be given"):
        read_arguments(own, {"none": 1})
    needs = Tool("take", "T.", {"type": "object", "properties": {"any": True}, "required": ["any"]}, print)
    with pytest.raises(ArgumentError, match="field 'any' is missing, expected any value"):
        read_arguments(needs, {})


@pytest.mark.parametrize(
    ("schema", "sent", "sentence"),
    [
        (MAYBE, "x", "field 'n': the string \"x\" fits none of: an integer; null."),
        ({"type": ["integer", "null"]}, "x", "field 'n': expected an integer or null, got the string \"x\"."),
        (
            {"oneOf": [{"minimum": 1}, {"minimum": 2}]},
            5,
            "field 'n': the number 5 must fit exactly one of: a value at least 1; a value at least 2.",
        ),
        (
            {"anyOf": [{**POINT, "required": ["x"]}, {"type": "null"}]},
            {"on": True},
            "field 'n': the object {\"on\":true} fits none of: an object with 'x'; null.",
        ),
        ({**POINT, "required": ["x"]}, {}, "field 'n': its field 'x' is missing, expected an integer."),
        ({**POINT, "additionalProperties": False}, {"xx": 1}, "in field 'n' there is no field 'xx', did you mean 'x'?"),
        ({"type": "string", "minLength": 3}, "x", 'expected a string of at least 3 characters, got the string "x".'),
        ({"type": "string", "pattern": "^a+$"}, "x", "expected a string that matches the pattern ^a+$, got"),
        ({**INTEGERS, "maxItems": 1}, [1, 2], "expected an array of at most 1 items, got the list [1,2]."),
        ({"type": "integer", "exclusiveMinimum": 5}, 5, "expected an integer above 5, got the number 5."),
        ({"const": 5}, 6, "expected the number 5, got the number 6."),
        ({"not": {"type": "integer"}}, 5, "the number 5 is against the schema's not: the object"),
        (
            {"type": "object", "minProperties": 1},
            {},
            "the object {} is against the schema's minProperties: the number 1.",
        ),
    ],
)
def test_what_is_refused_is_said_in_a_true_sentence(schema: Any, sent: Any, sentence: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        read_arguments(taking(n=schema), {"n": sent})
    assert sentence in str(caught.value)


def test_alternatives_of_the_whole_object_are_named() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    with pytest.raises(
        ArgumentError, match=r"the arguments: the object \{\} fits none of: an object with 'a'; an object"
    ):
        read_arguments(Tool("take", "Take.", schema, print), {})


def test_a_field_that_a_pattern_allows_is_not_called_unknown() -> None:
    schema = {"type": "object", "patternProperties": {"^x-": {}}, "additionalProperties": False}
    with pytest.raises(ArgumentError, match="no field 'b'"):
        read_arguments(Tool("take", "Take.", schema, print), {"x-a": 1, "b": 2})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "["},
        {"patternProperties": {"[": {}}},
        {"$ref": "#/$defs/nowhere"},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "file:///etc/hostname"},
        {"$ref": 5},
        {"items": 5},
        {"anyOf": 5},
        {"minimum": "5"},
    ],
)
def test_a_schema_that_cannot_be_compiled_is_said_to_be_the_tools_fault(schema: Any) -> None:
    with pytest.raises(ArgumentError, match="the tool's own schema is not valid"):
        read_arguments(taking(n=schema), {"n": "x"})


@pytest.mark.parametrize("sent", ['"\ud800"', "[" * 100_000, '{"path": "' + "[" * 100_000])
def test_text_that_no_decoder_takes_is_refused(sent: str) -> None:
    with pytest.raises(ArgumentError, match="not valid JSON"):
        read_arguments(look, sent)


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


kinds = st.sampled_from(["integer", "number", "string", "boolean", "null"]).map(lambda kind: {"type": kind})
schemas = st.recursive(
    kinds | st.just({}) | st.just(True),
    lambda inner: (
        inner.map(lambda items: {"type": "array", "items": items})
        | st.lists(inner, min_size=1, max_size=3).map(lambda arms: {"anyOf": arms})
        | st.dictionaries(st.sampled_from("ab"), inner, max_size=2).map(lambda p: {"type": "object", "properties": p})
        | inner.map(lambda others: {"type": "object", "additionalProperties": others})
    ),
    max_leaves=5,
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from([1.0, 2.5, "1", "2.0", "true", "x", "[1.0]"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=5,
)


@given(schemas, values)
def test_a_value_that_a_schema_accepts_stays_equal_and_a_coerced_one_is_settled(schema: Any, value: Any) -> None:
    valid = jsonschema.Draft202012Validator(schema).is_valid
    made = coerce(value, schema)
    if valid(value):
        assert made == value
        assert valid(made)
    assert repr(coerce(made, schema)) == repr(made)
