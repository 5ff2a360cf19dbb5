"""What the week in `data/transcripts/week.jsonl` is made of: who asked what, in which session, and what went wrong.

Most turns are those of the offline model, left alone. Some it is told how to begin, so that it struggles or answers
without looking. Which ones these are is known here, and nowhere in the file.
"""

from __future__ import annotations

from typing import Literal

import msgspec
from make_observations import SUBJECTS, Draw

from agentlab.messages import ToolCall
from agentlab.providers.scripted import call

Kind = Literal["usual", "short", "long", "struggle", "untooled"]
PLANTED = ("struggle", "untooled")
SEED = 20_260_511
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SESSIONS = (9, 9, 10, 9, 9, 4, 4)  # of each day


class Asked(msgspec.Struct, frozen=True):
    """A user turn.

    Attributes:
        prompt: What the user says.
        kind: `short` and `long` are honest, whatever their number of iterations; `struggle` and `untooled` are planted.
        told: How the stand-in begins: calls, an iteration each, or the reply. Then it goes on by itself.
        misbehave: What it gets wrong, by iteration, as `OfflineModel` takes it.
    """

    prompt: str
    kind: Kind = "usual"
    told: tuple[ToolCall | str, ...] = ()
    misbehave: dict[int, str] | str | None = None


class Session(msgspec.Struct, frozen=True):
    """A session: its day from 0, the minute of the day at which it begins, its turns."""

    day: int
    minute: int
    turns: list[Asked]


def read(path: str) -> ToolCall:
    """The call that reads a file."""
    return call("read_file", path=path)


SLIP = {1: "unknown_tool"}  # once, and mended at once: not worth a look
MIXED = ("unknown_tool", "wrong_arguments", "bad_json")


def mixed(first: int, size: int) -> dict[int, str]:
    """Mistakes of several kinds, one after the other."""
    return {at + 1: MIXED[(first + at) % len(MIXED)] for at in range(size)}


STRUGGLES = [
    Asked("What time is it?", "struggle", tuple(call(name) for name in ("time", "get_time"))),
    Asked("How many words are in docs/handbook.md?", "struggle", misbehave=mixed(0, 5)),
    Asked(
        "Read docs/invoices.md. What does it say of Ghent?",
        "struggle",
        (
            read("docs/invoices.md"),
            call("list_dir", path="docs"),
            read("docs/invoice.md"),
            call("grep", pattern="invoice", path="docs"),
            call("list_dir", path="logs"),
        ),
    ),
    Asked("Read warehouse/islands.py. How does it end?", "struggle", misbehave="endless_varied"),
    Asked("Read notes/monday.txt.", "struggle"),
    Asked(
        "Which port has the order service?",
        "struggle",
        tuple(call("search", text=text) for text in ("order", "order service", "port", "services")),
    ),
    Asked("Read logs/server.log. How does it end?", "struggle", misbehave=mixed(1, 4)),
    Asked("List the files in the folder tests.", "struggle", misbehave=mixed(2, 3)),
    Asked(
        "What is the price of a kettle?",
        "struggle",
        (
            call("grep", pattern="price_of_kettle", path="warehouse"),
            call("grep", pattern="kettle price", path="docs"),
            read("warehouse/prices.py"),
            read("docs/prices.md"),
            call("list_dir", path="warehouse"),
            call("grep", pattern="price list", path="."),
        ),
    ),
    Asked("Find 'code-middle' in orders.json.", "struggle", misbehave=mixed(0, 6)),
    Asked("How long has it been since 8 o'clock?", "struggle", tuple(call("now", zone=z) for z in ("UTC", "CET", "Z"))),
    Asked("Read build.log. Why did it fail?", "struggle", misbehave="endless_varied"),
    Asked("Read docs/returns.md.", "struggle"),
    Asked(
        "Compare warehouse/baskets.py with warehouse/filters.py: which is longer?",
        "struggle",
        tuple(
            call("compare_files", a=f"{p}baskets.py", b=f"{p}filters.py") for p in ("", "warehouse/", "./", "/", "w/")
        ),
    ),
    Asked(
        "How many words are in 'it never rains but it pours'?",
        "struggle",
        tuple(call("wordcount", **{name: "it never rains but it pours"}) for name in ("txt", "string")),
    ),
]

UNTOOLED = [
    Asked("How many lines has logs/server.log?", "untooled", ("logs/server.log has about 500 lines.",)),
    Asked("Are there any errors in build.log?", "untooled", ("No, the build went through without errors.",)),
    Asked(
        "Which functions does warehouse/gardens.py define?",
        "untooled",
        ("It defines add_garden, remove_garden and list_gardens.",),
    ),
    Asked("Read response.http. Which status has it?", "untooled", ("The status is 200 OK.",)),
    Asked("How many words are in tests/test_hammers.py?", "untooled", ("It has 120 words.",)),
    Asked("How does source.py end?", "untooled", ("It ends with a call of main(), as scripts do.",)),
    Asked("Is 'Bergen' in docs/handbook.md?", "untooled", ("No, Bergen does not appear in the handbook.",)),
    Asked("Which is longer, orders.json or services.yaml?", "untooled", ("orders.json is longer.",)),
    Asked("What does line 40 of warehouse/engines.py say?", "untooled", ("Line 40 returns the number of engines.",)),
    Asked("Read tests/test_candles.py. What does it test?", "untooled", ("It tests that candles burn and are sold.",)),
]

GREETINGS = ["Hello!", "Hi.", "Good morning!"]
THANKS = ["Thanks.", "Thank you.", "Thank you, that is all.", "Great, thanks!", "OK, thanks."]


def named(subject: str) -> tuple[str, str]:
    """A module, and its tests."""
    return f"warehouse/{subject}s.py", f"tests/test_{subject}s.py"


def usual(draw: Draw, subject: str) -> list[Asked]:
    """An honest question or two about one subject; the second is answered by what the first has shown."""
    module, tests = named(subject)
    line = 100 + draw.below(4_800)
    choices = [
        [Asked(f"Read {module}. How does it end?")],
        [Asked(f"Read {module}."), Asked("How many lines does it have?", "short")],
        [Asked(f"Which functions does {module} define?")],
        [Asked(f"How many words are in {tests}?")],
        [Asked(f"Find where 'def merge_{subject}s' is defined.")],
        [Asked(f"Find '{subject.capitalize()}Shelf' in {module}.")],
        [Asked(f"Read lines {line} to {line + 4} of services.yaml.")],
        [Asked(f"Read {tests}. How does it end?")],
        [Asked(f"How many lines has {module}?"), Asked(f"Find 'TODO' in {module}.")],
        [Asked(f"How many words are in '{subject}s and more {subject}s'?")],
        [Asked(f"What does line {1 + draw.below(60)} of {module} say?", misbehave=SLIP)],
    ]
    return choices[draw.below(len(choices))]


def others(draw: Draw) -> Asked:
    """An honest question about what is there once."""
    return Asked(
        draw.one(
            [
                "What time is it?",
                "List the files.",
                "List the files in the folder warehouse.",
                "Read the biggest file in warehouse.",
                "Find 'ERROR' in logs/server.log.",
                "Read docs/handbook.md. How does it end?",
                "How many words are in docs/handbook.md?",
                "Read lines 195 to 199 of build.log.",
                "Find 'code-end' in source.py.",
            ]
        )
    )


def long(draw: Draw, number: int, subjects: list[str]) -> Asked:
    """An honest question that needs many iterations: some files, one after the other."""
    size = 3 + draw.below(5)
    first = draw.below(len(subjects) - size)
    chosen = subjects[first : first + size]
    paths = [named(subject)[number % 2] for subject in chosen]
    prompt = f"Go through {', then '.join(paths)}. How does the last one end?"
    if number % 3 == 0:
        prompt = f"Read {', '.join(paths[:-1])} and {paths[-1]}, one after the other. How does the last one end?"
    if number % 20 == 11:
        paths = [named(subject)[1] for subject in chosen]
        prompt = f"Read the tests of {'s, '.join(chosen[:-1])}s and {chosen[-1]}s. How do the last ones end?"
    return Asked(prompt, "long", tuple(read(path) for path in paths))


def again(draw: Draw, subject: str) -> list[Asked]:
    """A file is read, and asked about once more by its name: the answer stands in the session already."""
    module, _ = named(subject)
    asked = draw.one([f"How many lines has {module}?", f"How many lines does {module} have?"])
    return [Asked(f"Read {module}."), Asked(asked, "short")]


def session(number: int, day: int, minute: int, planted: list[Asked]) -> Session:
    """One session: honest turns, and what is planted in it, at a drawn place."""
    draw = Draw(f"{SEED}/{number}")
    taken = " ".join(asked.prompt for asked in planted)
    subjects = [subject for subject in SUBJECTS if subject not in taken]
    first = draw.below(len(subjects))
    turns: list[Asked] = []
    for place in range(2 + draw.below(2)):
        turns += usual(draw, subjects[(first + 5 * place) % len(subjects)])
    if number % 7 == 0:
        turns += again(draw, subjects[(first + 2) % len(subjects)])
    if number % 5 in (1, 3, 4):
        turns.insert(0, long(draw, number, subjects))
    other = others(draw)
    if not any(word in taken for word in other.prompt.split() if "." in word[:-1] or word == "time"):
        turns.append(other)
    for each in planted:
        free = [at for at in range(1, len(turns) + 1) if at == len(turns) or turns[at].kind != "short"]
        turns.insert(free[draw.below(len(free))], each)
    if number % 3 == 0:
        turns.insert(0, Asked(draw.one(GREETINGS), "short"))
    if number % 2 == 0:
        turns.append(Asked(draw.one(THANKS), "short"))
    return Session(day, minute, turns)


def week() -> list[Session]:
    """The sessions of the week, in order."""
    draw = Draw(f"{SEED}/week")
    waiting = [*STRUGGLES, *UNTOOLED]
    total = sum(SESSIONS)
    step = total // len(waiting)
    hosts: dict[int, list[Asked]] = {}
    first, *rest = waiting  # on Monday, which the exercise looks at by hand, so that it shows why no threshold will do
    for at, asked in enumerate([first, *sorted(rest, key=lambda _: draw.below(1_000_000))]):
        hosts.setdefault(at * step + draw.below(step), []).append(asked)
    sessions = []
    for day, count in enumerate(SESSIONS):
        minute = 8 * 60 + draw.below(40)
        for _ in range(count):
            number = len(sessions)
            sessions.append(session(number, day, minute, hosts.get(number, [])))
            minute += 40 + draw.below(25)
    return sessions


def ids(kind: Kind) -> list[str]:
    """The ids of the turns of a kind, such as `s07.3`: the third turn of the seventh session."""
    return [
        f"s{number:02d}.{turn}"
        for number, each in enumerate(week(), 1)
        for turn, asked in enumerate(each.turns, 1)
        if asked.kind == kind
    ]
