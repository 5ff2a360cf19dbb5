"""Write `data/observations/`: five long tool results with facts planted at the head, in the middle and at the end.

    python data/make_observations.py            writes the files
    python data/make_observations.py --check    changes nothing; exit code 1 where a file is not what would be written

The files are synthetic and the same at every run. `planted.json` says where the facts are: whoever cuts a file can
look up which of its facts a cut keeps.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "observations"
SEED = 20_260_513
PLACES = ("head", "middle", "end")
CODE_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # none that can be taken for another

Facts = dict[str, str]


class Draw:
    """Random choices that are the same in every version of Python: only `random()` is promised to be."""

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random

    def below(self, limit: int) -> int:
        """A number from 0 to `limit` - 1."""
        return int(self._random() * limit)

    def one(self, choices: list[str] | str) -> str:
        """One of several texts."""
        return choices[self.below(len(choices))]

    def hexadecimal(self, digits: int) -> str:
        """A number in hexadecimal digits."""
        return "".join(self.one("0123456789abcdef") for _ in range(digits))


def facts_of(name: str) -> Facts:
    """The three codes that are planted in a file, such as `code-head-7Q2X`."""
    draw = Draw(f"{SEED}/{name}/facts")
    return {place: f"code-{place}-{''.join(draw.one(CODE_LETTERS) for _ in range(4))}" for place in PLACES}


SUBJECTS = [
    "anchor",
    "basket",
    "candle",
    "drawer",
    "engine",
    "filter",
    "garden",
    "hammer",
    "island",
    "jacket",
    "kettle",
    "ladder",
]
VERBS = ["count", "merge", "price", "route", "score", "split"]
CITIES = ["Aarhus", "Bergen", "Cork", "Dresden", "Espoo", "Faro", "Ghent", "Haarlem", "Innsbruck", "Jena"]


def source_file(facts: Facts, draw: Draw) -> str:
    """A Python module: imports at the top, the list of what it exports at the bottom."""
    lines = [
        '"""Stock of a warehouse that does not exist: an example of a long source file."""',
        "",
        "from __future__ import annotations",
        "",
        "import json",
        "import math",
        "from collections import Counter",
        "from pathlib import Path",
        "",
        f'SCHEMA = "{facts["head"]}"',
        "",
    ]
    names = [f"{verb}_{subject}s" for subject in SUBJECTS for verb in VERBS]
    for number, name in enumerate(names):
        if number == len(names) // 2:
            lines += ["", f'RETRY_MARK = "{facts["middle"]}"', ""]
        verb, _, subject = name.partition("_")
        weight, floor = 2 + draw.below(90), draw.below(40)
        lines += [
            "",
            f"def {name}(stock: dict[str, int], factor: float = {weight / 10}) -> int:",
            f'    """{verb.capitalize()} the {subject} of a stock, and never less than {floor}."""',
            f'    chosen = [amount for label, amount in stock.items() if label.startswith("{subject[:-1]}")]',
            f"    return max({floor}, math.floor(sum(chosen) * factor))",
            "",
        ]
    lines += [
        "",
        "def load(path: str) -> Counter[str]:",
        '    """Read a stock from a file of JSON."""',
        '    return Counter(json.loads(Path(path).read_text(encoding="utf-8")))',
        "",
        "",
        f'EXPORT_MARK = "{facts["end"]}"',
        "__all__ = [",
        *(f'    "{name}",' for name in ["EXPORT_MARK", "load", "price_anchors", "price_baskets", "route_ladders"]),
        "]",
    ]
    return "\n".join(lines) + "\n"


def shell_output(facts: Facts, draw: Draw) -> str:
    """A build that fails: the command first, the error in the middle, the exit code last."""
    lines = ["$ make -k -j4 all", f"make: building with toolchain {facts['head']}"]
    steps = 410
    for step in range(1, steps + 1):
        unit = f"{draw.one(SUBJECTS)}_{draw.one(VERBS)}_{draw.hexadecimal(4)}"
        lines.append(
            f"[{step:3d}/{steps}] cc -O2 -Wall -Iinclude -c src/{unit}.c -o build/{unit}.o ({draw.below(900) + 40} ms)"
        )
        if step == steps // 2:
            lines += [
                "src/engine_route.c: In function 'route_engine':",
                f"src/engine_route.c:218:17: error: 'struct plan' has no member named 'depth' [{facts['middle']}]",
                "  218 |     return plan->depth + 1;",
                "      |                 ^~",
                "make: *** [Makefile:41: build/engine_route.o] Error 1",
            ]
    lines += ["make: Target 'all' not remade because of errors.", f"make: log kept as {facts['end']}", "exit code: 2"]
    return "\n".join(lines) + "\n"


def http_response(facts: Facts, draw: Draw) -> str:
    """A response with its status and headers, a page of HTML, and the page's closing fragment."""
    rows = []
    for number in range(1, 241):
        place = draw.one(CITIES)
        mark = f' data-mark="{facts["middle"]}"' if number == 120 else ""
        rows.append(
            f"      <tr{mark}><td>{number}</td><td>{draw.one(SUBJECTS)}</td><td>{place}</td>"
            f"<td>{draw.below(500)}</td><td>{draw.below(9_000) / 100:.2f}</td></tr>"
        )
    body = [
        "<!DOCTYPE html>",
        '<html lang="en">',
        "  <head><title>Deliveries</title></head>",
        "  <body>",
        "    <h1>Deliveries</h1>",
        "    <table>",
        "      <tr><th>No.</th><th>Article</th><th>City</th><th>Pieces</th><th>Price</th></tr>",
        *rows,
        "    </table>",
        f'    <footer>Next page: <a href="/deliveries?after={facts["end"]}">more</a></footer>',
        "  </body>",
        "</html>",
    ]
    text = "\n".join(body) + "\n"
    headers = [
        "HTTP/1.1 200 OK",
        "Date: Wed, 13 May 2026 15:40:22 GMT",
        "Content-Type: text/html; charset=utf-8",
        f"Content-Length: {len(text.encode())}",
        f'ETag: "{facts["head"]}"',
        "Cache-Control: max-age=60",
    ]
    return "\n".join(headers) + "\n\n" + text


def json_list(facts: Facts, draw: Draw) -> str:
    """A list of orders, one per line."""
    total = 240
    special = {0: facts["head"], total // 2: facts["middle"], total - 1: facts["end"]}
    orders = [
        {
            "id": f"ord-{draw.hexadecimal(8)}",
            "article": draw.one(SUBJECTS),
            "city": draw.one(CITIES),
            "pieces": 1 + draw.below(40),
            "price": round(draw.below(20_000) / 100, 2),
            "reference": special.get(number, f"ref-{draw.hexadecimal(6)}"),
        }
        for number in range(total)
    ]
    return "[\n" + ",\n".join(json.dumps(order) for order in orders) + "\n]\n"


YAML_LINES = 5_000


def yaml_file(facts: Facts, draw: Draw) -> str:
    """A configuration of exactly 5,000 lines, about 200 KB."""
    head = ["# Settings of services that do not exist", "version: 3", f"release: {facts['head']}", "services:"]
    end = ["footer:", f"  checksum: {facts['end']}", "  complete: true"]
    lines = list(head)
    service = 0
    while len(lines) + 10 <= YAML_LINES - len(end):
        service += 1
        middle = service == 250
        lines += [
            f"  {draw.one(SUBJECTS)}-{draw.one(VERBS)}-{service:04d}:",
            f"    image: registry.example/{draw.one(SUBJECTS)}/{draw.one(VERBS)}:{draw.below(9)}.{draw.below(20)}",
            f"    digest: sha256-{draw.hexadecimal(64)}",
            f"    region: {draw.one(CITIES).lower()}",
            f"    replicas: {1 + draw.below(9)}",
            f"    memory_megabytes: {64 * (1 + draw.below(32))}",
            f"    reference: {facts['middle'] if middle else 'ref-' + draw.hexadecimal(12)}",
            "    health: {path: /health, every: 30s, timeout: 5s, failures: 3}",
            f"    depends_on: [{draw.one(SUBJECTS)}-store, {draw.one(SUBJECTS)}-queue]",
            f"    owner: team-{draw.one(SUBJECTS)}@{draw.one(CITIES).lower()}.example",
        ]
    lines += [f"  # reserved line {number}" for number in range(1, YAML_LINES - len(lines) - len(end) + 1)]
    return "\n".join(lines + end) + "\n"


FILES = {
    "source.py": (source_file, "a source file: imports first, exports last"),
    "build.log": (shell_output, "shell output: the command first, the error in the middle, the exit code last"),
    "response.http": (http_response, "an HTTP response: status and headers first, the closing fragment last"),
    "orders.json": (json_list, "a JSON list of 240 orders"),
    "services.yaml": (yaml_file, "a configuration of 5,000 lines"),
}


def where(text: str, code: str) -> dict[str, str | int]:
    """A fact with its line, from 1, and its first character, from 0."""
    at = text.index(code)
    return {"code": code, "line": text.count("\n", 0, at) + 1, "character": at}


def build() -> dict[str, str]:
    """All files, by name, with the text of each."""
    texts: dict[str, str] = {}
    planted: dict[str, dict[str, object]] = {}
    for name, (make, what) in FILES.items():
        facts = facts_of(name)
        text = texts[name] = make(facts, Draw(f"{SEED}/{name}"))
        size = {"what": what, "lines": text.count("\n"), "characters": len(text)}
        planted[name] = {**size, **{place: where(text, code) for place, code in facts.items()}}
    texts["planted.json"] = json.dumps(planted, indent=2) + "\n"
    return texts


def differing(folder: Path) -> list[str]:
    """Names of the files that are missing, or not what would be written."""
    return [
        name
        for name, text in build().items()
        if not (folder / name).is_file() or (folder / name).read_bytes() != text.encode()
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Write data/observations/.")
    parser.add_argument("--check", action="store_true", help="write nothing, say which files differ")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the files are (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.check:
        wrong = differing(options.folder)
        for name in wrong:
            print(f"{options.folder / name} is not what the script writes: run python data/make_observations.py")
        return 1 if wrong else 0
    options.folder.mkdir(parents=True, exist_ok=True)
    for name, text in build().items():
        (options.folder / name).write_bytes(text.encode())
        print(f"{options.folder / name}: {len(text)} characters, {text.count(chr(10))} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
