"""A page as text: HTML without its markup, other text as it is.

The standard library's parser reads it piece by piece, in one pass. A library that builds a tree first was measured on
unclosed paragraphs: 31 s for 220 kB, growing with the square; the time of a page must have a limit.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCKS = frozenset(
    [
        *("address", "article", "aside", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption", "figure", "footer"),
        *("form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "option", "p", "pre"),
        *("section", "table", "td", "th", "tr", "ul"),
    ]
)
DROPPED = frozenset(["script", "style", "noscript", "template", "svg", "iframe", "object"])
PIECE = 32_768
_TEXT = re.compile(r"text/|application/(?:[\w.-]+\+)?(?:json|xml|javascript|yaml|x-ndjson)\b")
_HTML = ("text/html", "application/xhtml+xml")
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}charset=[\"']?([\w.:-]+)", re.IGNORECASE)


def page_text(data: bytes, content_type: str, check: Callable[[], None] = lambda: None) -> str | None:
    r"""The text of a page; None where it is no text.

    Args:
        data: What was sent.
        content_type: The header of that name; where it is empty, the data decides.
        check: Called now and then; may raise to end it.

    >>> page_text(b"<title>T</title><p>One <b>two</b></p><script>no()</script><p>three", "text/html")
    'T\n\nOne two\nthree'
    >>> page_text(b"%PDF-1.7", "application/pdf") is None
    True
    """
    kind, _, parameters = content_type.lower().partition(";")
    kind = kind.strip()
    html = kind in _HTML or (not kind and b"<html" in data[:2_000].lower())
    if kind and not html and not _TEXT.match(kind):
        return None
    named = re.search(r"charset=[\"']?([\w.:-]+)", parameters)
    in_page = _META_CHARSET.search(data[:2_000]) if html and named is None else None
    encoding = named[1] if named else in_page[1].decode("ascii", "replace") if in_page else "utf-8"
    if b"\0" in data and not encoding.startswith(("utf-16", "utf-32")):
        return None
    try:
        text = data.decode(encoding, "replace")
    except (LookupError, UnicodeError):  # no such encoding, or one that is not of texts
        text = data.decode("utf-8", "replace")
    return html_text(text, check) if html else text


def html_text(text: str, check: Callable[[], None] = lambda: None) -> str:
    """The text of an HTML page: its title, then a line per block; preformatted text as it is."""
    reader = _Reader()
    for start in range(0, len(text), PIECE):
        reader.feed(text[start : start + PIECE])
        check()
    reader.close()
    title = " ".join("".join(reader.title).split())
    lines = (re.sub(r" +", " ", line).strip(" ") for line in "".join(reader.pieces).split("\n"))
    body = "\n".join(line for line in lines if line).translate(_RESTORED)
    return f"{title}\n\n{body}" if title else body


class _Reader(HTMLParser):
    """Collects the title and the texts of a page, with line ends around blocks."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.title: list[str] = []
        self.pieces: list[str] = []
        self._dropping: list[str] = []
        self._kept = 0
        self._in_title = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        """An element begins."""
        if tag in DROPPED:
            self._dropping.append(tag)
        elif tag == "title":
            self._in_title = not self._dropping and not self.title
        elif tag in BLOCKS:
            self.pieces.append("\n")
            self._kept += tag == "pre"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        """An element without content: `<br/>`."""
        if tag in BLOCKS:
            self.pieces.append("\n")

    def handle_endtag(self, tag: str) -> None:
        """An element ends, and with it those that were left open in a part that is dropped."""
        if tag in self._dropping:
            del self._dropping[self._dropping.index(tag) :]
        elif tag == "title":
            self._in_title = False
        elif tag in BLOCKS:
            self.pieces.append("\n")
            self._kept -= tag == "pre" and self._kept > 0

    def handle_data(self, data: str) -> None:
        """A text."""
        if self._in_title:
            self.title.append(data)
        elif not self._dropping:
            self.pieces.append(data.translate(_KEPT) if self._kept else re.sub(r"\s+", " ", data))


# Preformatted text stands in private characters while the white space around it is put in order.
_KEPT = {ord("\n"): "\ue000", ord(" "): "\ue001", ord("\t"): "\ue002"}
_RESTORED = {ord(private): chr(plain) for plain, private in _KEPT.items()}
