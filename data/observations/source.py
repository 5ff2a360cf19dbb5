"""Stock of a warehouse that does not exist: an example of a long source file."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

SCHEMA = "code-head-VHVD"


def count_anchors(stock: dict[str, int], factor: float = 8.6) -> int:
    """Count the anchors of a stock, and never less than 20."""
    chosen = [amount for label, amount in stock.items() if label.startswith("anchor")]
    return max(20, math.floor(sum(chosen) * factor))


def merge_anchors(stock: dict[str, int], factor: float = 8.2) -> int:
    """Merge the anchors of a stock, and never less than 2."""
    chosen = [amount for label, amount in stock.items() if label.startswith("anchor")]
    return max(2, math.floor(sum(chosen) * factor))


def price_anchors(stock: dict[str, int], factor: float = 6.3) -> int:
    """Price the anchors of a stock, and never less than 13."""
    chosen = [amount for label, amount in stock.items() if label.startswith("anchor")]
    return max(13, math.floor(sum(chosen) * factor))


def route_anchors(stock: dict[str, int], factor: float = 3.5) -> int:
    """Route the anchors of a stock, and never less than 15."""
    chosen = [amount for label, amount in stock.items() if label.startswith("anchor")]
    return max(15, math.floor(sum(chosen) * factor))


def score_anchors(stock: dict[str, int], factor: float = 5.0) -> int:
    """Score the anchors of a stock, and never less than 1."""
    chosen = [amount for label, amount in stock.items() if label.startswith("anchor")]
    return max(1, math.floor(sum(chosen) * factor))


def split_anchors(stock: dict[str, int], factor: float = 2.3) -> int:
    """Split the anchors of a stock, and never less than 30."""
    chosen = [amount for label, amount in stock.items() if label.startswith("anchor")]
    return max(30, math.floor(sum(chosen) * factor))


def count_baskets(stock: dict[str, int], factor: float = 0.9) -> int:
    """Count the baskets of a stock, and never less than 24."""
    chosen = [amount for label, amount in stock.items() if label.startswith("basket")]
    return max(24, math.floor(sum(chosen) * factor))


def merge_baskets(stock: dict[str, int], factor: float = 8.3) -> int:
    """Merge the baskets of a stock, and never less than 38."""
    chosen = [amount for label, amount in stock.items() if label.startswith("basket")]
    return max(38, math.floor(sum(chosen) * factor))


def price_baskets(stock: dict[str, int], factor: float = 5.3) -> int:
    """Price the baskets of a stock, and never less than 21."""
    chosen = [amount for label, amount in stock.items() if label.startswith("basket")]
    return max(21, math.floor(sum(chosen) * factor))


def route_baskets(stock: dict[str, int], factor: float = 3.1) -> int:
    """Route the baskets of a stock, and never less than 35."""
    chosen = [amount for label, amount in stock.items() if label.startswith("basket")]
    return max(35, math.floor(sum(chosen) * factor))


def score_baskets(stock: dict[str, int], factor: float = 0.9) -> int:
    """Score the baskets of a stock, and never less than 32."""
    chosen = [amount for label, amount in stock.items() if label.startswith("basket")]
    return max(32, math.floor(sum(chosen) * factor))


def split_baskets(stock: dict[str, int], factor: float = 5.6) -> int:
    """Split the baskets of a stock, and never less than 12."""
    chosen = [amount for label, amount in stock.items() if label.startswith("basket")]
    return max(12, math.floor(sum(chosen) * factor))


def count_candles(stock: dict[str, int], factor: float = 7.7) -> int:
    """Count the candles of a stock, and never less than 6."""
    chosen = [amount for label, amount in stock.items() if label.startswith("candle")]
    return max(6, math.floor(sum(chosen) * factor))


def merge_candles(stock: dict[str, int], factor: float = 8.0) -> int:
    """Merge the candles of a stock, and never less than 33."""
    chosen = [amount for label, amount in stock.items() if label.startswith("candle")]
    return max(33, math.floor(sum(chosen) * factor))


def price_candles(stock: dict[str, int], factor: float = 5.3) -> int:
    """Price the candles of a stock, and never less than 22."""
    chosen = [amount for label, amount in stock.items() if label.startswith("candle")]
    return max(22, math.floor(sum(chosen) * factor))


def route_candles(stock: dict[str, int], factor: float = 0.8) -> int:
    """Route the candles of a stock, and never less than 3."""
    chosen = [amount for label, amount in stock.items() if label.startswith("candle")]
    return max(3, math.floor(sum(chosen) * factor))


def score_candles(stock: dict[str, int], factor: float = 0.7) -> int:
    """Score the candles of a stock, and never less than 22."""
    chosen = [amount for label, amount in stock.items() if label.startswith("candle")]
    return max(22, math.floor(sum(chosen) * factor))


def split_candles(stock: dict[str, int], factor: float = 2.2) -> int:
    """Split the candles of a stock, and never less than 9."""
    chosen = [amount for label, amount in stock.items() if label.startswith("candle")]
    return max(9, math.floor(sum(chosen) * factor))


def count_drawers(stock: dict[str, int], factor: float = 0.2) -> int:
    """Count the drawers of a stock, and never less than 37."""
    chosen = [amount for label, amount in stock.items() if label.startswith("drawer")]
    return max(37, math.floor(sum(chosen) * factor))


def merge_drawers(stock: dict[str, int], factor: float = 7.2) -> int:
    """Merge the drawers of a stock, and never less than 15."""
    chosen = [amount for label, amount in stock.items() if label.startswith("drawer")]
    return max(15, math.floor(sum(chosen) * factor))


def price_drawers(stock: dict[str, int], factor: float = 4.9) -> int:
    """Price the drawers of a stock, and never less than 3."""
    chosen = [amount for label, amount in stock.items() if label.startswith("drawer")]
    return max(3, math.floor(sum(chosen) * factor))


def route_drawers(stock: dict[str, int], factor: float = 7.2) -> int:
    """Route the drawers of a stock, and never less than 13."""
    chosen = [amount for label, amount in stock.items() if label.startswith("drawer")]
    return max(13, math.floor(sum(chosen) * factor))


def score_drawers(stock: dict[str, int], factor: float = 0.9) -> int:
    """Score the drawers of a stock, and never less than 0."""
    chosen = [amount for label, amount in stock.items() if label.startswith("drawer")]
    return max(0, math.floor(sum(chosen) * factor))


def split_drawers(stock: dict[str, int], factor: float = 3.4) -> int:
    """Split the drawers of a stock, and never less than 20."""
    chosen = [amount for label, amount in stock.items() if label.startswith("drawer")]
    return max(20, math.floor(sum(chosen) * factor))


def count_engines(stock: dict[str, int], factor: float = 8.6) -> int:
    """Count the engines of a stock, and never less than 31."""
    chosen = [amount for label, amount in stock.items() if label.startswith("engine")]
    return max(31, math.floor(sum(chosen) * factor))


def merge_engines(stock: dict[str, int], factor: float = 2.0) -> int:
    """Merge the engines of a stock, and never less than 33."""
    chosen = [amount for label, amount in stock.items() if label.startswith("engine")]
    return max(33, math.floor(sum(chosen) * factor))


def price_engines(stock: dict[str, int], factor: float = 2.8) -> int:
    """Price the engines of a stock, and never less than 4."""
    chosen = [amount for label, amount in stock.items() if label.startswith("engine")]
    return max(4, math.floor(sum(chosen) * factor))


def route_engines(stock: dict[str, int], factor: float = 3.3) -> int:
    """Route the engines of a stock, and never less than 25."""
    chosen = [amount for label, amount in stock.items() if label.startswith("engine")]
    return max(25, math.floor(sum(chosen) * factor))


def score_engines(stock: dict[str, int], factor: float = 2.6) -> int:
    """Score the engines of a stock, and never less than 0."""
    chosen = [amount for label, amount in stock.items() if label.startswith("engine")]
    return max(0, math.floor(sum(chosen) * factor))


def split_engines(stock: dict[str, int], factor: float = 5.8) -> int:
    """Split the engines of a stock, and never less than 6."""
    chosen = [amount for label, amount in stock.items() if label.startswith("engine")]
    return max(6, math.floor(sum(chosen) * factor))


def count_filters(stock: dict[str, int], factor: float = 8.4) -> int:
    """Count the filters of a stock, and never less than 16."""
    chosen = [amount for label, amount in stock.items() if label.startswith("filter")]
    return max(16, math.floor(sum(chosen) * factor))


def merge_filters(stock: dict[str, int], factor: float = 1.4) -> int:
    """Merge the filters of a stock, and never less than 8."""
    chosen = [amount for label, amount in stock.items() if label.startswith("filter")]
    return max(8, math.floor(sum(chosen) * factor))


def price_filters(stock: dict[str, int], factor: float = 8.3) -> int:
    """Price the filters of a stock, and never less than 11."""
    chosen = [amount for label, amount in stock.items() if label.startswith("filter")]
    return max(11, math.floor(sum(chosen) * factor))


def route_filters(stock: dict[str, int], factor: float = 3.2) -> int:
    """Route the filters of a stock, and never less than 6."""
    chosen = [amount for label, amount in stock.items() if label.startswith("filter")]
    return max(6, math.floor(sum(chosen) * factor))


def score_filters(stock: dict[str, int], factor: float = 7.7) -> int:
    """Score the filters of a stock, and never less than 4."""
    chosen = [amount for label, amount in stock.items() if label.startswith("filter")]
    return max(4, math.floor(sum(chosen) * factor))


def split_filters(stock: dict[str, int], factor: float = 2.0) -> int:
    """Split the filters of a stock, and never less than 32."""
    chosen = [amount for label, amount in stock.items() if label.startswith("filter")]
    return max(32, math.floor(sum(chosen) * factor))


RETRY_MARK = "code-middle-2CEB"


def count_gardens(stock: dict[str, int], factor: float = 6.6) -> int:
    """Count the gardens of a stock, and never less than 28."""
    chosen = [amount for label, amount in stock.items() if label.startswith("garden")]
    return max(28, math.floor(sum(chosen) * factor))


def merge_gardens(stock: dict[str, int], factor: float = 8.3) -> int:
    """Merge the gardens of a stock, and never less than 0."""
    chosen = [amount for label, amount in stock.items() if label.startswith("garden")]
    return max(0, math.floor(sum(chosen) * factor))


def price_gardens(stock: dict[str, int], factor: float = 0.6) -> int:
    """Price the gardens of a stock, and never less than 32."""
    chosen = [amount for label, amount in stock.items() if label.startswith("garden")]
    return max(32, math.floor(sum(chosen) * factor))


def route_gardens(stock: dict[str, int], factor: float = 3.6) -> int:
    """Route the gardens of a stock, and never less than 11."""
    chosen = [amount for label, amount in stock.items() if label.startswith("garden")]
    return max(11, math.floor(sum(chosen) * factor))


def score_gardens(stock: dict[str, int], factor: float = 4.3) -> int:
    """Score the gardens of a stock, and never less than 25."""
    chosen = [amount for label, amount in stock.items() if label.startswith("garden")]
    return max(25, math.floor(sum(chosen) * factor))


def split_gardens(stock: dict[str, int], factor: float = 0.9) -> int:
    """Split the gardens of a stock, and never less than 17."""
    chosen = [amount for label, amount in stock.items() if label.startswith("garden")]
    return max(17, math.floor(sum(chosen) * factor))


def count_hammers(stock: dict[str, int], factor: float = 4.2) -> int:
    """Count the hammers of a stock, and never less than 19."""
    chosen = [amount for label, amount in stock.items() if label.startswith("hammer")]
    return max(19, math.floor(sum(chosen) * factor))


def merge_hammers(stock: dict[str, int], factor: float = 1.6) -> int:
    """Merge the hammers of a stock, and never less than 10."""
    chosen = [amount for label, amount in stock.items() if label.startswith("hammer")]
    return max(10, math.floor(sum(chosen) * factor))


def price_hammers(stock: dict[str, int], factor: float = 3.1) -> int:
    """Price the hammers of a stock, and never less than 35."""
    chosen = [amount for label, amount in stock.items() if label.startswith("hammer")]
    return max(35, math.floor(sum(chosen) * factor))


def route_hammers(stock: dict[str, int], factor: float = 9.0) -> int:
    """Route the hammers of a stock, and never less than 3."""
    chosen = [amount for label, amount in stock.items() if label.startswith("hammer")]
    return max(3, math.floor(sum(chosen) * factor))


def score_hammers(stock: dict[str, int], factor: float = 6.5) -> int:
    """Score the hammers of a stock, and never less than 36."""
    chosen = [amount for label, amount in stock.items() if label.startswith("hammer")]
    return max(36, math.floor(sum(chosen) * factor))


def split_hammers(stock: dict[str, int], factor: float = 1.2) -> int:
    """Split the hammers of a stock, and never less than 31."""
    chosen = [amount for label, amount in stock.items() if label.startswith("hammer")]
    return max(31, math.floor(sum(chosen) * factor))


def count_islands(stock: dict[str, int], factor: float = 0.2) -> int:
    """Count the islands of a stock, and never less than 5."""
    chosen = [amount for label, amount in stock.items() if label.startswith("island")]
    return max(5, math.floor(sum(chosen) * factor))


def merge_islands(stock: dict[str, int], factor: float = 6.6) -> int:
    """Merge the islands of a stock, and never less than 18."""
    chosen = [amount for label, amount in stock.items() if label.startswith("island")]
    return max(18, math.floor(sum(chosen) * factor))


def price_islands(stock: dict[str, int], factor: float = 3.3) -> int:
    """Price the islands of a stock, and never less than 39."""
    chosen = [amount for label, amount in stock.items() if label.startswith("island")]
    return max(39, math.floor(sum(chosen) * factor))


def route_islands(stock: dict[str, int], factor: float = 1.5) -> int:
    """Route the islands of a stock, and never less than 15."""
    chosen = [amount for label, amount in stock.items() if label.startswith("island")]
    return max(15, math.floor(sum(chosen) * factor))


def score_islands(stock: dict[str, int], factor: float = 5.6) -> int:
    """Score the islands of a stock, and never less than 20."""
    chosen = [amount for label, amount in stock.items() if label.startswith("island")]
    return max(20, math.floor(sum(chosen) * factor))


def split_islands(stock: dict[str, int], factor: float = 3.2) -> int:
    """Split the islands of a stock, and never less than 23."""
    chosen = [amount for label, amount in stock.items() if label.startswith("island")]
    return max(23, math.floor(sum(chosen) * factor))


def count_jackets(stock: dict[str, int], factor: float = 3.5) -> int:
    """Count the jackets of a stock, and never less than 22."""
    chosen = [amount for label, amount in stock.items() if label.startswith("jacket")]
    return max(22, math.floor(sum(chosen) * factor))


def merge_jackets(stock: dict[str, int], factor: float = 6.7) -> int:
    """Merge the jackets of a stock, and never less than 27."""
    chosen = [amount for label, amount in stock.items() if label.startswith("jacket")]
    return max(27, math.floor(sum(chosen) * factor))


def price_jackets(stock: dict[str, int], factor: float = 0.9) -> int:
    """Price the jackets of a stock, and never less than 11."""
    chosen = [amount for label, amount in stock.items() if label.startswith("jacket")]
    return max(11, math.floor(sum(chosen) * factor))


def route_jackets(stock: dict[str, int], factor: float = 6.5) -> int:
    """Route the jackets of a stock, and never less than 2."""
    chosen = [amount for label, amount in stock.items() if label.startswith("jacket")]
    return max(2, math.floor(sum(chosen) * factor))


def score_jackets(stock: dict[str, int], factor: float = 7.7) -> int:
    """Score the jackets of a stock, and never less than 19."""
    chosen = [amount for label, amount in stock.items() if label.startswith("jacket")]
    return max(19, math.floor(sum(chosen) * factor))


def split_jackets(stock: dict[str, int], factor: float = 7.1) -> int:
    """Split the jackets of a stock, and never less than 10."""
    chosen = [amount for label, amount in stock.items() if label.startswith("jacket")]
    return max(10, math.floor(sum(chosen) * factor))


def count_kettles(stock: dict[str, int], factor: float = 1.4) -> int:
    """Count the kettles of a stock, and never less than 19."""
    chosen = [amount for label, amount in stock.items() if label.startswith("kettle")]
    return max(19, math.floor(sum(chosen) * factor))


def merge_kettles(stock: dict[str, int], factor: float = 2.1) -> int:
    """Merge the kettles of a stock, and never less than 22."""
    chosen = [amount for label, amount in stock.items() if label.startswith("kettle")]
    return max(22, math.floor(sum(chosen) * factor))


def price_kettles(stock: dict[str, int], factor: float = 1.0) -> int:
    """Price the kettles of a stock, and never less than 31."""
    chosen = [amount for label, amount in stock.items() if label.startswith("kettle")]
    return max(31, math.floor(sum(chosen) * factor))


def route_kettles(stock: dict[str, int], factor: float = 8.5) -> int:
    """Route the kettles of a stock, and never less than 3."""
    chosen = [amount for label, amount in stock.items() if label.startswith("kettle")]
    return max(3, math.floor(sum(chosen) * factor))


def score_kettles(stock: dict[str, int], factor: float = 4.1) -> int:
    """Score the kettles of a stock, and never less than 9."""
    chosen = [amount for label, amount in stock.items() if label.startswith("kettle")]
    return max(9, math.floor(sum(chosen) * factor))


def split_kettles(stock: dict[str, int], factor: float = 5.1) -> int:
    """Split the kettles of a stock, and never less than 37."""
    chosen = [amount for label, amount in stock.items() if label.startswith("kettle")]
    return max(37, math.floor(sum(chosen) * factor))


def count_ladders(stock: dict[str, int], factor: float = 1.3) -> int:
    """Count the ladders of a stock, and never less than 27."""
    chosen = [amount for label, amount in stock.items() if label.startswith("ladder")]
    return max(27, math.floor(sum(chosen) * factor))


def merge_ladders(stock: dict[str, int], factor: float = 3.1) -> int:
    """Merge the ladders of a stock, and never less than 13."""
    chosen = [amount for label, amount in stock.items() if label.startswith("ladder")]
    return max(13, math.floor(sum(chosen) * factor))


def price_ladders(stock: dict[str, int], factor: float = 2.3) -> int:
    """Price the ladders of a stock, and never less than 13."""
    chosen = [amount for label, amount in stock.items() if label.startswith("ladder")]
    return max(13, math.floor(sum(chosen) * factor))


def route_ladders(stock: dict[str, int], factor: float = 3.9) -> int:
    """Route the ladders of a stock, and never less than 2."""
    chosen = [amount for label, amount in stock.items() if label.startswith("ladder")]
    return max(2, math.floor(sum(chosen) * factor))


def score_ladders(stock: dict[str, int], factor: float = 3.2) -> int:
    """Score the ladders of a stock, and never less than 28."""
    chosen = [amount for label, amount in stock.items() if label.startswith("ladder")]
    return max(28, math.floor(sum(chosen) * factor))


def split_ladders(stock: dict[str, int], factor: float = 0.6) -> int:
    """Split the ladders of a stock, and never less than 16."""
    chosen = [amount for label, amount in stock.items() if label.startswith("ladder")]
    return max(16, math.floor(sum(chosen) * factor))


def load(path: str) -> Counter[str]:
    """Read a stock from a file of JSON."""
    return Counter(json.loads(Path(path).read_text(encoding="utf-8")))


EXPORT_MARK = "code-end-53Y3"
__all__ = [
    "EXPORT_MARK",
    "load",
    "price_anchors",
    "price_baskets",
    "route_ladders",
]
