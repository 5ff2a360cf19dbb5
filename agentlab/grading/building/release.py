"""The class bundle: what an instructor gives to a class. No solution, check file, wrong answer or source is in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentlab.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

START = "00_start_here"

REQUIREMENTS = """\
# python -m pip install -r requirements.txt
agentlab-observe=={version}
"""

WELCOME = """\
# Start here

{list}

**Install.** In a terminal, in the folder of this notebook:

    python3 -m venv .venv
    . .venv/bin/activate
    python -m pip install -r requirements.txt
    jupyter lab

On Windows the second line is `.venv\\Scripts\\activate`. Nothing here needs a key or the network once it is installed.

**Work.** Open a notebook and run it from the top, cell by cell. Where a cell says `your code here`, it is your turn:
a few lines each. The cell below it checks what you wrote, and says what was expected, what came, and where to look.
A hint folds out where you see a triangle. Further checks run when your notebook is graded; their points are not shown.

**Hand in.** Save the notebook under the name it has. Do not rename cells or take any out: a check finds its cell by a
name that you do not see. Cells of your own may go anywhere."""

READY = """\
import agentlab
from agentlab.loop import agent_step
from agentlab.providers.offline import OfflineModel

print("agentlab", agentlab.__version__, "is installed.")
print(agent_step("How many words are in 'to be or not to be'?", [], OfflineModel(), "Answer briefly."))"""


def release(root: Path, out: Path) -> list[Path]:
    """Write the class bundle.

    Args:
        root: The folder `exercises`.
        out: The folder to make; one that holds something is refused.

    Returns:
        The files.

    Raises:
        InputError: No student notebook is there, or `out` holds something already.
    """
    from agentlab import __version__
    from agentlab.grading.building.notebooks import written

    notebooks = sorted((root / "student").glob("[0-9][0-9]_*.ipynb"))
    if not notebooks:
        raise InputError("holds no student/NN_name.ipynb: run `agentlab exercises build`", path=root)
    if out.is_file() or (out.is_dir() and any(out.iterdir())):
        raise InputError("holds something already: name a new folder", path=out)
    files = {path.name: path.read_bytes() for path in notebooks}
    files[f"{START}.ipynb"] = written(start_notebook(root, [path.stem for path in notebooks]))
    files["requirements.txt"] = REQUIREMENTS.format(version=__version__).encode()
    out.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (out / name).write_bytes(content)
    return [out / name for name in sorted(files)]


def start_notebook(root: Path, names: list[str]) -> object:
    """The notebook that a student opens first."""
    from agentlab.grading.building.notebooks import code_cell, new_notebook, text_cell
    from agentlab.grading.exercise import read

    lines = []
    for name in names:
        exercise = read(root / "tests" / f"{name}.json")
        lines.append(f"- [{exercise.title}]({name}.ipynb), about {exercise.minutes} minutes")
    cells = [
        text_cell(WELCOME.format(list="\n".join(lines)), "welcome"),
        text_cell("Run this cell first: it says whether all is installed.", "first"),
        code_cell(READY, "ready"),
    ]
    return new_notebook(cells)
