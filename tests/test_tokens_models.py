"""The dated table of models."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import TYPE_CHECKING

import pytest

from agentlab.errors import InputError
from agentlab.messages import Usage
from agentlab.tokens import encodings, models, ranks

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("gpt-4o", "gpt-4o"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
        ("openai/gpt-4.1-mini", "gpt-4.1-mini"),
        ("gpt-4-0613", "gpt-4"),
        ("gpt-3.5-turbo-0125", "gpt-3.5-turbo"),
        ("gpt-5-nano", "gpt-5-nano"),
        ("gpt-5-codex", "gpt-5"),
        ("gpt-5.2-codex", "gpt-5.2"),
        ("gpt-5.3-codex", "gpt-5.3-codex"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-haiku-4-5@20251001", "claude-haiku-4-5"),
        ("claude-opus-4-20250514", "claude-opus-4"),
        ("claude-opus-4-0", "claude-opus-4"),
        ("claude-3-5-haiku-latest", "claude-3-5-haiku"),
        ("anthropic/claude-opus-5", "claude-opus-5"),
        ("us.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        ("claude-opus-5-5[1m]", "claude-opus-5-5"),
    ],
)
def test_a_dated_or_routed_name_finds_its_entry(name: str, entry: str) -> None:
    found = models.find(name)
    assert found is not None
    assert found.name == entry


@pytest.mark.parametrize(
    "name", ["", "gpt", "gpt-4o-audio-preview", "gpt-5-search", "claude-opus-5-9", "ft:gpt-4o:me", "llama-3"]
)
def test_a_variant_that_is_not_in_the_table_is_not_its_neighbour(name: str) -> None:
    assert models.find(name) is None


def test_every_entry_is_dated_sourced_and_plausible() -> None:
    table = models.all()
    names = [name for model in table for name in (model.name, *model.aliases)]
    assert len(names) == len(set(names))
    for model in table:
        assert re.fullmatch(r"20\d\d-\d\d(-\d\d)?", model.as_of), model.name
        assert model.source, model.name
        assert model.provider in {"openai", "anthropic"}, model.name
        assert model.encoding is None or model.encoding in ranks.SPECS, model.name
        assert model.encoding is None or model.o200k_factor is None, model.name
        assert model.window is not None, model.name
        assert model.max_output is None or model.max_output <= model.window, model.name
        assert (model.o200k_factor is not None) == (model.provider == "anthropic"), model.name
        held = [(model.prices, model.long_prompt), *((each.prices, each.long_prompt) for each in model.earlier)]
        assert [each.until for each in model.earlier] == sorted({each.until for each in model.earlier}), model.name
        for prices in filter(None, (prices for pair in held for prices in (pair[0], pair[1] and pair[1].prices))):
            assert 0 < prices.input < prices.output, model.name
            assert prices.cache_read is None or prices.cache_read < prices.input, model.name
            assert prices.cache_write_5m is None or prices.cache_write_5m >= prices.input, model.name
        if model.provider == "anthropic":
            assert model.prices is not None, model.name
            assert None not in {model.prices.cache_read, model.prices.cache_write_5m, model.prices.cache_write_1h}


def test_the_encodings_are_those_that_tiktoken_names() -> None:
    from tiktoken.model import encoding_name_for_model

    for model in models.all():
        if model.encoding is not None:
            assert model.encoding == encoding_name_for_model(model.name), model.name
    for name in ("gpt-5-codex", "gpt-5.3-codex", "chatgpt-4o-latest", "gpt-4.1-2025-04-14", "o3-pro", "gpt-4-32k-0613"):
        assert models.tokenizer_of(name).encoding == encoding_name_for_model(name)
        assert models.tokenizer_of(name).exact
    assert models.tokenizer_of("ft:gpt-4o:me").exact
    assert models.tokenizer_of("ft:gpt-3.5-turbo:me").encoding == "cl100k_base"


def test_the_factors_of_both_claude_tokenizers() -> None:
    factors = {
        name: models.find(name).o200k_factor for name in ("claude-3-haiku", "claude-opus-4-6", "claude-opus-4-7")
    }
    assert factors == {"claude-3-haiku": 1.35, "claude-opus-4-6": 1.35, "claude-opus-4-7": 1.65}
    assert models.tokenizer_of("claude-sonnet-4-5-thinking").factor == 1.35
    assert models.tokenizer_of("bedrock/eu.anthropic.claude-opus-9").factor == 1.65


def test_what_sending_tools_adds_to_a_claude_prompt() -> None:
    overheads = {
        "claude-opus-5": (286, 406),
        "claude-opus-4-8": (290, 410),
        "claude-opus-4-7": (675, 804),
        "claude-opus-4-6": (497, 589),
        "claude-sonnet-4-5": (496, 588),
        "claude-sonnet-5": (354, 474),
        "claude-opus-4-1": (313, 315),
    }
    for name, (auto, forced) in overheads.items():
        model = models.find(name)
        assert model is not None
        assert model.tool_overhead == models.ToolOverhead(auto, forced)


# Expected dollars are worked out by hand from the prices per million tokens.
@pytest.mark.parametrize(
    ("usage", "name", "ttl", "dollars"),
    [
        (Usage(10_000, 1_000), "gpt-4o-2024-08-06", "5m", 0.025 + 0.010),
        (Usage(1_000, 1_000, cache_read_tokens=9_000), "gpt-4o", "5m", 0.0025 + 0.010 + 0.01125),
        (Usage(1_000, 500, 20_000, 2_000), "claude-sonnet-4-5", "5m", 0.003 + 0.0075 + 0.006 + 0.0075),
        (Usage(1_000, 500, 20_000, 2_000), "claude-sonnet-4-5", "1h", 0.003 + 0.0075 + 0.006 + 0.012),
        (Usage(100_000, 1_000), "claude-haiku-5-5", "5m", 0.010 + 0.0005),
        (Usage(40_001, 1_000, cache_read_tokens=60_000), "claude-haiku-5-5", "5m", 0.0200005 + 0.0025 + 0.003),
        (Usage(), "gpt-4o", "5m", 0.0),
    ],
)
def test_one_call_is_priced(usage: Usage, name: str, ttl: str, dollars: float) -> None:
    assert models.price(usage, name, cache_ttl=ttl) == pytest.approx(dollars)
    assert models.price(usage, models.find(name), cache_ttl=ttl) == pytest.approx(dollars)


def test_what_has_no_known_price_is_none_not_nothing() -> None:
    assert models.price(Usage(10, 10), "some-local-model") is None
    assert models.price(Usage(10, 10, cache_write_tokens=1), "gpt-4o") is None
    assert models.price(Usage(10, 10), models.Model("x", "openai", "2026-11", "a test")) is None


def test_an_unknown_cache_lifetime_is_refused() -> None:
    with pytest.raises(InputError, match="cache_ttl: expected '5m' or '1h', found '30m'"):
        models.price(Usage(1, 1), "gpt-4o", cache_ttl="30m")


APRIL_2025, MARCH_2026, MAY_2026 = 1_744_848_000, 1_773_273_599, 1_777_593_600  # the second is 2026-03-11 23:59:59


@pytest.mark.parametrize(
    ("name", "prompt_tokens", "time", "dollars"),
    [
        ("o3", 1_000, APRIL_2025, 10),
        ("o3", 1_000, MAY_2026, 2),
        ("o3", 1_000, None, 2),
        ("claude-opus-4-6", 200_001, MARCH_2026, 10),
        ("claude-opus-4-6", 200_000, MARCH_2026, 5),
        ("claude-opus-4-6", 200_001, MAY_2026, 5),
        ("gpt-5.6-luna", 272_001, MAY_2026, 2),
        ("gpt-5.6-luna", 272_001, None, 0.4),
        ("gpt-4o", 1_000, APRIL_2025, 2.5),
    ],
)
def test_prices_are_those_of_the_day_and_of_the_prompt(
    name: str, prompt_tokens: int, time: float | None, dollars: float
) -> None:
    assert models.find(name).prices_of(prompt_tokens, time).input == dollars


def test_a_price_changes_with_the_day_in_utc() -> None:
    held = models.Earlier(date(2026, 1, 2), models.Prices(8, 9))
    model = models.Model("x", "openai", "2026-11", "a test", prices=models.Prices(1, 2), earlier=(held,))
    midnight = 1_767_312_000  # 2026-01-02 00:00 UTC
    assert [model.prices_of(1, midnight + second).input for second in (-1, 0)] == [8, 1]
    assert models.cost_of(Usage(1_000_000), model, time=midnight - 1).total == 8


def test_what_a_call_cost_by_kind() -> None:
    spent = models.cost_of(Usage(1_000, 500, 20_000, 3_000), models.find("claude-sonnet-4-5"), hour=2_000)
    assert spent == models.Spent(
        uncached=pytest.approx(0.003),
        cache_read=pytest.approx(0.006),
        cache_write=pytest.approx(1_000 * 3.75e-6 + 2_000 * 6e-6),
        output=pytest.approx(0.0075),
    )
    assert spent.input + spent.output == spent.total
    assert models.cost_of(Usage(1), None) is None


def mine(**prices: float | str) -> str:
    """A table of one model, called `mine`, or of another name."""
    entry = {"name": "mine", "provider": "local", "as_of": "2026-11-30", "source": "me", "window": 4096}
    return json.dumps({"models": [{**entry, "prices": {"input": 1, "output": 2, **prices}}]})


def test_the_entries_of_a_file_come_before_those_of_the_table(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(mine())
    assert [model.name for model in models.all(path)] == ["mine", *(model.name for model in models.all())]
    assert models.find("mine-2026-11-30", path).window == 4096
    assert models.find("gpt-4o", path) == models.find("gpt-4o")
    assert models.price(Usage(1_000_000, 1_000_000), "mine", path=path) == 3.0
    path.write_text(mine(input=7).replace("mine", "gpt-4o"))
    assert models.find("gpt-4o-2024-08-06", path).prices.input == 7  # the file is read anew
    assert [model.name for model in models.all(path)].count("gpt-4o") == 1


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("{", "not a table of models"),
        ('{"models": [{"name": "x"}]}', r"missing required field `provider` - at `\$.models\[0\]`; expected {\"models"),
        (mine(cached=1), r"unknown field `cached` - at `\$.models\[0\].prices`"),
        (mine(input=0), r"Expected `float` > 0.0 - at `\$.models\[0\].prices.input`"),
        (mine(cache_read=-1), r"Expected `float` >= 0.0 - at `\$.models\[0\].prices.cache_read`"),
        (mine(output="2"), r"Expected `float`, got `str` - at `\$.models\[0\].prices.output`"),
    ],
)
def test_a_table_that_is_none_is_named_with_the_field(tmp_path: Path, content: str, says: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(InputError, match=says) as raised:
        models.all(path)
    assert str(path) in str(raised.value)
    with pytest.raises(InputError, match="cannot read"):
        models.all(tmp_path / "absent.json")


def test_the_default_encoding_is_that_of_the_default_model() -> None:
    assert models.find("gpt-4o").encoding == encodings.DEFAULT_ENCODING
