"""Cuts by tokens: what the tokenizer is shown, counted in characters and never timed."""

from __future__ import annotations

import random
import string

import pytest

from agentlab import tokens
from agentlab.truncate import STRATEGIES, cut, measure
from agentlab.truncate.tokens import LONGEST_TOKEN, SLACK


class CountingTokenizer:
    """o200k_base, and how many characters it was shown."""

    def __init__(self) -> None:
        self.seen = 0

    def encode(self, text: str) -> list[int]:
        self.seen += len(text)
        return tokens.encode(text)

    def decode_bytes(self, ids: list[int]) -> bytes:
        return tokens.encoding("o200k_base").decode_bytes(ids)


def log_of(length: int) -> str:
    lines = "".join(
        f"2026-05-13 12:00:{n % 60:02d} INFO worker-{n % 7} served /api/items/{n} in {n % 900} ms\n"
        for n in range(1200)
    )
    return (lines * (length // len(lines) + 1))[:length]


def base64_of(length: int) -> str:
    return "".join(random.Random(1).choices(string.ascii_letters + string.digits + "+/", k=length))


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
@pytest.mark.parametrize("limit", [50, 500, 4000])
def test_pitfall_13_the_tokenizer_sees_a_constant_times_the_limit(strategy, limit):
    seen = {}
    for length in (200_000, 2_000_000):
        tokenizer = CountingTokenizer()
        made = cut(log_of(length), limit, strategy, unit="tokens", encoding=tokenizer)
        assert made.was_cut
        seen[length] = tokenizer.seen
    assert seen[2_000_000] <= 16 * limit + 8 * 1024
    assert seen[2_000_000] == pytest.approx(seen[200_000], rel=0.5)


RUNS = {
    "spaces": " " * 1_000_000,
    "letters": "a" * 100_000,
    "newlines": "\n" * 300_000,
    "dashes": "-" * 300_000,
    "emoji": "😀" * 100_000,
    "one line": "x,y;" * 100_000,
    "base64": base64_of(200_000),
    "spaces, then text": " " * 500_000 + log_of(200_000),
    "text, then spaces": log_of(200_000) + " " * 500_000,
    "lone surrogates": "\ud83d" * 100_000,
}


@pytest.mark.parametrize("name", sorted(RUNS))
def test_pitfall_13_long_runs_neither_panic_nor_take_more_than_their_tokens_can_hold(name):
    limit = 200
    for strategy in STRATEGIES:
        tokenizer = CountingTokenizer()
        made = cut(RUNS[name], limit, strategy, unit="tokens", encoding=tokenizer)
        assert made.was_cut
        assert measure(made.text, "tokens") <= limit
        # Two windows and the check, each at most as wide as the longest tokens are, and tries on the way to each.
        assert tokenizer.seen <= 4 * LONGEST_TOKEN * (limit + SLACK + 1)


def test_lengths_decide_without_the_tokenizer():
    class NoTokenizer:
        def encode(self, text: str) -> list[int]:
            raise AssertionError(f"asked for {len(text)} characters")

        def decode_bytes(self, ids: list[int]) -> bytes:
            raise AssertionError

    for text in ("a" * 4000, "é" * 2000, "漢" * 1333, ""):
        assert cut(text, 4000, unit="tokens", encoding=NoTokenizer()).text is text


@pytest.mark.parametrize(
    "text", [log_of(20_000), base64_of(20_000), "Prose of a usual kind, with words. " * 500, "日本語の文章。" * 2000]
)
def test_the_limit_is_used(text):
    for limit in (100, 1000, 2000):
        for strategy in STRATEGIES:
            assert limit - 5 <= measure(cut(text, limit, strategy, unit="tokens").text, "tokens") <= limit


def test_fits_is_decided_to_the_token():
    for text in (log_of(9_000), " " * 9_000, "a" * 9_000, base64_of(3_000), "\ud83d\ude00" * 500, "😀漢é" * 300):
        size = measure(text, "tokens")
        assert cut(text, size, unit="tokens").text is text
        assert cut(text, size - 1, unit="tokens").was_cut


def test_the_longest_token_is_as_long_as_is_assumed():
    for name in ("o200k_base", "cl100k_base"):
        longest = max(tokens.encoding(name).token_byte_values(), key=lambda data: len(data.decode("utf-8", "ignore")))
        assert len(longest.decode("utf-8", "ignore")) <= LONGEST_TOKEN


def test_another_encoding_counts_differently():
    text = log_of(50_000)
    made = cut(text, 500, unit="tokens", encoding="cl100k_base")
    assert 495 <= measure(made.text, "tokens", encoding="cl100k_base") <= 500
