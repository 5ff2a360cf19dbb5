"""What OpenHands' `metrics` say that each call used: matched by the response's id, in order where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentlab.analysis.importers.fields import dollars_of, list_of, object_of, text_of
from agentlab.analysis.importers.litellm_usage import litellm_usage
from agentlab.analysis.importers.shape import plausible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agentlab.analysis.importers.shape import Report
    from agentlab.messages import Usage


class Used:
    """Usage and cost of each call.

    Args:
        metrics: Of the run.
        responses: Of each call, the response; an empty one where the log has none.
        report: Told what cannot be a usage.

    Attributes:
        usages: Of each call; None where nothing says it.
        costs: In US dollars, of each call; None where nothing says it.
        aside: What is counted there and belongs to no call.
        total: Of all.
        model: The first that is named.

    >>> metrics = {"token_usages": [{"response_id": "a", "prompt_tokens": 5}, {"response_id": "b", "prompt_tokens": 9}]}
    >>> used = Used(metrics, [{"id": "b"}], print)
    >>> used.usages[0].prompt_tokens, len(used.aside)
    (9, 1)
    """

    def __init__(self, metrics: dict[str, Any], responses: Sequence[dict[str, Any]], report: Report) -> None:
        entries = [object_of(entry) for entry in list_of(metrics.get("token_usages"))]
        costs = [object_of(entry).get("cost") for entry in list_of(metrics.get("costs"))]
        owner = _owners(entries, responses)
        self.usages: list[Usage | None] = [plausible(litellm_usage(each.get("usage")), report) for each in responses]
        self.costs: list[float | None] = [None] * len(responses)
        aside = []
        for place, entry in enumerate(entries):
            usage = plausible(litellm_usage(entry), report)
            call = owner.get(place)
            if call is None:
                aside += [] if usage is None else [usage]
                continue
            self.usages[call] = usage or self.usages[call]
            if len(costs) == len(entries):
                self.costs[call] = dollars_of(costs[place])
        self.aside = tuple(aside)
        self.total = plausible(litellm_usage(metrics.get("accumulated_token_usage")), report)
        self.model = next((name for entry in entries if (name := text_of(entry.get("model")))), None)


def _owners(entries: Sequence[dict[str, Any]], responses: Sequence[dict[str, Any]]) -> dict[int, int]:
    """The call of each entry.

    Calls without an id, as those that only spoke, take the entries between those of their neighbours, if there are as
    many.
    """
    ids = {name: n for n, response in enumerate(responses) if (name := text_of(response.get("id")))}
    owner: dict[int, int] = {}
    free: list[int] = []
    last = -1
    for place in range(len(entries) + 1):
        call = ids.get(str(entries[place].get("response_id"))) if place < len(entries) else len(responses)
        if call is None:
            free.append(place)
            continue
        between = [n for n in range(last + 1, call) if not text_of(responses[n].get("id"))]
        if len(between) == len(free):
            owner.update(zip(free, between, strict=True))
        if call < len(responses):
            owner[place] = call
        last, free = call, []
    return owner
