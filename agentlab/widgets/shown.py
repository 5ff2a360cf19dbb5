"""What all widgets share: one value that shows itself, and controls that have names.

A widget is a plain object with a `box` of ipywidgets. Where a front end runs, the box is shown; elsewhere, as on
GitHub, in print and in a terminal, the same state as HTML or text. No other module imports ipywidgets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

VIEW: Final = "application/vnd.jupyter.widget-view+json"


class Shown:
    """Base of the widgets: a box where there is a front end, `html()` and the `repr` where there is none."""

    box: Any

    def html(self) -> str:
        """What is shown now, as HTML that needs neither a kernel nor a script."""
        raise NotImplementedError

    def _repr_mimebundle_(
        self,
        include: Iterable[str] | None = None,  # noqa: ARG002 - IPython passes both by name
        exclude: Iterable[str] | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        view = self.box._repr_mimebundle_()
        return {"text/plain": repr(self), "text/html": self.html(), VIEW: view[VIEW]}


def _ipywidgets() -> Any:
    import ipywidgets  # type: ignore[import-untyped]

    return ipywidgets


def whenever(controls: Iterable[Any], act: Callable[[], None]) -> None:
    """Call a function when the value of any of these controls changes."""
    for control in controls:
        control.observe(lambda _: act(), names="value")


def row(*controls: Any) -> Any:
    """Controls side by side, which go to the next line where it is narrow."""
    w = _ipywidgets()

    layout = w.Layout(display="flex", flex_flow="row wrap", align_items="center", grid_gap="0 12px")
    return w.Box(controls, layout=layout)


def column(*parts: Any) -> Any:
    """Parts below each other, as wide as there is room."""
    w = _ipywidgets()

    return w.VBox(parts, layout=w.Layout(width="100%"))


def slider(name: str, value: int, low: int, high: int, *, nudge: int = 1, tip: str = "") -> Any:
    """A slider over whole numbers; what it controls follows while it is dragged. `numbered` shows it with its name.

    Each number can be reached, since a browser would round others away; `nudge` is how far a key moves the number in
    the field.
    """
    w = _ipywidgets()
    made = w.IntSlider(value, min(low, value), max(high, value), tooltip=tip or name, readout=False)
    made.name, made.nudge = name, nudge
    return made


def amount(
    name: str, value: float, low: float, high: float, step: float, *, nudge: float | None = None, tip: str = ""
) -> Any:
    """The same over numbers with a fraction; `nudge` is how far a key moves the number in the field.

    A browser rounds whatever the value is set to by the step, and sends it back: so the step must divide it.
    """
    w = _ipywidgets()
    made = w.FloatSlider(value, min=low, max=high, step=step, tooltip=tip or name, readout=False)
    made.name, made.nudge = name, step if nudge is None else nudge
    return made


def numbered(control: Any) -> Any:
    """A slider beside a field with its name, in which the number can be read and typed.

    The handle of an ipywidgets slider has no name for a screen reader; the label of a field is one.
    """
    from traitlets import link

    w = _ipywidgets()
    whole = isinstance(control.value, int)
    field = (w.BoundedIntText if whole else w.BoundedFloatText)(
        control.value,
        min=control.min,
        max=control.max,
        step=control.nudge,
        description=control.name,
        tooltip=control.tooltip,
        style={"description_width": "102px"},
        layout=w.Layout(width="186px", flex="0 0 auto"),
    )
    for trait in ("max", "disabled"):
        link((control, trait), (field, trait))
    # What a browser sends back of a fraction may be 0.5000000001.
    link((control, "value"), (field, "value"), transform=(lambda value: round(value, 6), lambda value: value))
    control.layout = w.Layout(flex="1 1 100px", width="auto", min_width="60px")
    return w.HBox([field, control], layout=w.Layout(flex="1 1 312px", width="auto", max_width="400px"))


def choice(name: str, options: Iterable[Any], value: Any, *, width: str = "260px") -> Any:
    """A list to choose one of."""
    w = _ipywidgets()

    return w.Dropdown(
        options=list(options),
        value=value,
        description=name,
        style={"description_width": "initial"},
        layout=w.Layout(width=width, max_width="100%"),
    )


def canvas(html: str = "") -> Any:
    """HTML as wide as there is room."""
    w = _ipywidgets()
    return w.HTML(html, layout=w.Layout(width="auto"))


def folded(title: str, *parts: Any) -> Any:
    """Parts that open below their title."""
    w = _ipywidgets()
    return w.Accordion([row(*parts)], titles=(title,))


def button(name: str, act: Callable[[], None], *, tip: str = "", style: str = "", width: str = "auto") -> Any:
    """A button; `style` is one of ipywidgets' words, such as `danger`."""
    w = _ipywidgets()
    made = w.Button(description=name, tooltip=tip or name, button_style=style, layout=w.Layout(width=width))
    made.on_click(lambda _: act())
    return made


def line_of_text(name: str, hint: str, send: Callable[[], None]) -> Any:
    """A field for a line of text; Enter calls `send`."""
    w = _ipywidgets()
    field = w.Text(
        description=name,
        placeholder=hint,
        style={"description_width": "initial"},
        layout=w.Layout(flex="1 1 320px", width="auto"),
    )
    # Not `observe`: that would send when the field only loses its focus.
    field.on_msg(lambda _, content, __: send() if content.get("event") == "submit" else None)
    return field


def switch(options: Iterable[Any], value: Any) -> Any:
    """Radio buttons in a row: unlike toggle buttons, they say to a screen reader which of them is down."""
    w = _ipywidgets()
    return w.RadioButtons(
        options=list(options),
        value=value,
        orientation="horizontal",
        layout=w.Layout(width="auto", max_width="100%"),
    )


def ending_scroll(*parts: Any, height: int = 520) -> Any:
    """Parts in a box that scrolls once it is full, and stays at its end while it grows."""
    w = _ipywidgets()
    inside = w.VBox(parts, layout=w.Layout(width="100%", flex="0 0 auto"))
    layout = w.Layout(display="flex", flex_flow="column-reverse", max_height=f"{height}px", overflow="hidden auto")
    return w.Box([inside], layout=layout)
