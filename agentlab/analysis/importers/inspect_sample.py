"""A sample of an Inspect log as sessions.

Its `model` events are the calls, each with the whole prompt, or with ranges of the pool that newer logs keep messages
in. Calls of scorers, and single calls beside the conversation, are counted aside; a longer conversation of its own,
such as a sub-agent's, is a session of its own. Without events the messages are all there is.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from agentlab.analysis.importers.chat_messages import time_of
from agentlab.analysis.importers.fields import list_of, object_of, text_at
from agentlab.analysis.importers.inspect_messages import Messages, cost_of, usage_of
from agentlab.analysis.importers.prompts import Prompts, Sent, Talks
from agentlab.analysis.importers.shape import plausible, tools_of
from agentlab.analysis.session import Session
from agentlab.messages import Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    Report = Callable[[str], None]

NAME = "inspect"

_Range = tuple[int, int]


class _Call(msgspec.Struct, frozen=True):
    """A model call: what it was sent, and, of a pool, which ranges."""

    sent: list[Sent]
    ranges: list[_Range]
    reply: Sent | None
    facts: dict[str, Any]
    tools: Any


def sessions_of(sample: dict[str, Any], path: Path, header: dict[str, Any], report: Report) -> list[Session]:
    """The sessions of a sample: its conversation, and those of sub-agents."""
    facts = object_of(header.get("eval"))
    provider, _, model = text_at(facts, "model").rpartition("/")
    reading = _Sample(sample, report, is_openai=not model.startswith("claude"))
    reading.read()
    made = reading.conversations()
    labels = _labels(sample, facts)
    identity = f"{path.name.rsplit('.', 1)[0]}#{labels['sample']}-{labels['epoch']}"
    sessions = []
    for number, talk in enumerate(made):
        records, calls, replaced = talk.prompts.timeline.laid()
        if not records and not calls:
            continue
        models = Counter(call.model for call in calls if call.model)
        sessions.append(
            Session(
                id=f"{identity}/agent-{number + 1}" if number else identity,
                format=NAME,
                path=path,
                records=records,
                calls=calls,
                provider=provider.split("/")[0],
                model=models.most_common(1)[0][0] if models else model or None,
                system=talk.system,
                tools=tools_of(talk.tools),
                labels=labels,
                replaced=replaced,
                parent=identity if number else "",
                aside=() if number else tuple(reading.aside),
                usage=None if number else reading.usage,
                cost=None if number else reading.cost,
            )
        )
    return sessions


class _Talk(msgspec.Struct):
    """A conversation of a sample."""

    prompts: Prompts
    system: str
    tools: Any
    ranges: list[_Range]
    usages: list[Usage | None]


class _Sample:
    """Reads a sample."""

    def __init__(self, sample: dict[str, Any], report: Report, *, is_openai: bool) -> None:
        self.aside: list[Usage] = []
        self.usage: Usage | None = None
        self.cost: float | None = None
        self._sample = sample
        self._report = report
        self._events = [each for each in list_of(sample.get("events")) if isinstance(each, dict)]
        attachments = object_of(sample.get("attachments"))
        self._messages = Messages(attachments, _sizes(self._events), report, is_openai=is_openai)
        self._talks = Talks()
        self._of: dict[int, _Talk] = {}

    def read(self) -> None:
        """Read its calls, or, where there are none, its messages."""
        known = object_of(self._sample.get("events_data"))
        raw = list_of(self._sample.get("message_pool")) or list_of(known.get("messages"))
        pool = [self._messages.read(each) for each in raw]
        scorers = _scorers(self._events)
        for number, event in enumerate(self._events):
            if event.get("event") != "model":
                continue
            call = self._call(event, pool)
            if call is None:
                continue
            if number in scorers or event.get("role") == "grader":
                self._beside(call.facts["usage"])
            else:
                self._take(call)
        if self._of:
            self._add_rest()
        else:
            self._read_messages()

    def conversations(self) -> list[_Talk]:
        """The sample's conversation, then the others; single calls are counted aside."""
        talks = [self._of[id(each)] for each in self._talks.all]
        for talk in talks[1:]:
            if len(talk.usages) == 1:
                self._beside(talk.usages[0])
        return [talk for number, talk in enumerate(talks) if number == 0 or len(talk.usages) > 1]

    def _beside(self, usage: Usage | None) -> None:
        if usage is not None:
            self.aside.append(usage)

    def _call(self, event: dict[str, Any], pool: Sequence[Sent | None]) -> _Call | None:
        """A call; None where none was made, as where Inspect had kept the reply, or where nothing came back."""
        output = object_of(event.get("output"))
        choice = object_of(next(iter(list_of(output.get("choices"))), None))
        usage = plausible(usage_of(output.get("usage")), self._report)
        reply = self._messages.read(choice["message"]) if isinstance(choice.get("message"), dict) else None
        if event.get("cache") == "read" or event.get("pending") is True or (reply is None and usage is None):
            return None
        ranges = list(_ranges(event.get("input_refs"), len(pool)))
        if ranges:
            sent = [each for start, stop in ranges for each in pool[start:stop] if each is not None]
        else:
            sent = [each for raw in list_of(event.get("input")) if (each := self._messages.read(raw)) is not None]
        done = {"time": event.get("completed") or event.get("timestamp")}
        facts = {
            "usage": usage,
            "cost": cost_of(output.get("usage")),
            "stop_reason": text_at(choice, "stop_reason") or None,
            "model": text_at(event, "model").rpartition("/")[2] or None,
            "time": time_of(done),
        }
        return _Call(sent, ranges, reply, facts, event.get("tools"))

    def _take(self, call: _Call) -> None:
        """Add a call to its conversation."""
        first = next((at for at, each in enumerate(call.sent) if each.message["role"] != "system"), len(call.sent))
        system = "\n\n".join(each.message["content"] for each in call.sent[:first])
        sent = call.sent[first:]
        prompts = self._talks.of(sent)
        talk = self._of.get(id(prompts))
        if talk is None:
            talk = self._of[id(prompts)] = _Talk(prompts, system, call.tools, [], [])
            sent = _opened(sent)
        elif system != talk.system:
            first, sent, talk.ranges = 0, call.sent, []
        same = max(0, _common(talk.ranges, call.ranges) - first)
        prompts.call(sent[same:], call.reply, same=same, **call.facts)
        talk.ranges = call.ranges
        talk.usages.append(call.facts["usage"])

    def _add_rest(self) -> None:
        """Add what was said after the last call."""
        prompts = self._talks.all[0]
        rest: list[Sent] = []
        for raw in reversed(list_of(self._sample.get("messages"))):
            sent = self._messages.read(raw)
            if sent is None or prompts.knows(sent):
                break
            rest.append(sent)
        for sent in reversed(rest):
            prompts.add(sent)

    def _read_messages(self) -> None:
        """Take each reply for a call that was sent what stands before it."""
        read = [self._messages.read(raw) for raw in list_of(self._sample.get("messages"))]
        messages = [each for each in read if each is not None]
        if not messages and isinstance(self._sample.get("input"), str):
            sent = self._messages.read({"role": "user", "content": self._sample["input"], "source": "input"})
            messages = [] if sent is None else [sent]
        first = next((at for at, each in enumerate(messages) if each.message["role"] != "system"), len(messages))
        prompts = self._talks.of(messages[first:])
        system = "\n\n".join(each.message["content"] for each in messages[:first])
        self._of[id(prompts)] = _Talk(prompts, system, None, [], [])
        given = [raw for raw, each in zip(list_of(self._sample.get("messages")), read, strict=True) if each is not None]
        for raw, sent in zip(given[first:], _opened(messages[first:]), strict=False):
            if sent.message["role"] == "assistant" and object_of(raw).get("source") != "input":
                prompts.timeline.reply(sent.message, sent.about, model=text_at(object_of(raw), "model") or None)
            else:
                prompts.add(sent)
        for used in object_of(self._sample.get("model_usage")).values():
            usage, cost = plausible(usage_of(used), self._report), cost_of(used)
            self.usage = usage if self.usage is None else self.usage if usage is None else self.usage + usage
            self.cost = cost if self.cost is None else self.cost + (cost or 0)


def _labels(sample: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
    scores = {name: object_of(score).get("value") for name, score in object_of(sample.get("scores")).items()}
    task, name, epoch = text_at(facts, "task"), sample.get("id"), sample.get("epoch", 1)
    labels = {"task": task, "model": text_at(facts, "model"), "sample": name, "epoch": epoch, "scores": scores}
    return labels | {"task_id": f"{task}/{name}"}  # epochs of one sample are not independent


def _opened(sent: list[Sent]) -> list[Sent]:
    """Let the first message of a user open a turn where nothing else does."""
    users = [at for at, each in enumerate(sent) if each.message["role"] == "user"]
    if not users or any("origin" not in sent[at].message for at in users):
        return sent
    at = users[0]
    message = {key: value for key, value in sent[at].message.items() if key != "origin"}
    return [*sent[:at], msgspec.structs.replace(sent[at], message=message), *sent[at + 1 :]]


def _ranges(refs: Any, size: int) -> Iterator[_Range]:
    """Ranges of the pool, those that are any."""
    for each in list_of(refs):
        if isinstance(each, list) and len(each) == 2 and all(isinstance(n, int) and 0 <= n <= size for n in each):
            yield each[0], each[1]


def _common(before: Sequence[_Range], now: Sequence[_Range]) -> int:
    """How many messages two lists of ranges have in common at their beginning."""
    common = 0
    for (start, stop), (other, end) in zip(before, now, strict=False):
        if start != other:
            break
        common += max(0, min(stop, end) - start)
        if stop != end:
            break
    return common


def _sizes(events: Sequence[dict[str, Any]]) -> dict[str, int]:
    """Of tool results that were cut, their size before, by message and by call."""
    sizes: dict[str, int] = {}
    for event in events:
        cut = event.get("truncated") if event.get("event") == "tool" else None
        if isinstance(cut, list) and cut and isinstance(cut[0], int):
            sizes |= {name: cut[0] for key in ("message_id", "id") if (name := text_at(event, key))}
    return sizes


def _scorers(events: Sequence[dict[str, Any]]) -> set[int]:
    """Which events stand within a scorer: in a span of that type, or, in older logs, between its steps."""
    spans: set[str] = set()
    steps: list[bool] = []
    within = set()
    for number, event in enumerate(events):
        kind = event.get("event")
        if kind == "span_begin" and (event.get("type") == "scorer" or text_at(event, "parent_id") in spans):
            spans.add(text_at(event, "id"))
        elif kind == "step" and event.get("action") == "begin":
            steps.append(event.get("type") == "scorer")
        elif kind == "step" and steps:
            steps.pop()
        elif any(steps) or text_at(event, "span_id") in spans:
            within.add(number)
    return within
