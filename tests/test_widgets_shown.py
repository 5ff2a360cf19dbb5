"""What all widgets have in common: a static form, names for a screen reader, colours, and small pictures."""

from __future__ import annotations

import re
import subprocess
import sys
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentlab.widgets
from agentlab.plots import figures
from agentlab.providers.scripted import ScriptedModel, call
from agentlab.widgets import BudgetLab, ChatLab, CutExplorer, SessionExplorer
from agentlab.widgets.drawing import MOST, Series, short, stacked
from agentlab.widgets.shown import VIEW

LONG = Path(__file__).parents[1] / "data" / "sessions" / "long"
VOID = {"br", "img", "hr", "input"}


def talked() -> ChatLab:
    chat = ChatLab(ScriptedModel([call("wordcount", text="a b"), "Two."]), folder=None)
    chat.ask("How many words?")
    return chat


@pytest.fixture(scope="module")
def widgets():
    made = [CutExplorer("a line\n" * 2_000, limit=500), BudgetLab(), SessionExplorer(LONG), talked()]
    return {type(each).__name__: each for each in made}


NAMES = sorted(set(agentlab.widgets.__all__) - {"Setting"})


class Tags(HTMLParser):
    """Which tags are open, and every attribute."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.attributes: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag, attrs):
        self.attributes.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)


@pytest.mark.parametrize("name", NAMES)
def test_a_widget_has_a_view_and_a_static_form_in_one_output(widgets, name):
    bundle = widgets[name]._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", VIEW}
    assert bundle[VIEW]["model_id"] == widgets[name].box.model_id
    assert len(bundle["text/plain"]) > 60
    assert not bundle["text/plain"].startswith("<agentlab")


@pytest.mark.parametrize("name", NAMES)
def test_the_static_form_is_sound_html_that_runs_nothing(widgets, name):
    page = widgets[name].html()
    tags = Tags()
    tags.feed(page)
    assert (tags.open, tags.wrong) == ([], [])
    for tag, attributes in tags.attributes:
        assert tag not in {"script", "style", "iframe", "link", "button", "input"}
        assert not [key for key in attributes if key.startswith("on")]
        assert "url(" not in (attributes.get("style") or "")
        assert not {"src", "href"} & set(attributes)


@pytest.mark.parametrize("name", NAMES)
def test_pictures_and_scrolling_parts_have_names_and_the_keyboard_reaches_them(widgets, name):
    tags = Tags()
    tags.feed(widgets[name].html())
    for tag, attributes in tags.attributes:
        if tag == "svg" or attributes.get("role") in {"img", "region"}:
            assert attributes.get("aria-label"), (tag, attributes)
        if "overflow:auto" in (attributes.get("style") or "") and "max-height" in (attributes.get("style") or ""):
            assert attributes.get("tabindex") == "0", attributes
        if tag == "th":
            assert attributes.get("scope") == "col"


@pytest.mark.parametrize("name", NAMES)
def test_colours_are_those_for_colour_blind_readers_or_the_themes(widgets, name):
    palette = {value for key, value in vars(figures).items() if key.isupper() and isinstance(value, str)}
    assert len(palette) == 7
    page = widgets[name].html()
    used = set(re.findall(r"#[0-9a-fA-F]{6}\b", page))
    assert used <= palette
    assert not re.search(r"(?:color|background|fill|stroke):\s*(?:black|white|red|green)", page)


def controls_of(box):
    for child in getattr(box, "children", ()):
        yield from controls_of(child)
    yield box


@pytest.mark.parametrize("name", NAMES)
def test_every_control_has_a_name(widgets, name):
    import ipywidgets

    for control in controls_of(widgets[name].box):
        if isinstance(control, ipywidgets.Button | ipywidgets.Dropdown | ipywidgets.Text | ipywidgets.BoundedIntText):
            assert control.description, control
        if isinstance(control, ipywidgets.IntSlider | ipywidgets.FloatSlider):
            assert control.tooltip, control


def test_a_slider_and_the_field_beside_it_move_each_other():
    import ipywidgets

    lab = BudgetLab()
    fields = {c.description: c for c in controls_of(lab.box) if isinstance(c, ipywidgets.BoundedIntText)}
    lab.limit.value = 700
    assert fields["Limit"].value == 700
    fields["Limit"].value = 900
    assert lab.limit.value == lab.setting.limit == 900
    assert (fields["Limit"].min, fields["Limit"].max) == (lab.limit.min, lab.limit.max)


def test_importing_the_widgets_loads_neither_ipywidgets_nor_pandas_nor_matplotlib():
    code = (
        "import sys, agentlab.widgets; "
        "print([m for m in ('ipywidgets', 'pandas', 'matplotlib', 'IPython', 'tiktoken') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def picture_of(html: str) -> ET.Element:
    return ET.fromstring(html[html.index("<svg") : html.index("</svg>") + 6])


def test_columns_stand_on_each_other_to_scale():
    page = stacked(
        [Series("low", figures.BLUE, (1, 2, 0)), Series("high", figures.ORANGE, (3, 0, 4))],
        title="Three columns",
        across="turn",
        up="tokens",
    )
    low, high = (path.get("d") for path in picture_of(page) if path.get("fill", "").startswith("#"))
    # 178 pixels for 4 tokens above a floor at 186; an empty value draws nothing.
    assert [float(y) for y in re.findall(r"V([\d.]+)H", low)] == pytest.approx([186 - 44.5, 186 - 89])
    assert [float(y) for y in re.findall(r"V([\d.]+)H", high)] == pytest.approx([8, 8])
    assert [float(y) for y in re.findall(r"M[\d.]+ ([\d.]+)V", high)] == pytest.approx([186 - 44.5, 186])
    assert low.count("Z") == high.count("Z") == 2


@pytest.mark.parametrize(
    ("count", "numbers"),
    [
        (1, ["1"]),
        (2, ["1", "2"]),
        (14, ["1", "5", "10", "14"]),
        (60, ["1", "20", "40", "60"]),
        (101, ["1", "50", "101"]),
        (2_000, ["1", "500", "1,000", "1,500", "2,000"]),
    ],
)
def test_the_numbers_below_do_not_run_into_each_other(count, numbers):
    page = stacked([Series("a", figures.BLUE, (1,) * count)], title="t", across="turn", up="tokens")
    below = [text for text in picture_of(page) if text.tag == "text" and text.get("y") == "201"]
    assert [text.text for text in below] == numbers
    assert all(b - a >= 30 for a, b in pairwise(float(text.get("x")) for text in below))


def test_of_too_many_columns_the_highest_of_neighbours_is_drawn_and_that_is_said():
    values = [1.0] * 1_000
    values[777] = 50
    page = stacked([Series("a", figures.BLUE, tuple(values))], title="t", across="call", up="tokens", mark=778)
    assert "call, the highest of each 7" in page
    paths = [path for path in picture_of(page) if path.get("fill") == figures.BLUE]
    assert paths[0].get("d").count("Z") == 143 <= MOST
    assert paths[0].get("d").count("V8.0H") == 1


def test_nothing_to_draw_is_said():
    assert "Tokens: nothing to draw yet." in stacked([], title="Tokens", across="turn", up="tokens")


@given(st.integers(0, 10**9))
def test_a_short_number_is_close_to_the_number(number):
    factor = {"k": 1e3, "M": 1e6}
    text = short(number)
    value = float(text.rstrip("kM")) * factor.get(text[-1], 1)
    assert value == pytest.approx(number, rel=6e-4)
    assert len(text) <= 7
