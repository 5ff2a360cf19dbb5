"""The package as a whole: what importing costs, what is exported, and that its drawings are true."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import agentlab
from agentlab import errors
from agentlab.errors import AgentlabError, InputError

HEAVY = ("pandas", "matplotlib", "IPython", "anthropic", "openai", "tiktoken", "rich", "numpy", "fastjsonschema")
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(agentlab.__path__, "agentlab.")
    if not module.name.endswith("__main__") and ".materials" not in module.name
)


def loaded_by(statement: str) -> list[str]:
    code = f"import sys\n{statement}\nprint(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.mark.parametrize(
    "statement",
    [
        "import agentlab",
        "from agentlab.loop import agent_step",
        "import agentlab.runner, agentlab.chat",
        "import agentlab.cli",
    ],
)
def test_the_core_loads_nothing_heavy(statement: str) -> None:
    assert loaded_by(statement) == []


def test_importing_agentlab_does_nothing(tmp_path: Path) -> None:
    code = "import sys; before = set(sys.modules); import agentlab; print(len(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert int(done.stdout) <= 2
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", MODULES)
def test_every_module_imports_and_exports_what_it_says(name: str) -> None:
    module = importlib.import_module(name)
    for exported in getattr(module, "__all__", ()):
        assert getattr(module, exported) is not None
    assert module.__doc__


def test_the_tree_of_errors_is_the_one_that_is_drawn() -> None:
    from agentlab.testing import RejectedRequest

    drawing = (errors.__doc__ or "").split("```")[1]
    drawn = {}
    path: list[str] = []
    for line in drawing.strip().splitlines():
        match = re.match(r"([│ ├└─]*)(\w+)", line)
        assert match
        depth = len(match[1]) // 4
        path[depth:] = [match[2]]
        drawn[match[2]] = path[depth - 1] if depth else "Exception"
    known = {
        name: value
        for name, value in vars(errors).items()
        if isinstance(value, type) and value.__module__ == errors.__name__
    }
    known["RejectedRequest"] = RejectedRequest
    assert drawn == {name: value.__mro__[1].__name__ for name, value in known.items()}


def test_input_errors_name_file_line_and_field() -> None:
    error = InputError("expected a number", path="p.json", line=3, field="limits.grep")
    assert str(error) == "p.json:3: limits.grep: expected a number"
    assert isinstance(error, AgentlabError)


def test_use_key_is_there_when_it_is_asked_for() -> None:
    assert callable(agentlab.use_key)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        agentlab.nothing  # noqa: B018


def test_the_loop_stays_a_file_that_is_read_in_five_minutes() -> None:
    lines = Path(importlib.import_module("agentlab.loop").__file__ or "").read_text().splitlines()
    assert len(lines) < 180
