"""Questions of a newcomer over a small folder, in the package's own loop and tools.

`TASKS` are those against which the rules were written; `test_offline_newcomer_heldout` has the others.
"""

from __future__ import annotations

import json
import re

import pytest

from agentlab.builtin_tools import make_now, wordcount, workspace_tools
from agentlab.builtin_tools.results import read_result_tool
from agentlab.conversation import Conversation
from agentlab.loop import run_turn
from agentlab.policy import CHAPTER, Limit
from agentlab.providers.offline import OfflineModel
from agentlab.store import Store
from agentlab.tools import tool

SHOP = '''"""A small shop: prices in a basket, and what they cost with tax."""

import json

TAX_RATE = 0.19


class Basket:
    """Holds prices."""

    def __init__(self):
        self.prices = []

    def add(self, price):
        self.prices.append(price)

    def total(self):  # TODO: round
        return sum(self.prices) * (1 + TAX_RATE)


def load(path):
    """Read a basket."""
    return json.load(open(path))


def main():
    print(load("basket.json"))
'''
LOG = "".join(
    f"2026-03-01T08:{i // 60:02d}:{i % 60:02d}Z {'ERROR' if i in (7, 30) else 'INFO'} GET /item/{i} took "
    f"{900 if i == 41 else 20 + i % 7} ms{' timeout' if i in (7, 30) else ''}\n"
    for i in range(120)
)
FOLDER = {
    "shop.py": SHOP,
    "notes.txt": "Plan for the shop\n\nAsk Ben about the tax.\nTODO: call Ada\nBuy paper\nTax is due in May.\n",
    "README.md": "# The shop\n\nSells things.\n\n## Use\n\nRun shop.py.\n\n## Tests\n\nNone yet.\n",
    "config.json": '{"name": "shop", "server": {"port": 8040, "debug": false}, "todo": []}\n',
    "sub/server.log": LOG,
    "sub/tools/clean.py": "import os\n\nos.remove('x')\n",
    "pkg/a.py": "A = 1\n" * 3,
    "pkg/b.py": "B = 'a long line that makes this file larger in characters than the other one'\n",
    "pkg/data.csv": "a,b\n1,2\n",
    "pkg/__pycache__/a.pyc.txt": "tax tax\n" * 2_000,
    ".cache/old.txt": "tax " * 5_000,
}
STEP = 41
TASKS = {}


def task(function):
    TASKS[function.__name__] = function
    return function


class Chat:
    """A session over the folder; `calls` are those of the last turn."""

    def __init__(self, root, *extra, limit=4_000, step=STEP):
        for name, text in FOLDER.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        ticks = iter(range(1_778_686_822, 2_000_000_000, step))
        self.root, self.store, self.conversation = root, Store(), Conversation(system="Be brief.")
        now, pager = make_now(lambda: next(ticks)), read_result_tool(self.store)
        self.tools = [now, wordcount, *workspace_tools(root), pager, *extra]
        self.policy = type(CHAPTER)(default=Limit(limit, "characters", "middle_snip"))
        self.model = OfflineModel(counter="characters/4")
        self.calls = []

    def ask(self, *prompts):
        """The reply to the last of some prompts."""
        for prompt in prompts:
            begun = len(self.conversation.messages)
            reply = run_turn(
                self.conversation, prompt, self.model, tools=self.tools, store=self.store, policy=self.policy
            )
            assert (reply.status, reply.reason) == ("complete", "reply")
            made = [c["function"] for m in self.conversation.messages[begun:] for c in m.get("tool_calls", ())]
            self.calls = [(f["name"], json.loads(f["arguments"])) for f in made]
        return reply.text


def begins(text, word):
    return re.match(rf"{word}\b", text) is not None


@task
def since_i_asked_is_no_time_of_a_log(chat):
    reply = chat.ask("What time is it?", "Read sub/server.log", "How long has it been since I asked?")
    return "41 seconds" in reply and "2026-03-01" not in reply


@task
def a_log_alone_tells_no_time_of_asking(chat):
    reply = chat.ask("Read sub/server.log", "How long has it been since I asked?")
    return "cannot say" in reply and "2026-03-01" not in reply


@task
def pages_go_on_where_the_last_one_ended(chat):
    (chat.root / "sub" / "long.log").write_text("".join(f"entry {i:05d}\n" for i in range(1_200)))
    chat.ask("How many words are in sub/long.log?")
    spans = [(a["start"], a.get("end")) for name, a in chat.calls if name == "read_result"]
    return len(spans) > 1 and len({start for start, _ in spans}) == len(spans)


@task
def biggest_looks_below(chat):
    return chat.ask("List the files.", "Which file is the biggest?").startswith("sub/server.log")


@task
def read_the_biggest(chat):
    reply = chat.ask("Read the biggest file")
    return "sub/server.log" in reply and "GET /item/0 " in reply


@task
def python_files_of_a_folder(chat):
    return begins(chat.ask("How many Python files are in the folder pkg?"), "pkg has 2 Python files")


@task
def a_folder_is_no_file(chat):
    reply = chat.ask("How many files are in pkg?")
    return begins(reply, "pkg has 3 files") and "1 folder" in reply


@task
def any_errors(chat):
    reply = chat.ask("Are there any errors in sub/server.log?")
    return reply.startswith("Yes") and "2 lines" in reply and "/item/7 " in reply and chat.calls[0][0] == "grep"


@task
def lines_of_a_log_found_by_its_base_name(chat):
    reply = chat.ask("How many lines does server.log have?")
    return "sub/server.log" in reply and "120 lines" in reply


@task
def longer_by_what(chat):
    reply = chat.ask("Which is longer, pkg/a.py or pkg/b.py?")
    return "pkg/a.py is longer by lines" in reply and "pkg/b.py by characters" in reply


@task
def find_all_todos(chat):
    reply = chat.ask("Find all TODOs.")
    return "shop.py:17" in reply and "notes.txt:4" in reply and '"TODO"' in reply and "case ignored" in reply


@task
def quoted_text_is_exact(chat):
    reply = chat.ask("How many lines mention 'tax'?")
    return begins(reply, "2 lines") and "case ignored" not in reply


@task
def where_a_thing_in_words_is_defined(chat):
    reply = chat.ask("Where is the tax rate defined?")
    return "shop.py:5" in reply and "shop.py:19" not in reply


@task
def mentions_yes(chat):
    reply = chat.ask("Does notes.txt mention Ben?")
    return reply.startswith("Yes") and "Ask Ben about the tax." in reply


@task
def the_value_of_a_key(chat):
    return "8040" in chat.ask("What is the value of port in config.json?") and len(chat.calls) == 1


@task
def declines_to_write(chat):
    reply = chat.ask("Write a test for shop.py")
    return not chat.calls and len(reply) < 120 and "cannot" in reply


@task
def show_the_readme(chat):
    return "Sells things" in chat.ask("Show me the README")


@task
def methods_of_a_class(chat):
    reply = chat.ask("What methods does class Basket have?")
    return "3 methods" in reply and "__init__, add, total" in reply and "main" not in reply


@task
def methods_of_one_of_many_classes_in_a_long_file(chat):
    one = "class {0}:\n" + "".join(f"    def m{i}_of_{{0}}(self):\n        pass\n\n" for i in range(120))
    inner = "    def last(self):\n        def inside():\n            pass\n\n        class Local:\n            pass\n\n"
    text = one.format("A") + one.format("B") + inner + "def m():\n    pass\n" + one.format("C")
    (chat.root / "many.py").write_text(text)
    reply = chat.ask("What methods does class B have?")
    return (
        "121 methods" in reply
        and "m0_of_B" in reply
        and "last" in reply
        and "_of_A" not in reply
        and "inside" not in reply
    )


@task
def my_first_question(chat):
    return '"What time is it?"' in chat.ask("What time is it?", "Read notes.txt", "What was my first question?")


@task
def the_second_file_of_the_list(chat):
    chat.ask("List the files.", "Read the second file of the list")
    return chat.calls[-1:] == [("read_file", {"path": "config.json"})]


@task
def a_refusal_is_one_short_line(chat):
    reply = chat.ask("Who won the 1998 world cup?")
    return "\n" not in reply and len(reply) < 200 and reply.count("rule-based") == 1 and reply.count('"') == 6


@task
def a_summary_says_that_it_is_an_extract(chat):
    reply = chat.ask("Summarize notes.txt")
    return "xtract" in reply and "Plan for the shop" in reply and "Ask Ben" in reply and "6 lines" in reply


@task
def numbers_have_separators(chat):
    (chat.root / "long.txt").write_text("x\n" * 20_000)
    return "20,000 lines, 40,000 characters" in chat.ask("How long is long.txt?")


@tool
def divide(x: float, y: float = 1.0) -> str:
    """Divide x by y.

    Args:
        x: The number to divide.
        y: What to divide by.
    """
    return str(x / y)


@tool
def weather(city: str) -> str:
    """The weather in a city.

    Args:
        city: Name of the city.
    """
    return f"sunny in {city}"


@task
def divides_both_operands(chat):
    reply = chat.ask("Divide ten by 0")
    return chat.calls[-1:] == [("divide", {"x": 10, "y": 0})] and "ZeroDivisionError" in reply


@task
def asks_for_the_city(chat):
    return "city" in chat.ask("What is the weather?") and not chat.calls


@task
def takes_the_answer_to_what_it_asked(chat):
    return chat.ask("What is the weather?", "Oslo").endswith("sunny in Oslo")


@task
def does_not_take_another_question_for_the_answer(chat):
    return chat.ask("What is the weather?", "What time is it?").startswith("It is 2026-05-13T15:40:22Z")


@task
def no_clock_in_the_turn_that_is_spoken_of(chat):
    reply = chat.ask("What time is it?", "Are there errors in sub/server.log?", "How long since I asked about errors?")
    return "cannot say" in reply and "41 seconds" not in reply


@task
def counts_a_cut_search_without_paging(chat):
    (chat.root / "many.txt").write_text("a line with rain in it, and more of it\n" * 150)
    return begins(chat.ask("How many lines of many.txt mention rain?"), "150 lines") and len(chat.calls) == 1


@task
def says_at_least_where_the_search_stopped(chat):
    (chat.root / "many.txt").write_text("a line with rain in it, and more of it\n" * 450)
    reply = chat.ask("How many lines of many.txt mention rain?")
    return begins(reply, "At least 200 lines") and "  " not in reply and len(chat.calls) == 1


@task
def finds_a_file_below_in_one_call(chat):
    chat.ask("How many lines does clean.py have?")
    return [name for name, _ in chat.calls] == ["read_file", "grep", "read_file"]


@task
def a_path_that_lacks_its_first_folder(chat):
    return "sub/tools/clean.py" in chat.ask("Read tools/clean.py")


@task
def what_it_says_before_a_call_ends_the_line(chat):
    chat.ask("Read clean.py")
    said = [m["content"] for m in chat.conversation.messages if m.get("tool_calls") and m["content"]]
    return said != [] and all(text.endswith("\n") for text in said)


@task
def the_largest_after_a_list(chat):
    reply = chat.ask("List the files.", "Which is the largest?")
    return reply.startswith("sub/server.log is the largest")


@task
def a_list_in_a_folder_takes_one_call(chat):
    chat.ask("List the files in sub")
    return chat.calls == [("list_dir", {"path": "sub"})]


@task
def the_value_of_a_key_of_the_file_last_read(chat):
    return "8040" in chat.ask("Read config.json", "What is the port?") and not chat.calls


@task
def the_fastest(chat):
    return "/item/0 " in chat.ask("Which request was the fastest in sub/server.log?")


@task
def nothing_is_forgotten_by_and_the(chat):
    reply = chat.ask("Read shop.py", "How many lines does it have?", "What about config.json?")
    return reply == "config.json has 1 line, 71 characters."


@pytest.fixture
def chat(tmp_path):
    return Chat(tmp_path, divide, weather)


@pytest.mark.parametrize("name", TASKS)
def test_task(name, chat):
    assert TASKS[name](chat)
