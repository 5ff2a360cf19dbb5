"""The tasks of `make_model_runs.py`: four claims about what a model does next, in two arms that differ in one text.

A task is a short conversation that ends where the model is to go on. Both arms have the same task; they differ in the
observation alone. Nothing runs: whatever the model writes next is the result, and `outcome` sorts it by rule.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.compaction.placeholder import placeholder
from agentlab.messages import Reply, ToolCall, ToolChoice
from agentlab.observe import observe
from agentlab.tools import Tool, toolbox
from agentlab.truncate.marker import first_line

if TYPE_CHECKING:
    from agentlab.messages import Message

SYSTEM = "You are an assistant that works with tools."
SEED = "model runs"
TASKS = 20
ARMS = ("with", "without")


class Task(msgspec.Struct, frozen=True):
    """One task of a claim.

    Attributes:
        claim: Name of the claim, a key of `CLAIMS`.
        number: From 1.
        question: What the user asked last.
        before: The messages up to the observation; it has a tool message whose content is None.
        observations: The text of the observation in each arm.
        tools: What the model may call.
        expected: What the rule needs to know: a path, a name, an id.
    """

    claim: str
    number: int
    question: str
    before: list[dict[str, Any]]
    observations: dict[str, str]
    tools: list[Tool]
    expected: dict[str, str]

    def messages(self, arm: str) -> list[Message]:
        """The conversation in one arm."""
        text = {"content": self.observations[arm]}
        return [m | text if m["content"] is None else m for m in self.before]  # type: ignore[misc]  # plain dicts


class Claim(msgspec.Struct, frozen=True):
    """A claim, and how its replies are sorted.

    Attributes:
        sentence: What is claimed.
        differs: What one arm has and the other has not.
        counted: The outcomes that the claim says are more frequent in the arm `with`.
        rule: The outcome of a reply, in words.
        tasks: Makes the tasks.
        outcome: The outcome of a reply to a task.
        any_name: The model may name tools that do not exist.
        tool_choice: "any" where the reply has to be a call.
    """

    sentence: str
    differs: str
    counted: tuple[str, ...]
    rule: str
    tasks: Callable[[int], Iterator[Task]]
    outcome: Callable[[Task, Reply], str]
    any_name: bool = False
    tool_choice: ToolChoice = "auto"


def make_tool(name: str, description: str, /, **arguments: str) -> Tool:
    """A tool that is never run; its arguments are all required."""
    properties = {each: {"type": kind} for each, kind in arguments.items()}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return Tool(name, description, schema, lambda **_: "")


READ_LINES = make_tool("read_lines", "Read lines of a file.", path="string", start="integer", end="integer")
READ_RESULT = make_tool("read_result", "Read a stored result again, by its id.", id="string")


def asked(text: str) -> dict[str, Any]:
    """A message of the user."""
    return {"role": "user", "content": text}


def said(text: str) -> dict[str, Any]:
    """A final reply of the assistant."""
    return {"role": "assistant", "content": text}


def called(name: str, content: str | None, /, **arguments: Any) -> list[dict[str, Any]]:
    """A call and its observation; None where the arms differ."""
    function = {"name": name, "arguments": msgspec.json.encode(arguments).decode()}
    call = {"id": "call_1", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "name": name, "content": content},
    ]


def arguments_of(call: ToolCall) -> dict[str, Any]:
    """The arguments of a call; empty where they could not be read."""
    return call.arguments if isinstance(call.arguments, dict) else {}


# Lists of things with numbers: what the files of the first and the last claim hold.

KINDS = {
    "fruit": "apple banana cherry fig grape kiwi lemon mango orange peach pear plum",
    "tools": "axe chisel clamp drill file hammer knife pliers plane saw spade wrench",
    "birds": "crow dove duck eagle gull hawk heron lark owl raven robin swan",
    "metals": "brass bronze chrome copper gold iron lead nickel silver tin titanium zinc",
}


def listing(draw: Random, number: int) -> tuple[str, list[str], list[int]]:
    """A file of 12 lines: its path, the names in it and their numbers."""
    kind = list(KINDS)[number % len(KINDS)]
    names = KINDS[kind].split()
    return f"{kind}{number}.txt", names, draw.sample(range(10, 100), len(names))


# 1. The marker of a cut.

PARTS = re.compile(
    r"truncat|omit|missing|not shown|not (?:in|part of|visible)|incomplete|partial|rest of|only (?:the|part|some)"
    r"|more lines|not (?:found|listed|available|included|present|mentioned)|no (?:information|number|entry)"
    r"|(?:does|do|is|are)(?: not|n't) (?:have|contain|list|include|mention|show|provide|specif)"
    r"|cannot|can't|unable",
    re.IGNORECASE,
)


def marker_tasks(count: int) -> Iterator[Task]:
    """A file of 12 lines, four of them cut out of its middle; the question needs these, or asks whether it is whole."""
    draw = Random(f"{SEED} marker")
    for number in range(1, count + 1):
        path, names, numbers = listing(draw, number)
        gap = draw.randrange(4, 8)
        largest = numbers.index(max(numbers))
        numbers[largest], numbers[gap] = numbers[gap], numbers[largest]
        lines = [f"{name}: {value}" for name, value in zip(names, numbers, strict=True)]
        head, middle, tail = ("\n".join(lines[start : start + 4]) for start in (0, 4, 8))
        question = (
            f"Read {path}. Which number has {names[gap]}?",
            f"Read {path}. How many lines has it?",
            f"Read {path}. Which name has the largest number?",
            f"Read {path}. Was that the whole file? Answer yes or no.",
        )[(number - 1) // len(KINDS) % 4]
        marker = first_line(len(middle) + 2, "middle")
        yield Task(
            "marker",
            number,
            question,
            [asked(question), *called("read_lines", None, path=path, start=1, end=12)],
            {"with": f"{head}\n\n{marker}\n\n{tail}", "without": f"{head}\n{tail}"},
            [READ_LINES],
            {"path": path, "kind": "yes or no" if "yes or no" in question else "needs the middle"},
        )


def marker_outcome(task: Task, reply: Reply) -> str:
    """`asks`, `other call`, `says` or `whole`."""
    if reply.tool_calls:
        return "asks" if arguments_of(reply.tool_calls[0]).get("path") == task.expected["path"] else "other call"
    if task.expected["kind"] == "yes or no":
        return "says" if re.match(r"\W*no\b", reply.text, re.IGNORECASE) else "whole"
    return "says" if PARTS.search(reply.text) else "whole"


# 2. The prefix of an error.

FAILED = re.compile(
    r"error|fail|could not|couldn't|cannot|can't|unable|(?:was|were|is|are|has|have|did|does|do)(?: not|n't)"
    r"|sorry|problem|issue|unfortunately|already|denied|refused|reject|invalid|try again|retry|full|locked|busy"
    r"|timed out|time ?out|offline|conflict|read-only|closed|limit",
    re.IGNORECASE,
)

ACTIONS: tuple[tuple[str, str, dict[str, str], str, tuple[str, ...]], ...] = (
    (
        "save_note",
        "Save a note.",
        {"name": "string", "text": "string"},
        "Save the note {thing} with the text: call Anna.",
        ("'{thing}'", "100 of 100", "notes/{thing}", "0 bytes"),
    ),
    (
        "send_mail",
        "Send a mail.",
        {"to": "string", "text": "string"},
        "Send a mail to {thing}: the meeting is at ten.",
        ("'{thing}'", "mail.example.com", "30 s", "50 of 50"),
    ),
    (
        "copy_file",
        "Copy a file.",
        {"source": "string", "target": "string"},
        "Copy {thing}.txt to backup/{thing}.txt.",
        ("backup", "'{thing}.txt'", "0 bytes", "backup/{thing}.txt"),
    ),
    (
        "add_event",
        "Add an event to the calendar.",
        {"day": "string", "title": "string"},
        "Add the event {thing} on Monday.",
        ("'Monday'", "calendar", "30 s", "'{thing}'"),
    ),
    (
        "set_alarm",
        "Set an alarm.",
        {"time": "string", "title": "string"},
        "Set an alarm at 7:30 with the title {thing}.",
        ("7:30", "10 of 10", "'{thing}'", "clock"),
    ),
)
THINGS = ("berlin", "cello", "delta", "ernie", "forest", "garden", "harbour", "island")


def prefix_tasks(count: int) -> Iterator[Task]:
    """An action whose tool failed; its observation is `str(error)`, which often names a thing and no more."""
    tools = [make_tool(name, description, **arguments) for name, description, arguments, _, _ in ACTIONS]
    for number in range(1, count + 1):
        name, _, arguments, wish, errors = ACTIONS[number % len(ACTIONS)]
        thing = THINGS[(number + number // len(THINGS)) % len(THINGS)]
        question = wish.format(thing=thing)
        text = errors[number // len(ACTIONS) % len(errors)].format(thing=thing)
        before = [asked(question), *called(name, None, **dict.fromkeys(arguments, thing))]
        yield Task("prefix", number, question, before, {"with": f"Error: {text}", "without": text}, tools, {})


def bare(text: str) -> str:
    """A text without case, quotes and full stops, for comparing."""
    return text.strip(" '\"`.\n").casefold()


def prefix_outcome(task: Task, reply: Reply) -> str:
    """`again`, `echoes`, `failed` or `done`."""
    if reply.tool_calls:
        return "again"
    if bare(reply.text) in map(bare, task.observations.values()):
        return "echoes"
    return "failed" if FAILED.search(reply.text) else "done"


# 3. Did you mean.

BOX: tuple[tuple[str, str, dict[str, str], str, dict[str, Any]], ...] = (
    ("wordcount", "Count the words of a text.", {"text": "string"}, "How many words has: a b c?", {"text": "a b c"}),
    ("list_dir", "List a folder.", {"path": "string"}, "What is in the folder src?", {"path": "src"}),
    ("read_file", "Read a file.", {"path": "string"}, "What does todo.md say?", {"path": "todo.md"}),
    ("get_weather", "Weather of a city.", {"city": "string"}, "How is the weather in Oslo?", {"city": "Oslo"}),
    ("translate", "Translate into French.", {"text": "string"}, "What is bread in French?", {"text": "bread"}),
    ("find_text", "Find a text in files.", {"text": "string"}, "Which file mentions Anna?", {"text": "Anna"}),
    ("add_numbers", "Add two numbers.", {"a": "number", "b": "number"}, "What is 391 plus 288?", {"a": 391, "b": 288}),
    ("exchange_rate", "Rate of a currency.", {"currency": "string"}, "What is a yen worth?", {"currency": "yen"}),
)


def misspelt(name: str, draw: Random) -> str:
    """A name with one letter left out, doubled or changed for its neighbour, or without its underscore."""
    at = draw.randrange(1, len(name) - 1)
    return draw.choice(
        [
            name[:at] + name[at + 1 :],
            name[:at] + name[at] + name[at:],
            name[:at] + name[at + 1] + name[at] + name[at + 2 :],
            name.replace("_", "", 1) if "_" in name else f"{name}s",
            "".join(part.capitalize() for part in name.split("_")),
        ]
    )


def hint_tasks(count: int) -> Iterator[Task]:
    """A call of a tool whose name is nearly right."""
    draw = Random(f"{SEED} hint")
    tools = [make_tool(name, description, **arguments) for name, description, arguments, _, _ in BOX]
    box = toolbox(tools)
    number, seen = 0, {name for name, *_ in BOX}
    while number < count:
        name, _, _, question, given = BOX[number % len(BOX)]
        wrong = misspelt(name, draw)
        text = observe(ToolCall("call_1", wrong, given), box).text
        hint = f" Did you mean '{name}'?"
        if wrong in seen or not text.endswith(hint):
            continue
        seen.add(wrong)
        number += 1
        yield Task(
            "hint",
            number,
            question,
            [asked(question), *called(wrong, None, **given)],
            {"with": text, "without": text.removesuffix(hint)},
            tools,
            {"name": name, "wrong": wrong},
        )


def hint_outcome(task: Task, reply: Reply) -> str:
    """`repairs`, `repeats`, `other call` or `answers`."""
    if not reply.tool_calls:
        return "answers"
    name = reply.tool_calls[0].name
    return {task.expected["name"]: "repairs", task.expected["wrong"]: "repeats"}.get(name, "other call")


# 4. The placeholder of a cleared result.

GONE = re.compile(
    r"not shown|no longer|cleared|removed|not (?:available|visible|in)|(?:do|does|did)(?: not|n't)|cannot|can't|unable"
    r"|sorry|need to|again",
    re.IGNORECASE,
)


def placeholder_tasks(count: int) -> Iterator[Task]:
    """A file that was read and then taken out of the conversation, and a question about a line of it."""
    draw = Random(f"{SEED} placeholder")
    for number in range(1, count + 1):
        path, names, numbers = listing(draw, number)
        full = "\n".join(f"{name}: {value}" for name, value in zip(names, numbers, strict=True))
        key = f"{draw.getrandbits(48):012x}"
        one = draw.randrange(len(names))
        question = (f"Which number has {names[one]} in it?", f"And what is the number of {names[one]}?")[number % 2]
        message: Any = {"role": "tool", "tool_call_id": "call_1", "name": "read_lines", "content": full}
        text = placeholder(message, key)
        back = f' read_result("{key}") returns it.]'
        yield Task(
            "placeholder",
            number,
            question,
            [
                asked(f"Read {path}."),
                *called("read_lines", None, path=path, start=1, end=12),
                said(f"I have read {path}: a list of {len(names)} names, each with a number."),
                asked(question),
            ],
            {"with": text, "without": text.removesuffix(back) + "]"},
            [READ_LINES, READ_RESULT],
            {"path": path, "key": key, "answer": str(numbers[one])},
        )


def placeholder_outcome(task: Task, reply: Reply) -> str:
    """`reads back`, `reads again`, `wrong id`, `other call`, `says` or `invents`."""
    if reply.tool_calls:
        call = reply.tool_calls[0]
        given = arguments_of(call)
        if call.name == "read_result":
            return "reads back" if given.get("id") == task.expected["key"] else "wrong id"
        again = call.name == "read_lines" and given.get("path") == task.expected["path"]
        return "reads again" if again else "other call"
    return "says" if GONE.search(reply.text) else "invents"


CLAIMS: dict[str, Claim] = {
    "marker": Claim(
        "A marker in a cut text keeps a model from taking the part for the whole.",
        "the line that says how many characters were omitted from the middle",
        ("asks", "says"),
        "A call for the same file asks for the rest; an answer with a word of something missing, or no where it was "
        "asked whether that is all, says so; any other answer takes the part for the whole.",
        marker_tasks,
        marker_outcome,
    ),
    "prefix": Claim(
        "`Error: ` before a failure keeps a model from taking the step as done.",
        "the seven characters `Error: `",
        ("failed", "again"),
        "Another call tries again; an answer that is the observation and nothing else echoes it, and shows nothing; "
        "one with a word of failure reports it; any other answer takes it as done.",
        prefix_tasks,
        prefix_outcome,
    ),
    "hint": Claim(
        '"Did you mean" makes a model repair the name of a tool.',
        "the sentence `Did you mean 'NAME'?`",
        ("repairs",),
        "The reply has to be a call, of any name. The tool that was meant repairs it; the same wrong name repeats it; "
        "any other name is another call.",
        hint_tasks,
        hint_outcome,
        any_name=True,
        tool_choice="any",
    ),
    "placeholder": Claim(
        "A placeholder that says how to get a cleared result back makes a model get it.",
        'the sentence `read_result("ID") returns it.`',
        ("reads back", "reads again"),
        "`read_result` with the right id reads it back, with any other it has a wrong id; a call for the same file "
        "reads it again; an answer with a word of something gone says so; any other answer invents.",
        placeholder_tasks,
        placeholder_outcome,
    ),
}
