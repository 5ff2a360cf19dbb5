"""Tasks against which the planner was written; `test_offline_heldout` has those that were kept aside."""

from __future__ import annotations

import pytest
from test_offline_bench import FILES, World, session, spec

WEATHER = spec("weather", "Weather of a city.", lambda city: f"12 degrees in {city}", ("city",), city="string")
TASKS = {}


def task(function):
    TASKS[function.__name__] = function
    return function


@task
def the_time_with_continuation():
    world = World()
    replies = session(world, ["What time is it?", "how long has it been since I asked?"])
    return "2026-05-13T15:40:22Z" in replies[0] and "41 seconds" in replies[1] and len(world.calls) == 2


@task
def list_the_files():
    replies = session(World(), ["List the files here."])
    return all(name in replies[0] for name in ("server.py", "notes/"))


@task
def read_and_say_what_for():
    world = World()
    replies = session(world, ["Read server.py and tell me what it is for.", "Which classes does it define?"])
    return "Serve files over a socket" in replies[0] and "Server, Handler" in replies[1]


@task
def find_a_definition():
    replies = session(World(), ["Find where 'def handle' is defined."])
    return "server.py:16" in replies[0]


@task
def compare_with_what_was_read_before():
    world = World()
    replies = session(world, ["Open server.py", "Compare server.py with client.py: which is longer?"])
    return "server.py is longer" in replies[1] and [c[1].get("path") for c in world.calls] == ["server.py", "client.py"]


@task
def words_of_a_file():
    world = World()
    replies = session(world, ["How many words are in zen.txt?"])
    return "10 words" in replies[0] and world.calls[-1] == ("wordcount", {"text": FILES["zen.txt"]})


@task
def the_end_that_was_cut():
    replies = session(World(cut="end"), ["What is at the end of big.log?"])
    return "entry 120" in replies[0]


@task
def weather_of_several_cities():
    world = World()
    replies = session(world, ["What is the weather in Oslo and in Lima?"], world.tools(WEATHER))
    return world.batches == [2] and "12 degrees in Oslo" in replies[0] and "12 degrees in Lima" in replies[0]


@task
def a_sum_of_three():
    world = World()
    add = spec("add", "Add two numbers.", lambda a, b: str(a + b), ("a", "b"), a="number", b="number")
    replies = session(world, ["Add 3, 4 and 5"], world.tools(add))
    return "12" in replies[0] and len(world.calls) == 2


@task
def which_was_largest():
    world = World()
    prompts = ["Read zen.txt", "Read big.log", "Read client.py", "Which of the files that you read was largest?"]
    return session(world, prompts)[-1].startswith("big.log is the largest") and len(world.calls) == 3


@task
def how_many_lines_mention():
    return "119 lines" in session(World(), ["How many lines in big.log mention 'all is well'?"])[0]


@task
def the_rest_of_it():
    world = World()
    session(world, ["Read big.log", "Show me the missing part"])
    return world.calls[1][0] == "read_result" and world.calls[1][1]["start"] > 0


@task
def a_wrong_folder():
    replies = session(World(), ["Open note/todo.txt"])
    return "plumber" in replies[0] or "could not" in replies[0]


@task
def what_it_can_do():
    world = World()
    replies = session(world, ["What can you do?"])
    return "read files" in replies[0] and "rule-based, not an LLM" in replies[0] and not world.calls


@pytest.mark.parametrize("name", TASKS)
def test_task(name):
    assert TASKS[name]()
