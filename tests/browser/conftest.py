"""One server and one browser for all that look at it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from .lab import FLAGS, ROOT, SCREENSHOTS, Lab, Notebook, browser_path, running_lab

if TYPE_CHECKING:
    from collections.abc import Iterator


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
    folder, state = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("state")
    shutil.copy(ROOT / "tests" / "browser" / "widgets.ipynb", folder)
    for part in ("observations", "sessions/long"):
        shutil.copytree(ROOT / "data" / part, folder / "data" / part)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    with running_lab(folder, state) as running:
        yield running


@pytest.fixture(scope="session")
def notebook(browser: Any, lab: Lab) -> Iterator[Notebook]:
    """The notebook of the widgets, run from top to bottom."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    page.set_default_timeout(30_000)
    opened = Notebook(page, lab, "widgets.ipynb")
    opened.run_all()
    page.get_by_text("'complete'").wait_for()
    yield opened
    context.close()
