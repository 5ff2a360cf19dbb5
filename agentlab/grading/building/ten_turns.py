"""Sessions of ten turns, drawn from a number: with even tool calls, and with the same results in bursts.

They are drawn so that a power law, however it is fitted, says the same of each of the even session's three curves.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import accumulate
from random import Random
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from agentlab.conversation import without_scratchpad
from agentlab.grading.building.probe import data
from agentlab.loop import agent_step
from agentlab.policy import Limit, Policy
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.tokens import count_messages, count_tools
from agentlab.tools import tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agentlab.tools import Tool

TURNS = 10
FILE = "source.py"
AT_ONCE, ONE_BY_ONE = 6, 4
"""How many of the ten pages each of the two bursts has."""

Way = Literal["read_lines", "fetch", "user", "assistant"]
"""How the six pages come in: by one of two tools, pasted by the user, or written by the model in its reply."""

SMALL_TALK = (
    ("Which language is it written in?", "In Python."),
    ("Does it need anything that is not in the standard library?", "No, nothing."),
    ("Who wrote it?", "The file does not say."),
    ("Is it tested?", "Not in this file."),
    ("Could it be shorter?", "Yes: most functions have the same shape."),
    ("Is there a main program?", "I have not seen one so far."),
    ("What does stock mean here?", "A dictionary from labels to amounts."),
    ("Good. Let us go on.", "Gladly."),
    ("Are the names clear?", "They are, once you have seen two of them."),
    ("Thank you.", "You are welcome."),
)


class TenTurns(msgspec.Struct, frozen=True):
    """A session to be run.

    Attributes:
        questions: What the user says, turn by turn.
        steps: What the model does, as `ScriptedModel` takes it.
        pages: First and last line of the ten pages that it reads.
    """

    questions: tuple[str, ...]
    steps: tuple[Any, ...]
    pages: tuple[tuple[int, int], ...]


@tool
def read_lines(path: str, start: int, end: int) -> str:
    """Return some lines of a text file as they stand in it, line breaks included, and nothing besides.

    Args:
        path: The file, as it is named in the folder of the project; no other folder can be read.
        start: Number of the first line to return. Lines are counted from 1.
        end: Number of the last line to return, which is returned as well.
    """
    return page_text(path, start, end)


@tool
def fetch(url: str) -> str:
    """Fetch a page of the archive, in which older versions of all files can be found, and return its text.

    Args:
        url: Address of the page with a file and its lines, such as https://archive.example/a.py#L1-L40.
    """
    path, start, end = re.fullmatch(r".*/(.*)#L(\d+)-L(\d+)", url).groups()  # type: ignore[union-attr]
    return page_text(path, int(start), int(end))


def page_text(path: str, start: int, end: int) -> str:
    """Some lines of one of the course's observations, from 1, the last one included."""
    return "\n".join(data(f"observations/{path}").read_text(encoding="utf-8").splitlines()[start - 1 : end])


def even(number: object) -> TenTurns:
    """A session that reads a page of a file in each of its ten turns.

    Args:
        number: The same one gives the same session; any text or number.

    >>> even(1).questions[0]
    'What is in lines 12 to 51 of source.py?'
    """
    pages = _pages(number)
    steps = [step for page in pages for step in (_reads(page), _answer([page]))]
    return TenTurns(tuple(_question([page]) for page in pages), tuple(steps), pages)


def bursty(number: object, way: Way | None = None) -> TenTurns:
    """The same ten pages in two turns: six at once, and later four one after the other; the rest is small talk.

    Args:
        number: As in `even`, whose pages it reads.
        way: How the six pages come in; None draws it, and never `assistant`.

    >>> [len(bursty(1).questions), len(bursty(1).steps)]
    [10, 15]
    """
    drawn = Random(f"bursty {number}")  # noqa: S311 - a session is no secret
    pages = _pages(number)
    first, later = drawn.randint(3, 5), drawn.randint(7, 9)
    tools_and_user: tuple[Way, ...] = ("read_lines", "fetch", "user")
    otherwise = drawn.choice(tools_and_user)  # drawn in any case, so that the rest of the session is the same
    chosen: Way = way or otherwise
    talk = drawn.sample(SMALL_TALK, TURNS - 2)
    questions: list[str] = []
    steps: list[Any] = []
    for turn in range(1, TURNS + 1):
        if turn == first:
            question, *said = _at_once(pages[:AT_ONCE], chosen)
        elif turn == later:
            rest = pages[AT_ONCE:]
            question, said = _question(rest), [*(_reads(page) for page in rest), _answer(rest)]
        else:
            question, answer = talk.pop()
            said = [answer]
        questions.append(question)
        steps += said
    return TenTurns(tuple(questions), tuple(steps), pages)


def _pages(number: object) -> tuple[tuple[int, int], ...]:
    """Ten pages that follow one another, of nearly the same number of characters."""
    drawn = Random(f"pages {number}")  # noqa: S311 - a session is no secret
    first, size = drawn.randint(1, 12), drawn.randint(1_850, 1_920)
    lengths = [len(line) + 1 for line in data(f"observations/{FILE}").read_text(encoding="utf-8").splitlines()]
    pages = []
    start = first
    for page in range(1, TURNS + 1):
        whole = list(accumulate(lengths[first - 1 :]))
        end = first + min(range(len(whole)), key=lambda at: abs(whole[at] - page * size))
        pages.append((start, end))
        start = end + 1
    return tuple(pages)


def _at_once(pages: tuple[tuple[int, int], ...], way: Way) -> list[Any]:
    """The turn in which many pages come in at once: the question, and what the model does."""
    whole = "\n".join(page_text(FILE, *page) for page in pages)
    if way == "user":
        return [f"Here is what I have of {FILE} so far:\n{whole}\nDo you see a mistake?", "I see none."]
    if way == "assistant":
        return ["Write me a module that keeps a stock.", f"Here it is:\n{whole}"]
    if way == "fetch":
        calls = [call("fetch", url=f"https://archive.example/{FILE}#L{start}-L{end}") for start, end in pages]
        return [f"What was in lines {pages[0][0]} to {pages[-1][1]} of {FILE} last year?", calls, _answer(pages)]
    return [_question(pages), [_reads(page) for page in pages], _answer(pages)]


def _reads(page: tuple[int, int]) -> Any:
    return call("read_lines", path=FILE, start=page[0], end=page[1])


def _question(pages: Iterable[tuple[int, int]]) -> str:
    start, *_, end = [line for page in pages for line in page]
    return f"What is in lines {start} to {end} of {FILE}?"


def _answer(pages: Iterable[tuple[int, int]]) -> str:
    names = [name for page in pages for name in functions_of(page)]
    return f"{len(names)} functions, from {names[0]} to {names[-1]}."


def functions_of(page: tuple[int, int]) -> list[str]:
    """Names of the functions that begin in a page."""
    return re.findall(r"^def (\w+)", page_text(FILE, *page), re.MULTILINE)


def record(line: Callable[[str, list[Any], Any], Any], session: TenTurns) -> list[list[list[Any]]]:
    """Run a session, and keep all that the model was sent.

    Args:
        line: `line(question, messages, provider)`, which runs a turn and leaves in `messages` what the next one needs.
        session: What to run.

    Returns:
        For each turn its requests, for each request its messages.

    >>> turns = recorded(even(1), system="Be brief.", tools=[read_lines])
    >>> len(turns), [len(request) for request in turns[9]]
    (10, [37, 39])
    """
    model = ScriptedModel(session.steps, unique_ids=True, keep_requests=True)
    messages: list[Any] = []
    turns = []
    for question in session.questions:
        before = len(model.requests)
        line(question, messages, model)
        turns.append([request.messages for request in model.requests[before:]])
    return turns


def recorded(
    session: TenTurns,
    *,
    system: str,
    tools: Iterable[Tool],
    forget: bool = False,
    limit: Limit | None = None,
) -> list[list[list[Any]]]:
    """As `record`, in the package's own loop.

    Args:
        session: What to run.
        system: The system prompt.
        tools: What the model may call.
        forget: After each turn keep its question and its reply alone, as the loop before continuation did.
        limit: Of every result; None takes the chapter's.
    """
    policy = Policy("one limit", default=limit or Limit(4_000))
    box = list(tools)

    def line(question: str, messages: list[Any], provider: Any) -> None:
        agent_step(question, messages, provider, system, policy=policy, tools=box)
        if forget:
            messages[:] = without_scratchpad(messages)

    return record(line, session)


def functions_shown(turns: list[list[list[Any]]], session: TenTurns) -> dict[str, str]:
    """How many functions of an even session's pages its last request still shows, by where in their page they begin.

    >>> functions_shown(recorded(even(1), system="Be brief.", tools=[read_lines]), even(1))["first third"]
    '25 of 25'
    """
    thirds = ("first third", "middle third", "last third")
    shown, whole = Counter[str](), Counter[str]()
    observations = [message["content"] for message in turns[-1][-1] if message["role"] == "tool"]
    for page, observation in zip(session.pages, observations, strict=True):
        text = page_text(FILE, *page)
        for found in re.finditer(r"^def \w+\(", text, re.MULTILINE):
            third = thirds[3 * found.start() // len(text)]
            whole[third] += 1
            shown[third] += found[0] in observation
    return {third: f"{shown[third]} of {whole[third]}" for third in thirds}


def base_tokens(system: str, tools: Iterable[Tool]) -> int:
    """What every request carries besides its messages: the system prompt, the tools, the opening of the reply.

    >>> base_tokens("Be brief.", [])
    10
    """
    return count_messages([], "o200k_base", system=system).n + count_tools(tools, "o200k_base").n
