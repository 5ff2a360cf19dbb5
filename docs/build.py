"""Build the site: pages of this folder, the notebooks with their outputs, the exercises, and a reference by layer.

    python docs/build.py                builds into build/docs/html and checks what was built
    python docs/build.py --out DIR      builds somewhere else

What the pages say of the path, the presets, the formats and the layers is read from where it is kept, so that it cannot
go stale. A warning of Sphinx, a link that leads nowhere, and a script, style or font from elsewhere are errors.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import re
import shutil
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from types import ModuleType

DOCS: Final = Path(__file__).resolve().parent
ROOT: Final = DOCS.parent
BY_MODULE: Final = {"providers"}
"""Packages that export little, and whose modules are imported by name."""

PATH_ROW = re.compile(r"^# (\|.*\|)$", re.MULTILINE)
TARGET = re.compile(r"\[([^]\n]+)\]\(([^)\s]+\.ipynb)\)")


def assemble(source: Path) -> None:
    """Lay out what Sphinx reads: pages, notebooks, exercises, and the pages that are written from data."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(DOCS, source, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for part in ("notebooks", "exercises/student"):
        (source / part).mkdir(parents=True)
        for notebook in sorted((ROOT / part).glob("*.ipynb")):
            text = linked(notebook.read_text(encoding="utf-8"), ROOT / part)
            (source / part / notebook.name).write_text(text, encoding="utf-8")
    for name in ("CONTRIBUTING.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, source / name.lower())
    filled = {"path": path_table(), "policies": policies_list(), "formats": formats_table(), "layers": layers_list()}
    for page in source.glob("*.md"):
        page.write_text(fill(page.read_text(encoding="utf-8"), filled), encoding="utf-8")
    (source / "api").mkdir()
    for name in (name for layer in layers() for name in layer):
        (source / "api" / f"{name}.md").write_text(api_page(name), encoding="utf-8")
    listed = "\n".join(f"{path.stem}" for path in sorted((source / "notebooks").glob("*.ipynb")))
    (source / "notebooks" / "index.md").write_text(toctree("Notebooks", listed.splitlines()), encoding="utf-8")
    exercises = [path.stem for path in sorted((source / "exercises" / "student").glob("*.ipynb"))]
    (source / "exercises" / "student" / "index.md").write_text(toctree("The exercises", exercises), encoding="utf-8")


def fill(text: str, filled: Mapping[str, str]) -> str:
    """Put each text in the place of its `<!-- name -->`.

    >>> fill("a <!-- b --> c", {"b": "B"})
    'a B c'
    """
    for name, value in filled.items():
        text = text.replace(f"<!-- {name} -->", value)
    return text


def toctree(title: str, names: Iterable[str]) -> str:
    """A page that lists others."""
    return "\n".join([f"# {title}", "", "```{toctree}", ":maxdepth: 1", "", *names, "```", ""])


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    r"""A table in Markdown.

    >>> print(table(["a"], [["1|2"]]))
    | a |
    |---|
    | 1\|2 |
    """
    lines = [heads, ["---"] * len(heads), *([cell.replace("|", "\\|") for cell in row] for row in rows)]
    shown = ["| " + " | ".join(line) + " |" for line in lines]
    shown[1] = "|" + "---|" * len(heads)
    return "\n".join(shown)


def path_table() -> str:
    """The path of the first notebook, with links from the root of the site; a notebook that is missing has none."""
    text = (ROOT / "notebooks" / "source" / "00_start_here.py").read_text(encoding="utf-8")
    rows = linked("\n".join(PATH_ROW.findall(text)), ROOT / "notebooks")
    return TARGET.sub(_from_the_root, rows)


def linked(text: str, place: Path) -> str:
    """A text of a folder without its links to notebooks that are not there (yet); their words stay."""
    return TARGET.sub(lambda found: found[0] if (place / found[2]).exists() else found[1], text)


def _from_the_root(found: re.Match[str]) -> str:
    return f"[{found[1]}]({(ROOT / 'notebooks' / found[2]).resolve().relative_to(ROOT).as_posix()})"


def policies_list() -> str:
    """Each preset with its source, its date, and what it cannot express."""
    import msgspec

    lines = []
    for file in sorted((ROOT / "agentlab" / "policies").glob("*.json")):
        preset = msgspec.json.decode(file.read_bytes())
        told = [preset.get("source", ""), preset.get("date", "")]
        lines += [f"### {file.stem}", "", f"From: {', '.join(filter(None, told))}.", ""]
        if omits := preset.get("omits", ()):
            lines += ["Of its source it leaves out:", "", *(f"- {each}" for each in omits), ""]
    return "\n".join(lines)


def formats_table() -> str:
    """Each format of logs with what a file of it looks like."""
    from agentlab.analysis import IMPORTERS

    return table(["format", "recognised by"], ([f"`{name}`", each.EXPECTS] for name, each in IMPORTERS.items()))


def layers() -> list[list[str]]:
    """The layers of the package, from the top, as import-linter holds them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [
        [name.strip() for name in layer.split("|")]
        for contract in settings["tool"]["importlinter"]["contracts"]
        for layer in contract["layers"]
    ]


def layers_list() -> str:
    """The layers with the first sentence of each module, and the pages of the reference."""
    lines = []
    for number, names in enumerate(layers(), 1):
        told = [
            f"[{name}](api/{name}.md): {first_sentence(importlib.import_module(f'agentlab.{name}'))}" for name in names
        ]
        lines.append(f"{number}. " + "\\\n    ".join(told))
    names = [f"api/{name}" for layer in layers() for name in layer]
    return "\n".join([*lines, "", "```{toctree}", ":hidden:", "", *names, "```"])


def first_sentence(module: ModuleType) -> str:
    """What a module's docstring begins with."""
    return (module.__doc__ or "").strip().partition("\n\n")[0].replace("\n", " ")


def api_page(name: str) -> str:
    """The page of a module, or of a package: what it exports, else the public modules in it."""
    full = f"agentlab.{name}"
    module = importlib.import_module(full)
    inside = pkgutil.iter_modules(getattr(module, "__path__", ()), f"{full}.")
    modules = [each.name for each in inside if not each.name.rpartition(".")[2].startswith("_")]
    if not modules:
        return f"# {name}\n\n{automodule(full, ':members:', ':ignore-module-all:')}"
    if hasattr(module, "__all__") and name not in BY_MODULE:
        return f"# {name}\n\n{automodule(full, ':members:', f':exclude-members: {lent(module)}')}"
    options = [] if name == "cli" else [":members:", ":ignore-module-all:"]
    parts = [f"# {name}", automodule(full)]
    parts += [f"## {each.removeprefix('agentlab.')}\n\n{automodule(each, *options)}" for each in modules]
    return "\n\n".join(parts)


def lent(package: ModuleType) -> str:
    """What a package exports and another one documents."""
    homes = {name: getattr(getattr(package, name), "__module__", None) for name in package.__all__}
    return ", ".join(name for name, home in homes.items() if home and not home.startswith(package.__name__))


def automodule(full: str, *options: str) -> str:
    """The directive that documents a module."""
    return "\n".join(["```{eval-rst}", f".. automodule:: {full}", *(f"   {option}" for option in options), "```"])


class _Links(HTMLParser):
    """Collects what a page links to, loads, and can be linked to."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {value for name in ("id", "name") if (value := given.get(name))}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")
        elif tag in {"script", "img", "source", "iframe"} and given.get("src"):
            self.loads.append(given["src"] or "")
        elif tag == "link" and given.get("rel") in {"stylesheet", "icon", "preload", "preconnect"}:
            self.loads.append(given.get("href") or "")


def broken(site: Path) -> Iterator[str]:
    """What is wrong with a built site: links that lead nowhere, and what is loaded from elsewhere."""
    pages = {page: _links_of(page) for page in sorted(site.rglob("*.html"))}
    for page, found in pages.items():
        where = page.relative_to(site)
        for link in (*found.links, *found.loads):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in found.loads and parts.scheme != "data":
                    yield f"{where} loads {link}"
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{where} links to {link}, which is not there"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                yield f"{where} links to {link}, and there is no such place in it"
    for style in sorted(site.rglob("*.css")):
        for address in re.findall(
            r"url\(['\"]?(https?:[^)'\"]+)|@import ['\"](https?:[^'\"]+)", style.read_text("utf-8")
        ):
            yield f"{style.relative_to(site)} loads {''.join(address)}"


def _links_of(page: Path) -> _Links:
    found = _Links()
    found.feed(page.read_text(encoding="utf-8"))
    return found


def main(arguments: list[str] | None = None) -> int:
    """Build and check; returns the exit code."""
    from sphinx.cmd.build import build_main

    parser = argparse.ArgumentParser(description="Build the site.")
    parser.add_argument("--out", metavar="DIR", type=Path, default=ROOT / "build" / "docs", help="(build/docs)")
    given = parser.parse_args(arguments)
    source, site = given.out / "source", given.out / "html"
    assemble(source)
    shutil.rmtree(site, ignore_errors=True)
    settings = ["-b", "html", "-q", "-W", "--keep-going", "-j", "2", "-c", str(DOCS), "-d", str(given.out / "doctrees")]
    if code := build_main([*settings, str(source), str(site)]):
        return code
    found = list(broken(site))
    for line in found:
        sys.stderr.write(f"{line}\n")
    if not found:
        sys.stdout.write(f"{len(list(site.rglob('*.html')))} pages, no broken link: {site / 'index.html'}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
