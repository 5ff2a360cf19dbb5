"""A tiny loop over fake tools, for the tests of the offline model; there are no tests in this file."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from agentlab.providers.offline import OfflineModel

CODE = '''"""Serve files over a socket."""
import os
import socket

retry_limit = 3


class Server:
    """Listens and answers."""

    def start(self):
        return socket.socket()


class Handler(Server):
    def handle(self, request):
        return os.listdir(request)
'''
FILES: dict[str, str] = {
    "server.py": CODE,
    "client.py": '"""Ask the server."""\nimport socket\n\n\ndef ask(host):\n    return socket.create_connection(host)',
    "config.ini": "[server]\nport = 8040\nretry_limit = 3\n",
    "notes/todo.txt": "buy milk\ncall the plumber\nship release 4.2\n",
    "notes/ideas.txt": "a clock without hands\n",
    "zen.txt": "Beautiful is better than ugly.\nSimple is better than complex.\n",
    "big.log": "".join(
        f"2026-03-01 entry {i:03d} {'FATAL disk sda7 is full' if i == 61 else 'all is well here'}\n"
        for i in range(1, 121)
    ),
}


class Spec(msgspec.Struct, frozen=True):
    name: str
    description: str
    parameters: dict[str, Any]
    run: Any


def spec(name: str, description: str, run: Any, required: tuple[str, ...] = (), **properties: Any) -> Spec:
    kinds = {k: ({"type": v} if isinstance(v, str) else v) for k, v in properties.items()}
    schema = {"type": "object", "properties": kinds, "required": list(required), "additionalProperties": False}
    return Spec(name, description, schema, run)


class World:
    """Fake tools over files in memory, with results cut as agentlab cuts them."""

    def __init__(self, files: dict[str, str] | None = None, *, limit: int = 1200, cut: str = "middle", step: int = 41):
        self.files = FILES if files is None else files
        self.limit, self.cut_from, self.step = limit, cut, step
        self.store: dict[str, str] = {}
        self.clock = 0
        self.calls: list[tuple[str, Any]] = []
        self.batches: list[int] = []

    def now(self) -> str:
        seconds = 15 * 3600 + 40 * 60 + 22 + self.step * self.clock
        self.clock += 1
        return f"2026-05-13T{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}Z"

    def read_file(self, path: str, start_line: int | None = None, end_line: int | None = None) -> str:
        if path not in self.files:
            raise FileNotFoundError(f"there is no file {path!r} in the workspace")
        if start_line is None and end_line is None:
            return self.files[path]
        lines = self.files[path].splitlines(keepends=True)
        return "".join(lines[(start_line or 1) - 1 : end_line])

    def list_dir(self, path: str = ".") -> str:
        prefix = "" if path in (".", "") else path.rstrip("/") + "/"
        inside = [name[len(prefix) :] for name in self.files if name.startswith(prefix)]
        names = sorted({n.split("/")[0] + ("/" if "/" in n else "") for n in inside})
        if not names:
            raise FileNotFoundError(f"there is no folder {path!r} in the workspace")
        return "\n".join(names)

    def grep(self, pattern: str, path: str = ".") -> str:
        hits = [
            f"{name}:{n}:{line}"
            for name, text in self.files.items()
            if path in (".", "", name) or name.startswith(path.rstrip("/") + "/")
            for n, line in enumerate(text.splitlines(), 1)
            if re.search(pattern, line)
        ]
        return "\n".join(hits) or f"no line matches {pattern!r}"

    def read_result(self, id: str, start: int = 0, end: int | None = None, by: str = "characters") -> str:  # noqa: A002
        text = self.store[id]
        if by == "lines":
            return "".join(text.splitlines(keepends=True)[max(0, start - 1) : end])
        return text[start:end]

    def tools(self, *extra: Spec, without: tuple[str, ...] = ()) -> list[Spec]:
        all_tools = [
            spec("now", "The current time in UTC, ISO 8601.", self.now),
            spec(
                "wordcount", "Count the words of a text.", lambda text: str(len(text.split())), ("text",), text="string"
            ),
            spec(
                "read_file",
                "Read a file of the workspace, or some lines of it.",
                self.read_file,
                ("path",),
                path="string",
                start_line="integer",
                end_line="integer",
            ),
            spec("list_dir", "List the files and folders in a folder.", self.list_dir, path="string"),
            spec(
                "grep",
                "Search files for lines that match a regular expression.",
                self.grep,
                ("pattern",),
                pattern="string",
                path="string",
            ),
            spec(
                "read_result",
                "Read back a stored result by its id.",
                self.read_result,
                ("id",),
                id="string",
                start="integer",
                end="integer",
                by={"type": "string", "enum": ["characters", "lines"]},
            ),
        ]
        return [t for t in all_tools if t.name not in without] + list(extra)

    def cut(self, text: str, name: str) -> str:
        """Cut as the marker grammar says; a page read back tells how to go on."""
        if len(text) <= self.limit:
            return text
        key = f"{len(text):012x}"
        if name != "read_result":
            self.store[key] = text
        keep = self.limit - 150
        head, tail = {"middle": (keep // 2, keep - keep // 2), "end": (keep, 0), "start": (0, keep)}[self.cut_from]
        omitted = len(text) - keep
        first = text.count("\n", 0, head) + 1
        last = text.count("\n", 0, len(text) - tail) + 1
        note = f"[...truncated: {omitted} characters omitted from the {self.cut_from}...]"
        if name != "read_result":
            total = len(text.splitlines())
            span = f'read_result("{key}", start={head}, end={len(text) - tail})'
            note += f"\n[lines {first}-{min(last, total)} of {total}; {span} returns them]"
        return f"{text[:head]}\n\n{note}\n\n{text[len(text) - tail :] if tail else ''}"

    def execute(self, call: Any, tools: list[Spec]) -> tuple[str, bool]:
        self.calls.append((call.name, call.arguments))
        known = {t.name: t for t in tools}
        if call.name not in known:
            import difflib

            close = difflib.get_close_matches(call.name, known) or list(known)
            return f"Error: there is no tool {call.name!r}. Closest names: {', '.join(close)}.", True
        if not isinstance(call.arguments, dict):
            return "Error: the arguments are not valid JSON: expected an object.", True
        try:
            return self.cut(str(known[call.name].run(**call.arguments)), call.name), False
        except Exception as error:  # noqa: BLE001
            return f"Error: {type(error).__name__}: {error}", True

    def turn(
        self,
        prompt: str,
        messages: list[Any],
        model: OfflineModel,
        tools: list[Spec],
        system: str = "Be brief.",
        cap: int = 10,
    ) -> str:
        """One user turn; returns the final text."""
        messages.append({"role": "user", "content": prompt})
        for _ in range(cap):
            reply = model.call(messages, system=system, tools=tools)
            if not reply.tool_calls:
                messages.append({"role": "assistant", "content": reply.text})
                return reply.text
            self.batches.append(len(reply.tool_calls))
            calls = [
                {
                    "id": c.id,
                    "type": "function",
                    "function": {
                        "name": c.name,
                        "arguments": c.arguments if isinstance(c.arguments, str) else json.dumps(c.arguments),
                    },
                }
                for c in reply.tool_calls
            ]
            messages.append({"role": "assistant", "content": reply.text, "tool_calls": calls})
            for call in reply.tool_calls:
                text, is_error = self.execute(call, tools)
                message = {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": text or "(nothing)"}
                messages.append(message | ({"is_error": True} if is_error else {}))
        raise AssertionError(f"no final reply within {cap} iterations; calls: {self.calls}")


def session(
    world: World, prompts: list[str], tools: list[Spec] | None = None, model: OfflineModel | None = None
) -> list[str]:
    """The final replies to a list of prompts."""
    messages: list[Any] = []
    model = model or OfflineModel(counter="characters/4")
    return [world.turn(p, messages, model, world.tools() if tools is None else tools) for p in prompts]
