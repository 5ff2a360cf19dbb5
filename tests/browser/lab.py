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
START = 60


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
    """A notebook in a page."""

    def __init__(self, page: Any, lab: Lab, name: str) -> None:
        self.page = page
        page.goto(lab.address(name))
        page.wait_for_function(
            "() => { const app = window.jupyterapp || window.jupyterlab; "
            "const context = app?.shell.currentWidget?.context; "
            "return context?.sessionContext?.session?.kernel?.status === 'idle'; }",
            timeout=60_000,
        )

    def command(self, name: str, arguments: dict[str, Any] | None = None) -> None:
        """Run one of JupyterLab's own commands, and wait for its end."""
        self.page.evaluate(
            "([name, args]) => (window.jupyterapp || window.jupyterlab).commands.execute(name, args)",
            [name, arguments or {}],
        )

    def run_all(self) -> None:
        """Run all cells."""
        self.command("notebook:run-all-cells")

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
        """The error outputs of all cells."""
        return self.page.locator('[data-mime-type="application/vnd.jupyter.stderr"]').all_inner_texts()

    def set_theme(self, *, dark: bool) -> None:
        """Choose the theme, and wait until it is there."""
        self.command("apputils:change-theme", {"theme": "JupyterLab Dark" if dark else "JupyterLab Light"})
        self.page.wait_for_function(f"() => document.body.dataset.jpThemeLight === '{str(not dark).lower()}'")
