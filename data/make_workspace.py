"""Write the folder over which the sessions in `data/sessions/` were recorded: a small project that does not exist.

    python data/make_workspace.py FOLDER

It holds the files of `data/observations/` and, made here by rules and a fixed seed, a package of modules that import
one another, their tests, a handbook and a server's log. It is the same on every machine and in every version of Python.
"""

from __future__ import annotations

import sys
from pathlib import Path

from make_observations import CITIES, SUBJECTS, VERBS, Draw, build

SEED = 20_260_513
DONE = dict(zip(VERBS, ["counted", "merged", "priced", "routed", "scored", "split"], strict=True))
LEVELS = ["INFO", "INFO", "INFO", "INFO", "DEBUG", "DEBUG", "WARNING"]


def code_of(subject: str) -> str:
    """The code of a subject's shelf, such as `SH-4f1c`, which only its own module and the handbook name."""
    return f"SH-{Draw(f'{SEED}/{subject}/shelf').hexadecimal(4)}"


def module(subject: str, draw: Draw) -> str:
    """A module on one subject: imports first, a class and its functions, a mark to do, exports last."""
    others = sorted({draw.one(SUBJECTS) for _ in range(3)} - {subject})
    title = subject.capitalize()
    lines = [
        f'"""{title}s of the warehouse: how they are stored, counted and sent."""',
        "",
        "from __future__ import annotations",
        "",
        "import math",
        *(f"from warehouse.{other}s import price_{other}s" for other in others),
        "",
        f'SHELF = "{code_of(subject)}"',
        f"LEAST = {1 + draw.below(40)}",
        "",
        "",
        f"class {title}Shelf:",
        f'    """Holds {subject}s, and knows how many there are."""',
        "",
        "    def __init__(self) -> None:",
        "        self.amounts: dict[str, int] = {}",
        "",
        "    def put(self, label: str, pieces: int) -> None:",
        '        """Put pieces on the shelf."""',
        "        self.amounts[label] = self.amounts.get(label, 0) + pieces",
        "",
    ]
    names = [f"{verb}_{subject}s" for verb in VERBS]
    most = 1 + draw.below(7)  # so that modules differ in length
    names += [f"{verb}_{draw.one(CITIES).lower()}_{subject}s" for verb in VERBS for _ in range(draw.below(most))]
    for number, name in enumerate(dict.fromkeys(names)):
        other = others[number % len(others)]
        what = f"{name.partition('_')[0].capitalize()} what {draw.one(CITIES)} has"
        lines += [
            "",
            f"def {name}(stock: dict[str, int], factor: float = {(2 + draw.below(90)) / 10}) -> int:",
            f'    """{what}, and at least {draw.below(40)}."""',
            f"    chosen = [pieces for label, pieces in stock.items() if label.startswith({subject[:3]!r})]",
            *(["    # TODO: round half up, as the ledger does"] if draw.below(9) == 0 else []),
            f"    return max(LEAST, math.ceil(factor * sum(chosen)) + price_{other}s(stock) % {2 + draw.below(30)})",
            "",
        ]
    exported = ["SHELF", f"{title}Shelf", *names[:4]]
    return "\n".join([*lines, "", "__all__ = [", *(f'    "{name}",' for name in exported), "]"]) + "\n"


def test_of(subject: str, draw: Draw) -> str:
    """Tests of a module."""
    lines = [f'"""The {subject}s."""', "", f"from warehouse import {subject}s", ""]
    for verb in VERBS:
        stock = {f"{subject[:3]}-{draw.hexadecimal(4)}": 1 + draw.below(60) for _ in range(3)}
        lines += [
            "",
            f"def test_{verb}():",
            f"    stock = {stock}",
            f"    assert {subject}s.{verb}_{subject}s(stock) >= {subject}s.LEAST",
            "",
        ]
    return "\n".join(lines) + "\n"


def handbook(draw: Draw) -> str:
    """What people who work there read."""
    lines = ["# Handbook", "", "Each article has a shelf, a module of its name, and rules.", ""]
    for subject in SUBJECTS:
        lines += [
            f"## {subject.capitalize()}s",
            "",
            f"They stand on shelf {code_of(subject)}, and warehouse/{subject}s.py is their module.",
            f"{draw.one(CITIES)} gets them first, in boxes of {2 + draw.below(20)}.",
            f"{draw.one(CITIES)} is told a day before.",
            f"What comes back is {DONE[draw.one(VERBS)]} again at {draw.one(CITIES)} before it is sold.",
            "",
        ]
    return "\n".join(lines)


def server_log(draw: Draw) -> str:
    """A server's log, in which a few requests fail."""
    lines = []
    for number in range(240):
        subject, verb = draw.one(SUBJECTS), draw.one(VERBS)
        level = "ERROR" if number in (61, 62, 154) else draw.one(LEVELS)
        said = f"no shelf {code_of(subject)}" if level == "ERROR" else f"{draw.below(900)} ms"
        at = f"{8 + number // 60:02d}:{number % 60:02d}:{draw.below(60):02d}"
        lines.append(f"{at} {level:<7} request req-{draw.hexadecimal(8)} {verb}_{subject}s {said}")
    return "\n".join(lines) + "\n"


def files() -> dict[str, str]:
    """All files by path, with the text of each."""
    texts = {name: text for name, text in build().items() if name != "planted.json"}
    for subject in SUBJECTS:
        texts[f"warehouse/{subject}s.py"] = module(subject, Draw(f"{SEED}/{subject}"))
        texts[f"tests/test_{subject}s.py"] = test_of(subject, Draw(f"{SEED}/{subject}/tests"))
    texts["docs/handbook.md"] = handbook(Draw(f"{SEED}/handbook"))
    texts["logs/server.log"] = server_log(Draw(f"{SEED}/server"))
    return texts


def write(folder: Path) -> None:
    """Write the folder."""
    for name, text in files().items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("name the folder to write: python data/make_workspace.py FOLDER")
    write(Path(sys.argv[1]))
