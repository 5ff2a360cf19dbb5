"""`BudgetLab`: sliders for what a run is like, and the curve and the bill that follow."""

from __future__ import annotations

from html import escape
from typing import Any, Final

from agentlab.plots.figures import BLUE, ORANGE, RED, SKY
from agentlab.show.look import CELL, NUMBER, QUIET, table
from agentlab.tokens import models
from agentlab.tokens.models import Prices
from agentlab.widgets.budget_model import POLICIES, Billed, Setting, bill_of
from agentlab.widgets.drawing import TEXT, Series, stacked
from agentlab.widgets.shown import Shown, amount, canvas, choice, column, folded, numbered, row, slider, whenever

LIFETIMES: Final = {"no cache": 0, "1 minute": 60, "5 minutes": 300, "30 minutes": 1_800, "1 hour": 3_600}
BY_HAND: Final = "by hand"
FIRST_MODEL: Final = "claude-sonnet-4-5"


class BudgetLab(Shown):
    """A run in sliders: result size, calls, limit, policy, cache and prices; its curve and its bill follow.

    Args:
        setting: The run to begin with.
        model: Whose prices to begin with; a name in `agentlab.tokens.models`.
        cache: How long the cache lives, one of `LIFETIMES`.

    Attributes:
        result, calls, turns, limit, keep, threshold, pause, policy, cache, model: Controls; each has a `value`.
        prices: Controls of the four prices, in US dollars per million tokens.

    Raises:
        InputError: The setting is no run.

    >>> lab = BudgetLab(Setting(turns=2, calls=2, result=4_000, limit=500))
    >>> before = lab.bill.usage.prompt_tokens
    >>> lab.limit.value = 4_000
    >>> lab.bill.usage.prompt_tokens - before
    14000
    """

    def __init__(self, setting: Setting | None = None, *, model: str = FIRST_MODEL, cache: str = "5 minutes") -> None:
        start = setting or Setting()
        self._start = start
        self._priced = {each.name: each.prices for each in models.all() if _complete(each.prices)}
        self._setting_prices = False
        self.result = slider("Result size", start.result, 0, 20_000, 50, tip="Tokens of a tool result before it is cut")
        self.limit = slider("Limit", start.limit, 0, 20_000, 50, tip="Tokens allowed to a result")
        self.calls = slider("Calls per turn", start.calls, 1, 20)
        self.turns = slider("Turns", start.turns, 1, 60)
        self.keep = slider("Results kept", start.keep, 0, 20, tip="Where the policy clears: results that stay")
        self.threshold = slider("Threshold", start.threshold, 1_000, 200_000, 1_000, tip="Prompt tokens")
        self.pause = slider("Pause, seconds", round(start.pause), 0, 4_000, 10, tip="Between two turns")
        self.policy = choice("Policy", POLICIES, start.policy, width="300px")
        self.cache = choice("Cache lives", LIFETIMES, cache, width="200px")
        self.model = choice("Prices of", [BY_HAND, *self._priced], model if model in self._priced else BY_HAND)
        self.prices = {
            "input": amount("Input", 3.0, 0.05, 30.0, 0.05),
            "cache_read": amount("Cache read", 0.3, 0.0, 30.0, 0.005),
            "cache_write_5m": amount("Cache write", 3.75, 0.0, 40.0, 0.05),
            "output": amount("Output", 15.0, 0.0, 150.0, 0.5),
        }
        self._shown = canvas()
        run = (self.result, self.limit, self.calls, self.turns, self.pause, self.keep, self.threshold)
        dollars = folded("Prices, US dollars per million tokens", *map(numbered, self.prices.values()))
        self.box = column(row(*map(numbered, run)), row(self.policy, self.cache, self.model), dollars, self._shown)
        self._take_prices()
        self.model.observe(lambda _: self._take_prices(), names="value")
        whenever((*run, self.policy, self.cache), self._follow)
        whenever(self.prices.values(), self._price_by_hand)
        self._follow()

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
        return Setting(
            turns=self.turns.value,
            calls=self.calls.value,
            result=self.result.value,
            limit=self.limit.value,
            policy=policy,
            keep=self.keep.value,
            threshold=self.threshold.value,
            base=self._start.base,
            question=self._start.question,
            asking=self._start.asking,
            reply=self._start.reply,
            pause=float(self.pause.value),
            step=self._start.step,
        )

    def _follow(self) -> None:
        if self._setting_prices:
            return
        prices = Prices(**{name: control.value for name, control in self.prices.items()})
        seconds = LIFETIMES[self.cache.value]
        self.bills = {name: bill_of(self._with_policy(name), prices, seconds) for name in POLICIES}
        self.bill = self.bills[self.policy.value]
        self._shown.value = _page(self.setting, self.bill, self.bills)

    def _take_prices(self) -> None:
        """Set the price sliders to those of the model that was chosen."""
        prices = self._priced.get(self.model.value)
        if prices is None:
            return
        self._setting_prices = True
        for name, control in self.prices.items():
            price = getattr(prices, name)
            control.value = prices.input if price is None else price  # writing that has no price costs what input does
        self._setting_prices = False
        self._follow()

    def _price_by_hand(self) -> None:
        if not self._setting_prices:
            self.model.value = BY_HAND
            self._follow()


def _complete(prices: Any) -> bool:
    return prices is not None and prices.cache_read is not None


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
        up="prompt tokens",
        line=Series("context: the turn's last call", RED, tuple(bill.contexts)),
    )
    side = f'<div style="flex:1 1 320px;min-width:0">{_bill_table(bill)}</div>'
    both = f'<div style="flex:2 1 420px;min-width:0">{picture}</div>{side}'
    return (
        f'<div style="{TEXT}"><p style="margin:4px 0" role="status"><b>{escape(title)}; '
        f"${bill.spent.total:,.4f} with output.</b> {escape(setting.policy)}: {escape(POLICIES[setting.policy])}.</p>"
        f'<div style="display:flex;flex-wrap:wrap;gap:16px">{both}</div>{_policies_table(setting, bills)}</div>'
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
    return table(_heads(("The bill", CELL), ("tokens", NUMBER), ("US dollars", NUMBER)), cells)


def _policies_table(setting: Setting, bills: dict[str, Billed]) -> str:
    rows = []
    for name, bill in bills.items():
        shown = f"<b>{escape(name)}</b>" if name == setting.policy else escape(name)
        rows.append(
            f'<tr><td style="{CELL}">{shown}</td><td style="{NUMBER}">{bill.usage.prompt_tokens:,}</td>'
            f'<td style="{NUMBER}">{max(bill.contexts):,}</td><td style="{NUMBER}">{bill.spent.total:,.4f}</td></tr>'
        )
    heads = _heads(("Policy", CELL), ("prompt tokens", NUMBER), ("largest context", NUMBER), ("US dollars", NUMBER))
    note = "Every turn is alike; no model was asked. What a policy makes an agent miss or read again is not in here."
    return f'{table(heads, "".join(rows))}<div style="{QUIET}">{note}</div>'


def _heads(*named: tuple[str, str]) -> str:
    return "".join(f'<th scope="col" style="{style}">{escape(name)}</th>' for name, style in named)
