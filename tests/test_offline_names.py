"""The offline model and file names with brackets in them."""

from __future__ import annotations

import pytest

from agentlab.builtin_tools import workspace_tools
from agentlab.loop import agent_step
from agentlab.providers.offline import OfflineModel

ODD = ["[red]x.txt", "(1) a.txt", "my (2) b.txt", "report(1).txt", "app/[slug]/page.tsx", "plain.txt"]


@pytest.fixture
def odd_folder(tmp_path):
    for name in ODD:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"hey from {name}\n")
    return tmp_path


def said_of(folder, *prompts):
    messages = []
    return [
        agent_step(prompt, messages, OfflineModel(counter="characters/4"), "", tools=workspace_tools(folder))
        for prompt in prompts
    ]


def test_names_with_brackets_are_listed(odd_folder):
    listed, inside = said_of(odd_folder, "List the files here.", "List the files in app")
    for name in ("(1) a.txt", "[red]x.txt", "app/", "my (2) b.txt", "plain.txt", "report(1).txt"):
        assert name in listed
    assert "[slug]/" in inside
    assert "is empty" not in listed + inside


def test_an_empty_folder_is_still_empty(tmp_path):
    assert "is empty" in said_of(tmp_path, "List the files here.")[0]


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("read [red]x.txt", "[red]x.txt"),
        ("Please read [red]x.txt.", "[red]x.txt"),
        ("read report(1).txt", "report(1).txt"),
        ("read app/[slug]/page.tsx", "app/[slug]/page.tsx"),
        ("read the text (plain.txt)", "plain.txt"),
        ("read [plain.txt].", "plain.txt"),
    ],
)
def test_names_with_brackets_are_read_and_brackets_around_a_name_are_not(odd_folder, prompt, name):
    assert f"hey from {name}" in said_of(odd_folder, prompt)[0]


def test_a_quoted_name_with_brackets_and_spaces_is_read_once_it_was_listed(odd_folder):
    assert "hey from my (2) b.txt" in said_of(odd_folder, "List the files here.", "Read 'my (2) b.txt'")[1]
