"""The widgets as somebody uses them: cells run, text typed, a turn stopped, sliders dragged, pictures taken."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from .lab import SCREENSHOTS

if TYPE_CHECKING:
    from .lab import Notebook

WIDGETS = ("cuts", "budget", "explorer", "chat")
CELLS = {name: number for number, name in enumerate(WIDGETS, 2)}


def output(notebook: Notebook, name: str) -> Any:
    """The output of the cell that shows a widget, brought into view."""
    return notebook.cell(CELLS[name]).locator(".jp-Cell-outputWrapper")


def enabled(notebook: Notebook, shown: Any, button: str) -> Any:
    """A button that can be pressed."""
    return shown.get_by_role("button", name=button).and_(notebook.page.locator(":enabled"))


def until_it_reads(notebook: Notebook, field: Any, value: str) -> None:
    """Wait until a field or a list has a value: each arrives in a message of its own."""
    notebook.page.wait_for_function("([field, value]) => field.value === value", arg=[field.element_handle(), value])


def drag(notebook: Notebook, slider: Any, by: int) -> None:
    """Drag the handle of a slider by so many pixels."""
    box = slider.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    mouse = notebook.page.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + by, y, steps=8)
    mouse.up()


def test_all_cells_run_and_show_widgets_not_their_static_form(notebook: Notebook) -> None:
    assert notebook.errors() == []
    for name in WIDGETS:
        shown = output(notebook, name)
        assert shown.locator(".jupyter-widgets").count() > 3, name
        assert shown.locator(".jp-RenderedHTML").count() == 0, name
        assert shown.get_by_text("Error displaying widget").count() == 0, name


def test_a_dragged_slider_moves_the_cut(notebook: Notebook) -> None:
    shown = output(notebook, "cuts")
    before = int(notebook.ask_kernel("print(cuts.limit.value)"))
    headings = shown.locator("h4").all_inner_texts()
    drag(notebook, shown.locator(".noUi-handle").first, 60)
    shown.get_by_text(headings[0]).wait_for(state="detached")
    after = int(notebook.ask_kernel("print(cuts.limit.value)"))
    assert after > before
    seen = notebook.ask_kernel("print(f'{cuts.views[0].shown:,} of {cuts.size:,} characters shown')").strip()
    assert shown.locator("h4").first.inner_text() == f"middle_snip: {seen}"


def test_the_keyboard_moves_a_slider_and_the_field_that_has_its_name(notebook: Notebook) -> None:
    shown = output(notebook, "budget")
    before = int(notebook.ask_kernel("print(budget.turns.value)"))
    field = shown.get_by_role("spinbutton", name="Turns")
    field.press("ArrowUp")
    shown.get_by_text(re.compile(rf"Prompt tokens of {before + 1} turns")).first.wait_for()
    handle = field.locator("xpath=ancestor::div[contains(@class, 'widget-hbox')][1]").get_by_role("slider")
    handle.press("ArrowRight")
    shown.get_by_text(re.compile(rf"Prompt tokens of {before + 2} turns")).first.wait_for()
    assert int(notebook.ask_kernel("print(budget.turns.value)")) == before + 2
    until_it_reads(notebook, field, str(before + 2))


@pytest.mark.parametrize(("name", "value"), [("cuts", "12347"), ("budget", "1003")])
def test_a_number_that_is_typed_is_not_rounded(notebook: Notebook, name: str, value: str) -> None:
    shown = output(notebook, name)
    before = shown.get_by_role("img").first.get_attribute("aria-label")
    field = shown.get_by_role("spinbutton", name="Limit")
    field.fill(value)
    field.press("Enter")
    shown.locator(f"[role=img][aria-label='{before}']").wait_for(state="detached")
    notebook.until_drawn()
    assert notebook.ask_kernel(f"print({name}.limit.value)").strip() == field.input_value() == value


def test_a_model_that_is_picked_keeps_its_prices_in_the_browser(notebook: Notebook) -> None:
    shown = output(notebook, "budget")
    shown.get_by_text("Prices, US dollars per million tokens").click()
    shown.get_by_role("spinbutton", name="Cache write").wait_for()
    shown.get_by_role("combobox", name="Prices of").select_option("gpt-6-luna")
    until_it_reads(notebook, shown.get_by_role("spinbutton", name="Cache write"), "0.125")
    until_it_reads(notebook, shown.get_by_role("spinbutton", name="Output"), "0.5")
    assert notebook.ask_kernel("print(budget.model.value)").strip() == "gpt-6-luna"
    shown.get_by_role("spinbutton", name="Output").press("ArrowUp")
    shown.get_by_role("spinbutton", name="Output").press("Tab")
    until_it_reads(notebook, shown.get_by_role("combobox", name="Prices of"), "by hand")
    shown.get_by_text("Prices, US dollars per million tokens").click()


def test_a_jump_opens_its_message(notebook: Notebook) -> None:
    shown = output(notebook, "explorer")
    shown.get_by_role("button", name=re.compile(r"^1\. ")).click()
    shown.get_by_text(re.compile(r"^Message \d+, turn \d+")).wait_for()
    shown.get_by_role("radio", name="Policies").check()
    shown.get_by_role("cell", name="nanobot-now").wait_for()
    shown.get_by_role("radio", name="Composition").check()
    shown.get_by_role("img", name=re.compile("each call is made of")).wait_for()


def test_a_typed_message_is_answered_with_a_tool_call_that_unfolds(notebook: Notebook) -> None:
    shown = output(notebook, "chat")
    field = shown.get_by_role("textbox", name="Message")
    field.fill("Read observations/services.yaml. How does it end?")
    field.press("Enter")
    shown.get_by_text("observations/services.yaml. How does it end?").wait_for()
    enabled(notebook, shown, "Send").wait_for()
    call = shown.locator("details").last
    call.locator("summary").press("Enter")
    call.get_by_text(re.compile(r"^what the model saw \([\d,]+ characters\)")).wait_for()
    call.get_by_text(re.compile(r"^full result \([\d,]+ characters\)")).wait_for()
    assert "observations/services.yaml" in call.get_by_role("region", name="arguments").inner_text()
    assert field.input_value() == ""


def test_the_keyboard_goes_from_the_message_to_its_button_and_to_a_result(notebook: Notebook) -> None:
    shown = output(notebook, "chat")
    field = shown.get_by_role("textbox", name="Message")
    focused = "() => document.activeElement.textContent"
    field.focus()
    field.press("Tab")
    assert notebook.page.evaluate(focused) == "Send"
    field.press("Shift+Tab")  # back over what scrolls: its name says what it is
    name = "() => document.activeElement.getAttribute('aria-label')"
    assert re.match(r"(full result|what the model saw|arguments)", notebook.page.evaluate(name))


def test_stop_ends_a_turn_while_the_kernel_stays_usable_and_the_session_goes_on(notebook: Notebook) -> None:
    shown = output(notebook, "chat")
    notebook.ask_kernel("chat.chat.runner.provider.delay = 0.5")
    shown.get_by_role("textbox", name="Message").fill("What can you do?")
    shown.get_by_role("button", name="Send").click()
    shown.get_by_text("▌").wait_for()
    assert notebook.ask_kernel("print(6 * 7, chat.chat.active)").strip() == "42 True"
    shown.get_by_role("button", name="Stop").click()
    shown.get_by_text("cancelled (interrupted)").wait_for(timeout=5_000)
    notebook.ask_kernel("chat.chat.runner.provider.delay = 0")
    shown.get_by_role("textbox", name="Message").fill("What time is it?")
    shown.get_by_role("button", name="Send").click()
    shown.get_by_text("What time is it?").wait_for()
    enabled(notebook, shown, "Send").wait_for()
    seen = notebook.ask_kernel(
        "import json\nfrom agentlab.conversation import Conversation\n"
        "print(json.dumps([chat.wait(20).status, Conversation.load(chat.folder).notes]))"
    )
    assert json.loads(seen) == ["complete", []]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1400, 760])
def test_pictures_are_taken_and_nothing_is_wider_than_the_page(notebook: Notebook, width: int, dark: bool) -> None:
    notebook.page.set_viewport_size({"width": width, "height": 1700})
    notebook.set_theme(dark=dark)
    for name in WIDGETS:
        shown = output(notebook, name)
        notebook.until_drawn()
        shown.screenshot(path=SCREENSHOTS / f"{name}-{width}-{'dark' if dark else 'light'}.png")
        over = shown.evaluate(
            "node => [...node.querySelectorAll('section, svg, table, .widget-inline-hbox')]"
            ".filter(n => n.getBoundingClientRect().right > node.getBoundingClientRect().right + 2).length"
        )
        assert over == 0, f"{name}: {over} elements stick out at {width} pixels"


def test_the_pages_scripts_raised_nothing(notebook: Notebook) -> None:
    assert notebook.problems == []
    assert notebook.errors() == []
