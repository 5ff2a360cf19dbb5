"""Session analysis: where the tokens went, and what another cut would have kept.

The steps, from a log on disk to frames:

- `importers`: logs of several formats, damage reported
- `session`: messages and model calls, whatever wrote them
- `sizes`: tokens of each message, counted once
- `sums`, `calibration`: sums of what was sent, and from visible text to recorded prompt tokens
- `parts`: the prompt of each call, split into new and re-sent
- `facts`, `grain_columns`, `grains`: frames per session, turn, call and message, of many sessions
- `reading`: the same straight from files
- `executor`: mapping over files here, on all cores or on a cluster
- `curve`: a row per turn, a row per call, a few sentences
- `composition`: the same prompts by kind of message
- `trend`: powers, trends and bends of plain numbers
- `growth`: linear or not, and why; the largest jumps
- `key_lines`, `citations`, `anchors`: what in an observation may matter later
- `shown`: what a policy shows of observations
- `evidence`: the share of cited names that a cut still shows
- `simulation`: what each call would have been sent under another policy
- `prefix_cache`: what a provider's cache makes of requests, and when an edit pays
- `priced`, `breaks`, `cost`: calls with their prices, where the cache broke, what a session cost
- `settings`, `replayed`, `replay`: what policies would have sent, cost and lost, as a range
- `compare`: policies on a session's own observations

Importing this loads neither pandas nor a tokenizer.
"""

from __future__ import annotations

from agentlab.analysis.compare import COMPARE_COLUMNS, compare, compare_cuts
from agentlab.analysis.composition import composition, composition_by_call
from agentlab.analysis.cost import bill, cache_breaks, cost
from agentlab.analysis.curve import CALL_COLUMNS, CURVE_COLUMNS, calls_frame, curve, summary
from agentlab.analysis.evidence import evidence
from agentlab.analysis.frames import Column, describe
from agentlab.analysis.grain_columns import GRAINS
from agentlab.analysis.grains import grains
from agentlab.analysis.growth import growth, jumps, segments_frame
from agentlab.analysis.importers import IMPORTERS, load, read_messages
from agentlab.analysis.reading import read_grains
from agentlab.analysis.replay import replay
from agentlab.analysis.session import Call, Observed, Record, Session

__all__ = [
    "CALL_COLUMNS",
    "COMPARE_COLUMNS",
    "CURVE_COLUMNS",
    "GRAINS",
    "IMPORTERS",
    "Call",
    "Column",
    "Observed",
    "Record",
    "Session",
    "bill",
    "cache_breaks",
    "calls_frame",
    "compare",
    "compare_cuts",
    "composition",
    "composition_by_call",
    "cost",
    "curve",
    "describe",
    "evidence",
    "grains",
    "growth",
    "jumps",
    "load",
    "read_grains",
    "read_messages",
    "replay",
    "segments_frame",
    "summary",
]
