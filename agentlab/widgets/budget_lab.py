"""`BudgetLab`: sliders for what a run is like, and the curve and the bill that follow."""

from __future__ import annotations

from difflib import get_close_matches
from html import escape
from typing import Any, Final

from msgspec.structs import replace

from agentlab.errors import InputError
from agentlab.plots.figures import BLUE, ORANGE, RED, SKY
from agentlab.show.look import CELL, NUMBER, QUIET, heads, table
from agentlab.tokens import models
from agentlab.tokens.models import Prices
from agentlab.widgets.budget_model import POLICIES, Billed, Setting, bill_of, requests_of
from agentlab.widgets.drawing import TEXT, Series, beside, stacked
from agentlab.widgets.shown import Shown, amount, canvas, choice, column, folded, numbered, row, slider, whenever

FIVE_MINUTES: Final = 5
"""Up to here a cache is written at a model's price for five minutes, beyond at its price for an hour."""
STEP: Final = 0.005
"""US dollars: all prices of the table are multiples of it, which a test holds."""
BY_HAND: Final = "by hand"
FIRST_MODEL: Final = "claude-sonnet-4-5"


class BudgetLab(Shown):
    """A run in sliders: result size, calls, limit, policy, cache and prices; its curve and its bill follow.

    Args:
        setting: The run to begin with.
        model: Whose prices to begin with; a name in `agentlab.tokens.models`.
        cache: Minutes that the cache remembers a prefix after it was last used, up to 60; 0 for no cache.

    Attributes:
        result, calls, turns, limit, keep, threshold, pause, policy, cache, model: Controls; each has a `value`.
        prices: Controls of the four prices, in US dollars per million tokens.
        bill: What the run comes to.
        bills: The same by policy.

    Raises:
        InputError: The setting is no run, or the model has no known prices.

    >>> lab = BudgetLab(Setting(turns=2, calls=2, result=4_000, limit=500))
    >>> before = lab.bill.usage.prompt_tokens
    >>> lab.limit.value = 4_000
    >>> lab.bill.usage.prompt_tokens - before
    14000
    """

    def __init__(self, setting: Setting | None = None, *, model: str = FIRST_MODEL, cache: int = 5) -> None:
        start = setting or Setting()
        self._start = start
        requests_of(start)  # refuses what is no run
        self._priced = {each.name: each.prices for each in models.all() if _complete(each.prices)}
        if model not in (BY_HAND, *self._priced):
            near = get_close_matches(model, self._priced, n=1)
            guess = f", did you mean {near[0]!r}?" if near else "."
            known = f"{guess} Take {BY_HAND!r} to set them with the sliders"
            raise InputError(f"no prices with a cache are known of {model!r}{known}", field="model")
        self._setting_prices = False
        self.result = slider("Result size", start.result, 0, 20_000, nudge=50, tip="Tokens before the cut")
        self.limit = slider("Limit", start.limit, 0, 20_000, nudge=50, tip="Tokens allowed to a result")
        self.calls = slider("Calls per turn", start.calls, 1, 20)
        self.turns = slider("Turns", start.turns, 1, 60)
        self.keep = slider("Results kept", start.keep, 0, 20, tip="Where the policy clears: results that stay")
        self.threshold = slider("Threshold", start.threshold, 1_000, 200_000, nudge=1_000, tip="Prompt tokens")
        self.pause = slider("Pause, seconds", round(start.pause), 0, 4_000, nudge=10, tip="Between two turns")
        self.policy = choice("Policy", POLICIES, start.policy, width="300px")
        self.cache = slider("Cache, minutes", cache, 0, 60, tip="How long the cache remembers a prefix; 0 for no cache")
        self.model = choice("Prices of", [BY_HAND, *self._priced], model)
        self.prices = {
            "input": amount("Input", 3.0, STEP, 30.0, STEP, nudge=0.05),
            "cache_read": amount("Cache read", 0.3, 0.0, 30.0, STEP, nudge=0.01),
            "cache_write": amount("Cache write", 3.75, 0.0, 40.0, STEP, nudge=0.05),
            "output": amount("Output", 15.0, 0.0, 150.0, STEP, nudge=0.5),
        }
        self._shown = canvas()
        run = (self.result, self.limit, self.calls, self.turns, self.pause, self.cache, self.keep, self.threshold)
        dollars = folded("Prices, US dollars per million tokens", *map(numbered, self.prices.values()))
        self.box = column(row(*map(numbered, run)), row(self.policy, self.model), dollars, self._shown)
        whenever((self.model, self.cache), self._take_prices)
        whenever((*run, self.policy), self._follow)
        whenever(self.prices.values(), self._price_by_hand)
        self._take_prices()

    @property
    def setting(self) -> Setting:
        """The run that the controls describe."""
        return self._with_policy(self.policy.value)

    def html(self) -> str:
        """Curve and bill as they stand."""
        return self._shown.value  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        setting, bill = self.setting, self.bill
        return (
            f"{setting.turns} turns of {setting.calls} calls, results of {setting.result:,} tokens cut to "
            f"{setting.limit:,}, {setting.policy}: {bill.usage.prompt_tokens:,} prompt tokens, "
            f"${bill.spent.total:.4f} (estimated)"
        )

    def _with_policy(self, policy: str) -> Setting:
        return replace(
            self._start,
            turns=self.turns.value,
            calls=self.calls.value,
            result=self.result.value,
            limit=self.limit.value,
            policy=policy,
            keep=self.keep.value,
            threshold=self.threshold.value,
            pause=float(self.pause.value),
        )

    def _follow(self) -> None:
        if self._setting_prices:
            return
        dollars = {name: control.value for name, control in self.prices.items()}
        prices = Prices(dollars["input"], dollars["output"], dollars["cache_read"], dollars["cache_write"])
        seconds = 60.0 * self.cache.value
        self.bills = {name: bill_of(self._with_policy(name), prices, seconds) for name in POLICIES}
        self.bill = self.bills[self.policy.value]
        self._shown.value = _page(self.setting, self.bill, self.bills)

    def _take_prices(self) -> None:
        """Set the price sliders to those of the model that was chosen."""
        prices = self._priced.get(self.model.value)
        if prices is None:
            self._follow()
            return
        self._setting_prices = True
        for name, dollars in _dollars(prices, self.cache.value).items():
            self.prices[name].value = dollars
        self._setting_prices = False
        self._follow()

    def _price_by_hand(self) -> None:
        if self._setting_prices:
            return
        prices = self._priced.get(self.model.value)
        of_model = {} if prices is None else _dollars(prices, self.cache.value)
        # A browser may send back what it was told, less exactly.
        if any(abs(self.prices[name].value - dollars) > STEP / 2 for name, dollars in of_model.items()):
            self.model.value = BY_HAND
        else:
            self._follow()


def _complete(prices: Any) -> bool:
    return prices is not None and prices.cache_read is not None


def _dollars(prices: Prices, minutes: int) -> dict[str, float]:
    """The four prices; writing that has none of its own costs what input does."""
    written = prices.cache_write_5m
    if minutes > FIVE_MINUTES and prices.cache_write_1h is not None:
        written = prices.cache_write_1h
    read = prices.input if prices.cache_read is None else prices.cache_read
    written = prices.input if written is None else written
    return {"input": prices.input, "cache_read": read, "cache_write": written, "output": prices.output}


def _page(setting: Setting, bill: Billed, bills: dict[str, Billed]) -> str:
    read, written, uncached = (tuple(each) for each in zip(*bill.turns, strict=True))
    title = f"Prompt tokens of {setting.turns} turns, estimated: {bill.usage.prompt_tokens:,} in all"
    picture = stacked(
        [
            Series("read from the cache", SKY, read),
            Series("written to the cache", BLUE, written),
            Series("billed in full", ORANGE, uncached),
        ],
        title=title,
        across="user turn",
        up="prompt tokens (estimated)",
        line=Series("context: the turn's last call", RED, tuple(bill.contexts)),
    )
    return (
        f'<div style="{TEXT}"><p style="margin:4px 0" role="status"><b>{escape(title)}; '
        f"${bill.spent.total:,.4f} with output.</b> {escape(setting.policy)}: {escape(POLICIES[setting.policy])}.</p>"
        f"{beside(picture, _bill_table(bill))}{_policies_table(setting, bills)}</div>"
    )


def _bill_table(bill: Billed) -> str:
    rows = (
        ("read from the cache", bill.usage.cache_read_tokens, bill.spent.cache_read),
        ("written to the cache", bill.usage.cache_write_tokens, bill.spent.cache_write),
        ("billed in full", bill.usage.input_tokens, bill.spent.uncached),
        ("output", bill.usage.output_tokens, bill.spent.output),
        ("all", bill.usage.prompt_tokens + bill.usage.output_tokens, bill.spent.total),
    )
    cells = "".join(
        f'<tr><td style="{CELL}">{name}</td><td style="{NUMBER}">{tokens:,}</td>'
        f'<td style="{NUMBER}">{dollars:,.4f}</td></tr>'
        for name, tokens, dollars in rows
    )
    return table(heads(("The bill", CELL), ("tokens", NUMBER), ("US dollars", NUMBER)), cells)


def _policies_table(setting: Setting, bills: dict[str, Billed]) -> str:
    rows = []
    for name, bill in bills.items():
        shown = f"<b>{escape(name)}</b>" if name == setting.policy else escape(name)
        rows.append(
            f'<tr><td style="{CELL}">{shown}</td><td style="{NUMBER}">{bill.usage.prompt_tokens:,}</td>'
            f'<td style="{NUMBER}">{max(bill.contexts):,}</td><td style="{NUMBER}">{bill.spent.total:,.4f}</td></tr>'
        )
    named = heads(("Policy", CELL), ("prompt tokens", NUMBER), ("largest context", NUMBER), ("US dollars", NUMBER))
    note = "Every turn is alike; no model was asked. What a policy makes an agent miss or read again is not in here."
    return f'{table(named, "".join(rows))}<div style="{QUIET}">{note}</div>'
