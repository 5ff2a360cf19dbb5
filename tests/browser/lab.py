"""A JupyterLab on loopback with folders of its own, and a browser that looks at it."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
SCREENSHOTS = ROOT / ".cache" / "browser"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]
START = 180
"""Seconds that the server has to start in: a busy machine takes many times what an idle one does, which is two."""


def browser_path() -> str | None:
    """The browser of the system, or None."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


class Lab:
    """A server that runs: its address and its folder."""

    def __init__(self, port: int, token: str, folder: Path) -> None:
        self.port, self.token, self.folder = port, token, folder

    def address(self, notebook: str) -> str:
        """Where a notebook opens, in a workspace of nobody else."""
        return f"http://127.0.0.1:{self.port}/lab/tree/{notebook}?token={self.token}&reset"


@contextmanager
def running_lab(folder: Path, state: Path) -> Iterator[Lab]:
    """Start JupyterLab over a folder; its settings, runtime files and log stand in `state`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(16)
    settings = state / "settings" / "@jupyterlab" / "apputils-extension"
    settings.mkdir(parents=True)
    quiet = '{"fetchNews": "false", "checkForUpdates": false}'
    (settings / "notification.jupyterlab-settings").write_text(quiet, encoding="utf-8")
    places = {f"JUPYTER_{name}_DIR": str(state / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")}
    paths = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    env = {**os.environ, **places, "JUPYTERLAB_SETTINGS_DIR": str(state / "settings"), "PYTHONPATH": paths}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
    command += [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}", "--expose-app-in-browser"]
    with (state / "server.log").open("w", encoding="utf-8") as log:
        server = subprocess.Popen(command, env=env, stdout=log, stderr=log, cwd=folder)
        try:
            _wait_for(f"http://127.0.0.1:{port}/api?token={token}", server, state / "server.log")
            yield Lab(port, token, folder)
        finally:
            server.terminate()
            try:
                server.wait(15)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def _wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START
    while time.monotonic() < end:
        if server.poll() is not None:
            break
        try:
            with urlopen(address, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text(encoding='utf-8')[-2000:]}")


class Notebook:
    """A notebook in a page.

    Args:
        page: Empty.
        lab: The server.
        path: Of the notebook, from the server's folder.

    Attributes:
        problems: What the page's scripts raised.
    """

    def __init__(self, page: Any, lab: Lab, path: str) -> None:
        self.page = page
        self.problems: list[str] = []
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.goto(lab.address(path))
        self.until_idle()
        page.evaluate("() => (window.jupyterapp || window.jupyterlab).shell.collapseLeft()")

    def until_idle(self) -> None:
        """Wait until the kernel has nothing to do; it has begun what was asked for by then."""
        self.page.wait_for_function(
            "() => { const app = window.jupyterapp || window.jupyterlab; "
            "const context = app?.shell.currentWidget?.context; "
            "return context?.sessionContext?.session?.kernel?.status === 'idle'; }",
            timeout=120_000,
        )

    def until_drawn(self) -> None:
        """Wait until the page shows what it knows: two frames, of which the second begins after the first was drawn."""
        self.page.evaluate(
            "() => document.fonts.ready.then(() => new Promise(done => "
            "requestAnimationFrame(() => requestAnimationFrame(done))))"
        )

    def command(self, name: str, arguments: dict[str, Any] | None = None) -> None:
        """Run one of JupyterLab's own commands, and wait for its end."""
        self.page.evaluate(
            "([name, args]) => (window.jupyterapp || window.jupyterlab).commands.execute(name, args)",
            [name, arguments or {}],
        )

    def run_all(self) -> None:
        """Run all cells, and wait until they ran or one raised."""
        self.command("notebook:run-all-cells")
        self.until_idle()

    def cell(self, number: int) -> Any:
        """A cell, in view; negative numbers count from the end."""
        found = self.page.locator(".jp-Notebook .jp-Cell").nth(number)
        found.scroll_into_view_if_needed()
        return found

    def type_into(self, number: int, source: str) -> None:
        """Write another text into a code cell, as somebody who marks all of it and types."""
        self.cell(number).locator(".cm-content").click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.insert_text(source)

    def append_cell(self, source: str) -> Any:
        """Write a new cell below the last one and run it; returns the cell."""
        self.cell(-1).click()
        self.page.keyboard.press("Escape")
        self.command("notebook:insert-cell-below")
        self.type_into(-1, source)
        self.page.keyboard.press("Control+Enter")
        return self.page.locator(".jp-Notebook .jp-Cell").last

    def ask_kernel(self, code: str) -> str:
        """Run code in the kernel beside the cells; returns what it printed."""
        return self.page.evaluate(
            "async (code) => { const app = window.jupyterapp || window.jupyterlab; "
            "const kernel = app.shell.currentWidget.context.sessionContext.session.kernel; let text = ''; "
            "const future = kernel.requestExecute({code, store_history: false}); "
            "future.onIOPub = m => { if (m.header.msg_type === 'stream') text += m.content.text; "
            "if (m.header.msg_type === 'error') text += m.content.evalue; }; await future.done; return text; }",
            code,
        )

    def errors(self) -> list[str]:
        """What cells raised or wrote to stderr, as the page shows it."""
        return self.page.locator('[data-mime-type="application/vnd.jupyter.stderr"]').all_inner_texts()

    def set_theme(self, *, dark: bool) -> None:
        """Choose the theme, and wait until it is there."""
        self.command("apputils:change-theme", {"theme": "JupyterLab Dark" if dark else "JupyterLab Light"})
        self.page.wait_for_function(f"() => document.body.dataset.jpThemeLight === '{str(not dark).lower()}'")
