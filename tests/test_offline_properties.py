"""What holds for any text and any tools: no crash, valid calls or text, an end within the cap."""

from __future__ import annotations

import json
from types import SimpleNamespace

import jsonschema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_offline_bench import World

from agentlab.providers.offline import OfflineModel

SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
WORDS = """read open list find 'def x' in zen.txt big.log notes/ and then what time is it ? how long since I asked .
compare with which is largest count the words 12 3.5 Oslo Buenos Aires #A12 weather add plus continue middle end lines 4
to 9 summarise [...truncated: read_result(" `ls` class Foo() it them \U0001f600 \x00 -1 1e9 e.g. ../.. /etc/passwd"""
FRAGMENTS = st.sampled_from(WORDS.split())
TEXTS = st.one_of(
    st.text(max_size=300),
    st.lists(FRAGMENTS, max_size=25).map(" ".join),
    st.text(st.characters(categories=["Cs", "Ll", "Zs", "Po"]), max_size=60),
)
NAMES = st.from_regex(r"[a-z][a-z_]{0,12}", fullmatch=True)
ALLOWED = st.lists(st.sampled_from(["Oslo", "red", "large", 3, True, None]), min_size=1, max_size=3, unique_by=repr)
LEAVES = st.one_of(
    st.sampled_from([{"type": kind} for kind in ("string", "integer", "number", "boolean", "null")]),
    ALLOWED.map(lambda values: {"enum": values}),
    st.just({"type": ["string", "null"]}),
    st.just({"anyOf": [{"type": "null"}, {"type": "integer"}]}),
    st.just({"const": "x"}),
    st.just({}),
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        inner.map(lambda s: {"type": "array", "items": s}),
        st.dictionaries(NAMES, inner, max_size=3).map(
            lambda p: {"type": "object", "properties": p, "required": list(p), "additionalProperties": False}
        ),
    ),
    max_leaves=4,
)


TOOL_NAMES = st.one_of(NAMES, st.sampled_from(["now", "read_file", "grep", "list_dir", "add"]))
PROPERTIES = st.dictionaries(st.one_of(NAMES, st.sampled_from(["path", "city", "text"])), SCHEMAS, max_size=3)


@st.composite
def tools(draw):
    made = []
    for name in draw(st.lists(TOOL_NAMES, max_size=4, unique=True)):
        properties = draw(PROPERTIES)
        required = draw(st.lists(st.sampled_from(sorted(properties)), unique=True)) if properties else []
        schema = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
        made.append(SimpleNamespace(name=name, description=draw(TEXTS)[:80], parameters=schema))
    return made


def check(reply, given_tools):
    """Text, or calls of tools that exist with arguments that their schemas accept."""
    known = {tool.name: tool for tool in given_tools}
    assert reply.tool_calls or reply.text.strip()
    assert len({call.id for call in reply.tool_calls}) == len(reply.tool_calls)
    for call in reply.tool_calls:
        jsonschema.validate(json.loads(json.dumps(call.arguments)), known[call.name].parameters)


@SETTINGS
@given(text=TEXTS, given_tools=tools(), choice=st.sampled_from(["auto", "none", "any"]))
def test_any_text_with_any_tools_gives_valid_calls_or_text(text, given_tools, choice):
    reply = OfflineModel(counter="characters/4").call(
        [{"role": "user", "content": text}], system="", tools=given_tools, tool_choice=choice
    )
    check(reply, given_tools)
    if choice == "none":
        assert reply.tool_calls == ()
    if choice == "any" and given_tools:
        assert reply.tool_calls


@SETTINGS
@given(
    prompts=st.lists(TEXTS, min_size=1, max_size=3),
    limit=st.sampled_from([200, 400, 1200]),
    cut=st.sampled_from(["middle", "end", "start"]),
)
def test_a_session_ends_within_the_cap(prompts, limit, cut):
    world, messages = World(limit=limit, cut=cut), []
    for prompt in prompts:
        assert world.turn(prompt, messages, OfflineModel(counter="characters/4"), world.tools(), cap=10).strip()


OBSERVED = st.lists(st.tuples(TEXTS, st.booleans()), min_size=10, max_size=10)


@SETTINGS
@given(prompt=TEXTS, observations=OBSERVED, given_tools=tools())
def test_any_observation_leads_on_to_an_answer(prompt, observations, given_tools):
    messages = [{"role": "user", "content": prompt}]
    for text, is_error in observations:
        reply = OfflineModel(counter="characters/4").call(messages, system="", tools=given_tools)
        if not reply.tool_calls:
            assert reply.text.strip()
            return
        calls = [
            {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": json.dumps(c.arguments)}}
            for c in reply.tool_calls
        ]
        messages.append({"role": "assistant", "content": reply.text, "tool_calls": calls})
        for call in calls:
            message = {"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"], "content": text}
            messages.append(message | ({"is_error": True} if is_error else {}))
    raise AssertionError("no answer after ten replies with calls")


@SETTINGS
@given(text=TEXTS, system=TEXTS, most=st.integers(1, 40))
def test_any_output_limit_is_kept(text, system, most):
    reply = OfflineModel(counter="characters/4").call(
        [{"role": "user", "content": text}], system=system, tools=[], max_output_tokens=most
    )
    assert (len(reply.text) + 3) // 4 <= most
    assert reply.stop_reason in ("end_turn", "max_tokens")
