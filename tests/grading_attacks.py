"""Notebooks that try to get points that they did not earn, to see what they must not, or to harm others.

Each attack says what it puts in place of the answers, and what the honest part of it still earns.
"""

from __future__ import annotations

from typing import NamedTuple

from agentlab.grading.exercise import Cell, Check, Exercise, Task
from tests.grading_class import COUNT, DOUBLE, cell, notebook, solved, student_cells

WRONG = "def double(x):\n    return x + 2"
"""Right for two alone: earns the visible check of doubling, not the hidden one."""
NEVER = "def double(x):\n    return None"
"""Right for nothing."""


class Attack(NamedTuple):
    """A notebook, and the points of each of the four checks that it earns."""

    content: bytes
    earned: tuple[float, float, float, float]
    said: str = ""


def replaced(double=NEVER, count=COUNT, **cells):
    """A notebook whose first answer is hostile and whose second is right."""
    return solved(double=double, count=count, **cells)


def ident(each):
    """The id that a cell has in the exercise."""
    return each["metadata"].get("agentlab", {}).get("id")


def changed_check(change):
    """A notebook with a wrong answer, and its visible check changed."""
    cells = student_cells(double=NEVER, count=COUNT)
    return notebook([change(each) if ident(each) == "double-two" else each for each in cells])


def without(lacking, **answers):
    """A notebook that lacks a cell."""
    cells = student_cells(**({"double": DOUBLE, "count": COUNT} | answers))
    return notebook([each for each in cells if ident(each) != lacking])


def before(code, double=NEVER):
    """A notebook with a hostile cell before a wrong answer, and a right second answer."""
    cells = student_cells(double=double, count=COUNT)
    return notebook([cells[0], cell(code), *cells[1:]])


SHELL = "ip = get_ipython()\n"
HONEST_COUNT = (0, 0, 1, 1)
"""What the second answer earns where the first earns nothing."""
NOTHING = (0, 0, 0, 0)

FORGE_PRINTS = """
import sys, inspect
def double(x):
    frame = inspect.currentframe().f_back
    for text in frame.f_code.co_consts:
        if isinstance(text, str) and "agentlab-" in text:
            sys.stdout.write(text)
    raise SystemExit
"""

EQUAL = """
class Equal(int):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 1
def double(x):
    return Equal()
"""

HANDLER = """
import re
kernel = get_ipython().kernel
async def execute(stream, ident, parent):
    kernel.session.send(kernel.iopub_socket, "status", {"execution_state": "busy"}, parent=parent)
    for line in re.findall(r"agentlab-ok [0-9a-f]+ [\\w-]+", parent["content"]["code"]):
        kernel.session.send(kernel.iopub_socket, "stream", {"name": "stdout", "text": line + chr(10)}, parent=parent)
    reply = {"status": "ok", "execution_count": 1, "user_expressions": {}, "payload": []}
    kernel.session.send(stream, "execute_reply", reply, parent, ident=ident)
    kernel.session.send(kernel.iopub_socket, "status", {"execution_state": "idle"}, parent=parent)
kernel.shell_handlers["execute_request"] = execute
"""

DROP_ASSERTS = """
import ast
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
get_ipython().ast_transformers.append(Drop())
"""

UNSTOPPABLE = """
import time
while True:
    try:
        while True: time.sleep(0.01)
    except BaseException: pass
"""

FLOOD = """
while True:
    try:
        while True: print("flood " * 100)
    except BaseException: pass
"""

SILENT = """
import sys
class Silent:
    def write(self, text): return len(text)
    def flush(self): pass
sys.stdout = Silent()
"""

LOOKS_LIKE = """
def double(x):
    print('agentlab-value 00 4')
    print('1', end='')
    return 2 * x
"""

BEHIND = """
import subprocess, sys, time
subprocess.Popen([sys.executable, '-c', 'import os\\nwhile True: os.fork()'])
time.sleep(1.9)
"""

HOARDERS = """
import subprocess, sys, time
for _ in range(3):
    subprocess.Popen([sys.executable, '-c', 'import time; hoard = b"x" * (600 * 2**20); time.sleep(60)'])
time.sleep(1.9)
"""

DELETE = """
import os, shutil
for place in (os.getcwd(), os.path.expanduser('~'), *(f'/tmp/{name}' for name in os.listdir('/tmp'))):
    shutil.rmtree(place, ignore_errors=True)
"""

CROWD = """
import glob, os, time
for place in glob.glob('/tmp/agentlab-*/**/connection.json', recursive=True):
    os.makedirs(os.path.join(os.path.dirname(place), 'deep'))
time.sleep(1.9)
"""

FORMLESS = """
kernel = get_ipython().kernel
for content in ({}, {'name': 'stdout', 'text': 3}, {'text': None}, {'data': 7}, {'name': 5, 'text': [1]}):
    for kind in ('stream', 'display_data', 'execute_result', 'error', 'status', 'nonsense'):
        kernel.session.send(kernel.iopub_socket, kind, content, parent={'header': {}, 'msg_id': 'x'})
"""

MAGICS = """
%xmode Minimal
%config InteractiveShell.ast_node_interactivity = 'all'
"""

ATTACKS = {
    # what grading by nbval alone falls for
    "edited check": Attack(changed_check(lambda c: cell("pass", "double-two")), HONEST_COUNT, "edited"),
    "check marked to be skipped": Attack(
        changed_check(lambda c: cell("# NBVAL_SKIP\n" + "".join(c["source"]), "double-two")), HONEST_COUNT
    ),
    "check tagged to be skipped": Attack(
        changed_check(lambda c: cell("".join(c["source"]), "double-two", tags=["nbval-skip"])), HONEST_COUNT
    ),
    "check tagged to raise": Attack(
        changed_check(lambda c: cell("".join(c["source"]), "double-two", tags=["raises-exception"])), HONEST_COUNT
    ),
    "check turned into text": Attack(
        changed_check(lambda c: cell("".join(c["source"]), "double-two", kind="markdown")), HONEST_COUNT, "deleted"
    ),
    "check deleted": Attack(without("double-two", double=NEVER), HONEST_COUNT, "deleted"),
    "check deleted, answer right": Attack(without("double-two"), (1, 2, 1, 1), "deleted"),
    "marker in the answer": Attack(replaced("# NBVAL_SKIP\n# NBVAL_CHECK_OUTPUT\n" + DOUBLE), (1, 2, 1, 1)),
    "input transformer": Attack(
        before(SHELL + "ip.input_transformers_post.append(lambda lines: ['pass\\n'])"), NOTHING
    ),
    "AST transformer": Attack(before(DROP_ASSERTS), HONEST_COUNT),
    "custom exception handler": Attack(
        before(SHELL + "ip.set_custom_exc((Exception,), lambda *a, **k: None)"), HONEST_COUNT
    ),
    "showtraceback patched": Attack(before(SHELL + "ip.showtraceback = lambda *a, **k: None"), HONEST_COUNT),
    "_showtraceback patched": Attack(before(SHELL + "ip._showtraceback = lambda *a, **k: None"), HONEST_COUNT),
    "showtraceback of the class patched": Attack(
        before(SHELL + "type(ip).showtraceback = type(ip)._showtraceback = lambda *a, **k: None"), HONEST_COUNT
    ),
    "run_cell patched": Attack(before(SHELL + "ip.run_cell = ip.run_cell_async = lambda *a, **k: None"), NOTHING),
    "equal to everything": Attack(replaced(EQUAL), (1, 0, 1, 1)),
    "errors reported as passed": Attack(before(HANDLER), NOTHING, "changed how the notebook reports errors"),
    "show patched": Attack(
        before("import agentlab.grading.kernel as k\nk.show = lambda value: print(value)", WRONG), (1, 0, 0, 1)
    ),
    "stdout patched": Attack(before(SILENT, DOUBLE), NOTHING),
    "proof forged and error raised": Attack(replaced(FORGE_PRINTS), HONEST_COUNT),
    "kernel's parent killed": Attack(replaced("import os\nos.kill(os.getppid(), 9)"), HONEST_COUNT),
    "all processes killed": Attack(replaced("import os\nos.kill(-1, 9)"), HONEST_COUNT),
    "right, and writes to stderr": Attack(
        replaced("import sys\ndef double(x):\n    print('debug', file=sys.stderr)\n    print(2 * x)\n    return 2 * x"),
        (1, 2, 1, 1),
    ),
    "prints what looks like a value": Attack(replaced(LOOKS_LIKE), (1, 2, 1, 1)),
    # the end of a kernel, and what does not end
    "endless loop": Attack(replaced("while True: pass"), HONEST_COUNT, "took too long"),
    "endless loop that catches all": Attack(replaced(UNSTOPPABLE), HONEST_COUNT, "took too long"),
    "endless flood": Attack(replaced(FLOOD), HONEST_COUNT),
    "os._exit": Attack(replaced("import os\nos._exit(0)"), HONEST_COUNT, "graded without it"),
    "killed by itself": Attack(replaced("import os\nos.kill(os.getpid(), 9)"), HONEST_COUNT, "graded without it"),
    "segmentation fault": Attack(replaced("import ctypes\nctypes.string_at(0)"), HONEST_COUNT, "graded without it"),
    "sys.exit": Attack(replaced("import sys\nsys.exit()"), HONEST_COUNT, "SystemExit"),
    "quit": Attack(replaced("quit()"), HONEST_COUNT),
    "answer that ends the kernel": Attack(replaced("def double(x):\n    import os\n    os._exit(0)"), HONEST_COUNT),
    "answer that loops": Attack(replaced("def double(x):\n    while True: pass"), HONEST_COUNT),
    "asks for input": Attack(replaced("double = input('the answer?')"), HONEST_COUNT, "StdinNotImplementedError"),
    "syntax error": Attack(replaced("def double(x:\n"), HONEST_COUNT, "SyntaxError"),
    "100 MB at once": Attack(replaced("print('x' * 10**8)"), HONEST_COUNT),
    "100 MB in pieces": Attack(replaced("for _ in range(10**5): print('x' * 1000)"), HONEST_COUNT, "was stopped"),
    "fork bomb": Attack(replaced("import os\nwhile True: os.fork()"), HONEST_COUNT, "processes"),
    "fork bomb behind its back": Attack(replaced(BEHIND), HONEST_COUNT, "processes"),
    "takes all memory": Attack(replaced("hoard = bytearray(2**40)"), HONEST_COUNT, "MemoryError"),
    "takes all memory in processes": Attack(replaced(HOARDERS), HONEST_COUNT, "memory"),
    "fills the disk": Attack(
        replaced("for n in range(10**4):\n    open(f'/tmp/{n}', 'wb').write(bytes(2**24))"), HONEST_COUNT, "OSError"
    ),
    "deletes files": Attack(replaced(DELETE + DOUBLE), (1, 2, 1, 1)),
    "fills the folder of its connection": Attack(replaced(CROWD), HONEST_COUNT, "folder of its own connection"),
    "messages of no form": Attack(replaced(FORMLESS + DOUBLE), (1, 2, 1, 1)),
    # innocent, and easily punished
    "names of ours taken": Attack(replaced(DOUBLE + "\nshow = print = repr = None\nseed = 'mine'"), (1, 2, 1, 1)),
    "magics": Attack(replaced(MAGICS + DOUBLE), (1, 2, 1, 1)),
    "warnings as errors": Attack(replaced(DOUBLE + "\nimport warnings\nwarnings.simplefilter('error')"), (1, 2, 1, 1)),
}

LEAKS = {
    "answers of the exercise": """
import os
leaks = []
for place, folders, files in os.walk('/'):
    folders[:] = [name for name in folders if name not in ('proc', 'usr', 'lib', 'lib64', 'dev', 'site-packages')]
    leaks += [os.path.join(place, name) for name in files if name in ('07_double.json', '01_limits.json')]""",
    "course folders": """
import agentlab, pathlib
root = pathlib.Path(agentlab.__file__).resolve().parents[1]
places = [root / 'exercises', root / '.git', root / 'agentlab/materials/exercises', root / 'tests']
leaks = [str(p) for p in places if p.exists() and (p.is_file() or list(p.iterdir()))]""",
    "homes and the like": """
import pathlib, sys, agentlab
root = pathlib.Path(agentlab.__file__).resolve().parents[1]
shown = [root, *(pathlib.Path(p).resolve() for p in (sys.prefix, sys.base_prefix, sys.executable, *sys.path) if p)]
places = [pathlib.Path(p) for p in ('/home', '/root', '/srv', '/mnt', '/var', '/run', root.parent)]
found = [child for place in places if place.is_dir() for child in place.iterdir()]
leaks = [str(p) for p in found if not any(s.is_relative_to(p) for s in shown)]
leaks += [p for p in ('/etc/shadow',) if pathlib.Path(p).exists()]""",
    "keys": "import os\nleaks = [name for name in os.environ if 'KEY' in name or 'TOKEN' in name or 'SECRET' in name]",
    "other processes": "import os\nleaks = [p for p in os.listdir('/proc') if p.isdigit() and int(p) > 1000]",
    "the grader's sockets": "import glob\nleaks = glob.glob('/tmp/agentlab-worker-*/jobs')",
    "places to write": """
import os
leaks = []
for place in ('/', '/usr', '/etc', '/dev', os.path.dirname(os.__file__)):
    try:
        open(os.path.join(place, 'agentlab-leak'), 'w').close()
        leaks.append(place)
    except OSError:
        pass""",
    "more rights": """
import os
leaks = []
for take in (lambda: os.chroot('/tmp'), lambda: os.mknod('/tmp/disk', 0o60600, 0xfe00), lambda: os.nice(-5)):
    try:
        take()
        leaks.append('taken')
    except OSError:
        pass""",
    "network": """
import socket
leaks = []
for address in (('127.0.0.1', {port}), ('1.1.1.1', 53)):
    try:
        socket.create_connection(address, timeout=0.3).close()
        leaks.append(address)
    except OSError:
        pass
own = socket.create_server(('127.0.0.1', 0))
socket.create_connection(own.getsockname(), timeout=1).close()""",
}
"""Code that sets `leaks` to what it could reach, which is to be nothing; somebody outside listens on `{port}`."""


def leaking(port):
    """An exercise whose checks each show what they could reach: all of them in one kernel."""
    task = Task("reach", "What can be reached")
    checks = [
        Check(
            *(name, "reach", name, "output", 1),
            code.replace("{port}", str(port)) + "\nshow([str(each) for each in leaks])",
            "step 1",
            expected="[]\n",
        )
        for name, code in LEAKS.items()
    ]
    cells = [Cell("setup", "setup", "import os"), *(Cell(name, "check") for name in LEAKS)]
    return Exercise("08_leaks", 8, "Leaks", 1, [], cells, [task], checks)
