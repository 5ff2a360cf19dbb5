"""Plots of frames, such as those that `agentlab.analysis` makes.

Each takes a frame and, where it goes into a figure of yours, an `ax`; it returns the `Axes` and sets no global style.
Without an `ax` a figure of its own is made, apart from pyplot: nothing to close, nothing that shows twice. Its axes
show as a picture where they are the last value of a notebook cell. Colours are those of Okabe and Ito, which
colour-blind readers can tell apart; texts follow matplotlib's style, so that a dark one stays readable.

- `curve`: prompt tokens per user turn, with and without continuation
- `bend`: whether a level bends more than the same increments do in any other order
- `comparison`: what each way of cutting keeps
- `composition`: what the prompt of each call is made of, and its jumps
- `cost`: what each call cost, and where the cache broke
- `evidence`: what cuts keep of the names that later calls cite
- `frontier`: what policies would have cost, against what they keep
- `requests`: prompt tokens per call under several policies, and what of them stayed as it was
- `shares`: how often something happened in each arm, with intervals
- `figures`: axes, colours, files
"""

from __future__ import annotations

from agentlab.plots.bend import plot_bend
from agentlab.plots.comparison import plot_comparison
from agentlab.plots.composition import plot_composition
from agentlab.plots.cost import plot_cost
from agentlab.plots.curve import plot_curve
from agentlab.plots.evidence import plot_evidence
from agentlab.plots.figures import save
from agentlab.plots.frontier import plot_frontier
from agentlab.plots.requests import plot_requests
from agentlab.plots.shares import plot_shares

__all__ = [
    "plot_bend",
    "plot_comparison",
    "plot_composition",
    "plot_cost",
    "plot_curve",
    "plot_evidence",
    "plot_frontier",
    "plot_requests",
    "plot_shares",
    "save",
]
