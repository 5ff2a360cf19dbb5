"""What a tool may be, checked where it is made; and paging through a stored result."""

from __future__ import annotations

import asyncio
import enum
import functools
from typing import Any, TypedDict

import jsonschema
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentlab.arguments import read_arguments
from agentlab.builtin_tools.results import page, read_result_tool
from agentlab.errors import ArgumentError, InputError
from agentlab.messages import ToolCall
from agentlab.observe import observe
from agentlab.store import Store
from agentlab.tools import Tool, tool, toolbox
from agentlab.truncate import STRATEGIES

EMPTY: dict[str, Any] = {"type": "object", "properties": {}}


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Point(TypedDict):
    x: int
    y: int


class Box(msgspec.Struct):
    corner: Point
    colour: Colour
    inside: list[Box] = []


def make(**changes: Any) -> Tool:
    return Tool(**{"name": "g", "description": "G.", "parameters": EMPTY, "run": lambda: "x"} | changes)


# -- what is refused at definition


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"strategy": "nope"}, ["g.strategy", "'nope'", "middle_snip"]),
        ({"strategy": ["middle_snip"]}, ["g.strategy"]),
        ({"max_observation_chars": -1}, ["g.max_observation_chars", "at least 0", "-1"]),
        ({"max_observation_chars": 4e3}, ["g.max_observation_chars", "4000.0"]),
        ({"max_observation_chars": "4000"}, ["g.max_observation_chars", "'4000'"]),
        ({"max_observation_chars": True}, ["g.max_observation_chars"]),
        ({"timeout": 0}, ["g.timeout", "above 0"]),
        ({"timeout": -1}, ["g.timeout"]),
        ({"timeout": float("nan")}, ["g.timeout", "nan"]),
        ({"timeout": "5"}, ["g.timeout"]),
        ({"name": ""}, ["1 to 64"]),
        ({"name": "é"}, ["ASCII", "'é'"]),
        ({"name": "a" * 65}, ["1 to 64"]),
        ({"name": "now\n"}, ["1 to 64"]),
        ({"name": 5}, ["1 to 64"]),
        ({"parameters": None}, ["g.parameters", "JSON schema of type object", "None"]),
        ({"parameters": {"type": "string"}}, ["g.parameters", "object"]),
        ({"parameters": {"type": "object", "properties": None}}, ["g.parameters.properties", "{} for none"]),
        ({"parameters": {"type": "object", "required": None}}, ["g.parameters.required", "[] for none"]),
    ],
)
def test_a_setting_that_would_fail_at_run_time_is_refused_at_definition(changes, words):
    with pytest.raises(InputError) as caught:
        make(**changes)
    for word in words:
        assert word in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_allowed_stays_allowed():
    for strategy in STRATEGIES:
        assert make(strategy=strategy).strategy == strategy
    assert make(max_observation_chars=0, timeout=0.5, name="A-z_09" * 10, parameters={}).timeout == 0.5


def test_a_limit_can_be_changed_at_run_time():
    given = make(run=lambda: "x" * 500)
    given.max_observation_chars = 50
    assert len(observe(ToolCall("1", "g", {}), toolbox([given])).text) <= 50


async def wait() -> str:
    """Wait."""
    return "x"


async def drip():
    """Drip."""
    yield "x"


class Waiting:
    async def __call__(self) -> str:
        return "x"


@pytest.mark.parametrize("function", [wait, drip, functools.partial(wait), Waiting()])
def test_an_async_function_is_refused_with_what_to_do(function):
    with pytest.raises(InputError, match=r"async def.*asyncio\.run"):
        make(run=function)


def test_the_advice_for_async_functions_works_where_a_loop_runs_already():
    def run() -> str:
        return asyncio.run(wait())

    async def notebook() -> str:
        return observe(ToolCall("1", "g", {}), toolbox([make(run=run, timeout=5)])).text

    assert asyncio.run(notebook()) == "x"


# -- types with a name


def described():
    @tool
    def draw(colour: Colour, corner: Point, boxes: list[Box], other: Box | None = None) -> str:
        """Draw.

        Args:
            colour: Of the line.
        """
        return f"{colour} {corner} {boxes} {other}"

    return draw


def test_types_with_a_name_stand_in_one_place_where_references_find_them():
    schema = described().parameters
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema["$defs"]) == {"Colour", "Point", "Box"}
    assert "$defs" not in str(schema["properties"]).replace("#/$defs/", "")
    assert schema["properties"]["colour"]["description"] == "Of the line."


def test_arguments_of_types_with_a_name_are_checked_and_arrive_as_json():
    draw = described()
    box = {"corner": {"x": "1", "y": 2.0}, "colour": "red", "inside": [{"corner": {"x": 1, "y": 2}, "colour": "blue"}]}
    read = read_arguments(draw, {"colour": "red", "corner": {"x": 1, "y": 2}, "boxes": [box], "other": box})
    assert (
        read["boxes"][0]["corner"]
        == read["other"]["corner"]
        == read["boxes"][0]["inside"][0]["corner"]
        == read["corner"]
    )
    assert type(read["boxes"][0]["corner"]["y"]) is int
    with pytest.raises(ArgumentError, match=r"'colour': expected one of .*\"red\".*got the string \"green\""):
        read_arguments(draw, {"colour": "green", "corner": {"x": 1, "y": 2}, "boxes": []})
    with pytest.raises(ArgumentError, match=r"field 'boxes\.0': its field 'colour' is missing, expected one of"):
        read_arguments(draw, {"colour": "red", "corner": {"x": 1, "y": 2}, "boxes": [{"corner": {"x": 1, "y": 2}}]})


def test_a_tool_without_such_types_has_no_definitions():
    @tool
    def plain(a: int) -> str:
        """Plain."""
        return str(a)

    assert "$defs" not in plain.parameters


def test_two_types_of_one_name_are_told_apart():
    def both(a, b) -> str:
        """Both."""
        return f"{a} {b}"

    both.__annotations__ |= {
        "a": msgspec.defstruct("Inner", [("v", int)]),
        "b": msgspec.defstruct("Inner", [("v", str)]),
    }
    made = tool(both)
    assert read_arguments(made, {"a": {"v": 1}, "b": {"v": "x"}}) == {"a": {"v": 1}, "b": {"v": "x"}}
    with pytest.raises(ArgumentError, match=r"'b\.v': expected a string"):
        read_arguments(made, {"a": {"v": 1}, "b": {"v": [2]}})


def test_a_parameter_that_json_has_no_form_for_is_named():
    with pytest.raises(InputError, match="parameter 'b': JSON has no form"):

        @tool
        def odd(a: int, b: complex) -> str:
            """Odd."""
            return f"{a} {b}"


# -- pages of a stored result


@pytest.mark.parametrize("limit", [-1, 0, 10, 199])
def test_a_page_that_would_be_all_note_is_refused(limit):
    with pytest.raises(InputError, match="max_chars: expected at least 200"):
        read_result_tool(Store(), max_chars=limit)


@given(st.integers(1, 3_000), st.integers(0, 400), st.sampled_from(["abcdef012345", "a" * 64]))
def test_pages_fit_and_put_together_are_the_whole(size, room, key):
    text = "".join(chr(97 + n % 26) for n in range(size))
    read, start = "", 0
    while start < size:
        shown = page(text, key, start, None, room=room)
        assert len(shown) <= room or size - start <= room
        body, note, rest = shown.partition("\n[characters ")
        assert text[start:].startswith(body)
        if note:
            assert rest.endswith(" goes on]")
            assert f'read_result("{key}", start={start + len(body)}, end={size})' in rest
        elif len(body) < size - start:  # no room for a note: the text alone, as much as there is room for
            assert len(body) == room
        if not body:
            assert room == 0
            return
        read += body
        start += len(body)
    assert read == text


def test_a_smaller_limit_that_is_set_later_gives_a_smaller_page():
    store = Store()
    key = store.put("0123456789" * 500)
    reader = read_result_tool(store)
    reader.max_observation_chars = 300
    first = reader(id=key)
    assert len(first) <= 300
    assert first.endswith("goes on]")
    reader.max_observation_chars = 50
    assert reader(id=key) == "0123456789" * 5


def test_a_plain_function_among_the_tools_is_named() -> None:
    from agentlab.tools import toolbox

    def plain(x: str) -> str:
        return x

    with pytest.raises(InputError, match="plain is no tool: put @tool above"):
        toolbox([plain])  # type: ignore[list-item]
