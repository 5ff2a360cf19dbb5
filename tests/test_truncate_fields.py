"""JSON with fields dropped is JSON, smaller, and says the same about what was kept."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentlab.errors import InputError
from agentlab.truncate import drop_fields

ISSUE = {
    "id": 12345678901234567890,
    "title": "Wrong “total”",
    "score": 1.10,
    "user": {"name": "Ada", "mail": "a@b.c", "team": {"name": "core", "size": 4}},
    "labels": [{"name": "bug", "color": "red"}, {"name": "new", "color": "blue"}, "plain"],
    "body": "x" * 500,
}


def dropped(value: object, keep: list[str], **dumps: object) -> object:
    return json.loads(drop_fields(json.dumps(value, **dumps), keep))


def test_an_object_keeps_the_fields_named_in_their_order():
    assert dropped(ISSUE, ["title", "id"]) == {"id": ISSUE["id"], "title": ISSUE["title"]}
    assert list(dropped(ISSUE, ["title", "id"])) == ["id", "title"]


def test_a_list_is_gone_through_item_by_item():
    assert dropped([ISSUE, {"other": 1}, 7, None], ["id"]) == [{"id": ISSUE["id"]}, {}, 7, None]


def test_paths_reach_into_objects_and_lists():
    assert dropped(ISSUE, ["user.team.name", "labels.name"]) == {
        "user": {"team": {"name": "core"}},
        "labels": [{"name": "bug"}, {"name": "new"}, "plain"],
    }
    assert dropped({"items": [ISSUE]}, ["items.id"]) == {"items": [{"id": ISSUE["id"]}]}


def test_a_whole_field_wins_over_a_path_into_it_and_a_path_into_a_plain_value_finds_nothing():
    assert dropped(ISSUE, ["user.name", "user"]) == {"user": ISSUE["user"]}
    assert dropped(ISSUE, ["title.name", "id"]) == {"id": ISSUE["id"]}


def test_a_dotted_name_may_be_a_name():
    assert dropped({"a.b": 1, "a": {"b": 2, "c": 3}}, ["a.b"]) == {"a.b": 1, "a": {"b": 2}}


def test_values_stand_as_they_stood():
    text = '{"n": 1.10, "big": 123456789012345678901234567890, "e": 1E5, "s": "\\u00e9\\/", "x": [ 1, 2 ], "drop": 0}'
    kept = drop_fields(text, ["n", "big", "e", "s", "x"])
    assert kept == '{"n":1.10,"big":123456789012345678901234567890,"e":1E5,"s":"\\u00e9\\/","x":[ 1, 2 ]}'


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "7",
        '"id"',
        "null",
        '{"id": 1',
        '{"id": 1} trailing',
        "{'id': 1}",
        '{"id": NaN}',
        '\ud83d{"id": 1}',
        "[" * 5000,
    ],
)
def test_what_is_no_object_or_list_in_json_comes_back_as_it_is(text):
    assert drop_fields(text, ["id"]) is text


def test_no_fields_asked_for_drops_none():
    text = json.dumps(ISSUE)
    assert drop_fields(text, ()) is text


@pytest.mark.parametrize("keep", ["id", ["id", ""]])
def test_bad_field_lists_are_refused(keep):
    with pytest.raises(InputError, match="keep_fields"):
        drop_fields("{}", keep)


NAMES = st.sampled_from(["id", "user", "name", "a.b", "é", "", "\u2028"])
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=5),
    max_leaves=20,
)


def expected(value: object, keep: list[str]) -> object:
    """The plain definition, on parsed values."""
    if isinstance(value, list):
        return [expected(item, keep) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {}
    for name, inner in value.items():
        below = [path[len(name) + 1 :] for path in keep if path.startswith(name + ".") and path != name + "."]
        if name in keep:
            kept[name] = inner
        elif below and isinstance(inner, dict | list):
            kept[name] = expected(inner, below)
    return kept


@settings(max_examples=120, deadline=None)
@given(
    value=JSON,
    keep=st.lists(
        st.sampled_from(["id", "user", "user.name", "user.user.id", "a.b", "é", "name.a.b"]), min_size=1, max_size=4
    ),
    ascii_only=st.booleans(),
    indent=st.sampled_from([None, 2]),
)
def test_always_json_never_longer_and_only_what_was_asked_for(value, keep, ascii_only, indent):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    kept = drop_fields(text, keep)
    assert len(kept) <= len(text)
    assert json.loads(kept) == expected(value, keep)
