"""What an independent prototype measured, as data; percentages where `%` stands in a name.

Two of its groups of sessions are here in part only: three of seven sessions of one coding agent (`coding`), one of two
of another (`pi`), and five of 21 of a third (`swe`). Rows of these are for orientation.
"""

from __future__ import annotations

USAGE = {
    "pi/large-session.jsonl": (439, 177_604, 1.47, 91.0, 0.204, 37, 4, 49),
    "claude-code/coding-1.jsonl": (201, 154_565, 1.63, 95.3, 0.154, 6, 5, 21),
    "claude-code/coding-3.jsonl": (90, 100_349, 1.51, 94.6, 0.162, 2, 1, 15),
    "claude-code/coding-4.jsonl": (271, 155_283, 1.59, 96.4, 0.142, 6, 0, 16),
    "claude-code/tool-calls.jsonl": (54, 86_733, 1.43, 89.0, 0.227, 5, 5, 40),
}
USAGE_COLUMNS = (
    ("calls", 0),
    ("largest prompt", 0),
    ("cumulative exponent", 0.01),
    ("hit rate %", 0.1),
    ("effective multiplier", 0.001),
    ("breaks", 0),
    ("breaks after expiry", 0),
    ("% of input lost to breaks", 1),
)
"""What each column is, and how far off still counts as the same."""

ONCE = {
    "claude-code/tool-calls.jsonl": (14.48, 2.98),
    "claude-code/coding-4.jsonl": (39.7, 24.8),
    "claude-code/coding-1.jsonl": (27.8, 15.4),
}
"""Millions of tokens read from the cache: of all lines, and of each message once."""

OUTPUT = {"claude-code/coding-1.jsonl": (7_106, 17_274)}
"""Output tokens with the first line of a message that is in several, and with the largest count."""

TREND = {"largest |tau|": 0.23, "smallest % by a tenth of the calls": 24, "largest % by a tenth of the calls": 61}
"""Of 18 segments of at least 25 increments, of all sessions that had usage."""
FEWEST_INCREMENTS = 25

BREAK_EVEN = {"5 minutes": 11.5, "1 hour": 19, "read at 0.1": 9, "read at 0.5": 1}

REPLAY = {
    "cap 2,000": ((64.4, 64.5), (67.0, 67.2)),
    "cap 8,000": ((78.8, 78.9), (86.9, 87.2)),
    "cap 16,000": ((85.5, 85.5), (95.4, 95.6)),
    "sliding, last 5": ((45.3, 60.0), (47.8, 85.9)),
    "sliding, last 10": ((46.3, 75.6), (50.4, 125.0)),
    "batched 5, every 10": ((46.1, 50.9), (50.2, 61.1)),
    "batched 5, every 25": ((47.9, 51.9), (54.0, 62.1)),
    "clear at 100k, keep 3": ((55.9, 60.7), (81.0, 84.8)),
    "clear at 60k, keep 3": ((47.3, 53.8), (61.8, 70.6)),
}
"""Tokens and cost in % of raw: of pi, of coding."""
REPLAY_TAU = {"sliding, last 5": (95.5, 119.1)}

SHAPES = ("head", "tail", "middle", "80/20", "4 slices")
EVIDENCE = {
    "tau": (
        550,
        {
            500: (54.7, 86.5, 72.2, 78.4, 80.4, 45),
            1000: (88.7, 99.8, 99.5, 99.6, 100, 16),
            2000: (100, 99.8, 100, 100, 100, 10),
            4000: (100, 100, 100, 100, 100, 4),
        },
    ),
    "swe": (
        30,
        {
            500: (23.3, 33.3, 30.0, 33.3, 33.3, 76),
            1000: (80.0, 33.3, 36.7, 80.0, 36.7, 62),
            2000: (83.3, 36.7, 86.7, 86.7, 43.3, 45),
            4000: (96.7, 93.3, 86.7, 86.7, 86.7, 23),
        },
    ),
    "coding": (
        642,
        {
            500: (40.5, 30.2, 31.5, 38.8, 37.4, 81),
            1000: (59.3, 52.0, 50.6, 57.8, 53.3, 69),
            2000: (73.4, 71.0, 74.3, 73.1, 71.7, 54),
            4000: (85.8, 85.5, 87.5, 84.9, 86.9, 37),
            16000: (98.3, 98.0, 99.2, 99.7, 99.8, 6),
        },
    ),
    "pi": (
        1206,
        {
            500: (23.5, 24.9, 22.4, 23.2, 25.2, 81),
            1000: (37.1, 38.1, 35.2, 35.2, 38.4, 70),
            2000: (54.7, 55.8, 53.1, 53.1, 56.3, 58),
            4000: (68.7, 66.7, 68.6, 68.2, 69.7, 44),
            16000: (85.7, 83.5, 82.8, 85.9, 87.2, 23),
        },
    ),
}
"""Names, and by limit the % of them that each of `SHAPES` keeps, then the % of characters that are removed."""
TAU_CLUSTERS = 39
AT_RISK_KEPT = {500: (54, 86, 72), 1000: (21, 99, 96)}
"""Of tau, % kept of the names all of whose sources are over the limit: head, tail, middle."""

DIFFERENCES = {
    ("tau", "middle", "head", 500): (17.5, 0.1, 39.5),
    ("tau", "middle", "head", 1000): (10.7, 3.2, 21.4),
    ("tau", "middle", "tail", 500): (-14.4, -21.0, -7.1),
    ("coding", "middle", "head", 500): (-9.0, -12.1, -6.2),
    ("coding", "middle", "head", 1000): (-8.7, -15.2, -3.8),
    ("coding", "middle", "head", 2000): (0.9, -2.2, 4.2),
    ("coding", "middle", "head", 4000): (1.7, -4.4, 6.0),
}

BY_TOOL = {
    "get_user_details": (239, 25, 94, 79),
    "get_reservation_details": (237, 65, 80, 60),
    "search_direct_flight": (31, 77, 52, 52),
}
"""Of tau at 500: names, and % kept by head, tail and middle."""

POSITIONS = {
    "tau": (26, 4, 8, 15, 6, 9, 4, 3, 7, 17),
    "coding": (27, 13, 10, 10, 8, 9, 7, 6, 5, 5),
    "pi": (17, 14, 11, 10, 9, 10, 8, 6, 8, 8),
    "swe": (10, 23, 22, 16, 8, 2, 4, 4, 4, 8),
}
CHANCE = {"tau": 5.9, "coding": 16.3, "pi": 31.9}
EVERY_USE = {("tau", 500): 72.7, ("coding", 2000): 89.0}
"""% kept in the middle cut of all uses of a name that an observation has, wherever else it stands."""

MASKED = {
    ("tau", 5): 75.5,
    ("tau", 10): 93.1,
    ("coding", 5): 42.1,
    ("coding", 10): 51.1,
    ("coding", 20): 76.5,
    ("pi", 5): 82.4,
    ("pi", 10): 91.6,
}
SAME_SAVING = {
    ("coding", "cap 1,000"): (52, 51),
    ("coding", "sliding, last 20"): (57, 77),
    ("pi", "cap 500"): (53, 22),
    ("pi", "sliding, last 10"): (59, 92),
}
"""% of the prompts' characters that are saved, and % of the names that are kept."""

ANCHORS = {
    "pi": (3_225, 91, {500: (39, 42), 2000: (76, 77), 4000: (91, 92), 16000: (96, 98)}),
    "coding": (1_241, 88, {500: (34, 40), 2000: (74, 76), 4000: (90, 92), 16000: (97, 100)}),
}
"""Lines, % of them that an observation has, and by limit between which % the shapes keep."""

SLOPES, INTERCEPTS, ERRORS = (1.45, 2.35), (12_000, 98_000), (0.4, 2.8)
TOOL_CALLS_FIT = (0.70, 17)
