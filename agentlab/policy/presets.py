"""Policies by name: data files in the package, each with its source, its date and what it cannot express."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agentlab.errors import InputError
from agentlab.policy.values import Policy

if TYPE_CHECKING:
    from pathlib import Path


def preset_names() -> list[str]:
    """The names that `load_policy` knows.

    >>> preset_names()[0]
    'anthropic-context-editing'
    """
    return sorted(path.stem for path in _folder().glob("*.json"))


def load_policy(name_or_path: str | Path) -> Policy:
    """Read a policy: one of the package's by its name, or a JSON file.

    Raises:
        InputError: It cannot be read; the text names file and field.

    >>> load_policy("chapter").limit_for("read_file", own=4_000).value
    4000
    """
    from pathlib import Path

    names = preset_names()
    path = Path(name_or_path)
    if str(name_or_path) in names:
        path = _folder() / f"{name_or_path}.json"
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror}): name a JSON file that holds a policy, or one of {', '.join(names)}",
            path=name_or_path,
        ) from None
    try:
        return msgspec.json.decode(data, type=Policy)
    except msgspec.ValidationError as error:
        problem, _, field = str(error).partition(" - at ")
        raise InputError(problem, path=path, field=field.strip("`$. ") or None) from None
    except msgspec.DecodeError as error:
        expected = 'expected an object such as {"default": {"value": 4000}}'
        raise InputError(f"not JSON ({error}): {expected}", path=path) from None


def _folder() -> Path:
    from pathlib import Path

    return Path(__file__).parents[1] / "policies"
