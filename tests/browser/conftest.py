"""One server and one browser for all that look at it, and a page for each notebook."""

from __future__ import annotations

import shutil
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from .lab import FLAGS, ROOT, SCREENSHOTS, Lab, Notebook, browser_path, running_lab

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    path = browser_path()
    if path is None:
        pytest.skip("no browser here: `apt-get install chromium`, then `make test-browser` looks at the widgets")
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
    with api.sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def lab(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A server over a folder as `agentlab start` makes it."""
    folder, state = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("state")
    subprocess.run([sys.executable, "-m", "agentlab", "start", str(folder)], check=True, stdout=subprocess.DEVNULL)
    shutil.copy(ROOT / "tests" / "browser" / "widgets.ipynb", folder)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    with running_lab(folder, state) as running:
        yield running


@pytest.fixture(scope="session")
def opened(browser: Any, lab: Lab) -> Callable[[str], AbstractContextManager[Notebook]]:
    """Opens a notebook in a window of its own."""

    @contextmanager
    def open_notebook(path: str) -> Iterator[Notebook]:
        context = browser.new_context(viewport={"width": 1400, "height": 1000})
        page = context.new_page()
        page.set_default_timeout(60_000)  # a busy machine is slow, and no check waits for nothing
        notebook = Notebook(page, lab, path)
        yield notebook
        notebook.command("kernelmenu:shutdown")
        context.close()

    return open_notebook


@pytest.fixture(scope="session")
def notebook(opened: Callable[[str], AbstractContextManager[Notebook]]) -> Iterator[Notebook]:
    """The notebook of the widgets, run from top to bottom."""
    with opened("widgets.ipynb") as shown:
        shown.run_all()
        shown.page.get_by_text("'complete'").wait_for()
        yield shown
