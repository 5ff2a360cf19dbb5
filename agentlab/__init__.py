"""Learn and measure how an LLM agent observes and continues.

The package is imported by part, so that each costs only what it needs:

>>> from agentlab.loop import agent_step
>>> from agentlab.truncate import truncate_observation
>>> len(truncate_observation("x" * 10_000, 4_000))
4000
"""

from __future__ import annotations

__version__ = "0.1.0"
__all__ = ["__version__", "use_key"]


def __getattr__(name: str) -> object:
    """Load `use_key`, or what `%load_ext agentlab` calls, when it is asked for: `import agentlab` does nothing."""
    if name == "use_key":
        from agentlab.providers.keys import use_key

        return use_key
    if name == "load_ipython_extension":
        from importlib import import_module

        # By name: the package itself stands below all its layers.
        return import_module("agentlab.grading.magic").load_ipython_extension
    raise AttributeError(f"module 'agentlab' has no attribute {name!r}")
