"""Names that a notebook may not have are still there for the package, in the module that defines them as well."""

from __future__ import annotations

import subprocess
import sys

from agentlab.grading.kernel import WITHHELD

CODE = """
from agentlab.loop import agent_step
from agentlab.grading.kernel import begin
begin("01_a", withheld=["agentlab.observe.error_text", "agentlab.observe._unknown_tool", "agentlab.loop.agent_step"])
from agentlab.grading.building.beside import beside
from agentlab.grading.building.probe import observations
from agentlab.providers.scripted import call
print(observations(agent_step, call("wordcuont")))
for line in ("from agentlab.observe import error_text", "import agentlab.observe as o; o._unknown_tool"):
    try:
        exec(line)
    except ImportError as error:
        print(error)
print(list(beside(agent_step, "agentlab.observe.error_text").texts))
"""


def test_module_goes_on_using_its_own_withheld_functions():
    ran = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == [
        """["Error: UnknownToolError: there is no tool 'wordcuont'. Did you mean 'wordcount'?"]""",
        f"agentlab.observe.error_text: {WITHHELD}",
        f"agentlab.observe._unknown_tool: {WITHHELD}",
        "['yours: agent_step', 'the package: agentlab.observe.error_text']",
    ]
