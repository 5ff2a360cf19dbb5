"""A harness: a cog that talks to the user, agents that work for it, and the log of all their cycles.

>>> from agentlab.providers.scripted import ScriptedModel, call
>>> cog = ScriptedModel([call("agent_researcher", instruction="Look around."), "Nothing there."])
>>> researcher = ScriptedModel([call("list_dir"), "It is empty."])
>>> with Harness(cog, providers={"researcher": researcher}) as harness:
...     outcome = harness.send("What is in the folder?")
>>> outcome.text, outcome.turns, outcome.allowed
('Nothing there.', 2, 10)
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from agentlab.budgets import Scope
from agentlab.builtin_tools import now, wordcount, workspace_tools
from agentlab.errors import InputError
from agentlab.harness.actors import ACTORS
from agentlab.harness.cycle import Cycle, CycleResult, ToCurrentCycle, run_cycle
from agentlab.harness.cyclelog import CycleLog
from agentlab.harness.delegation import agent_tool, request_more_turns
from agentlab.harness.observer import Activity, activity_tool, observer_tools
from agentlab.harness.reading import LOG_FOLDER
from agentlab.harness.skills import SHIPPED, listing, read_skill_tool, read_skills, skills_for
from agentlab.harness.watched import Watched, watched
from agentlab.policy import CHAPTER, Policy
from agentlab.runner import Runner

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from types import TracebackType

    from agentlab.budgets import Budget
    from agentlab.budgets.limits import LastTurn
    from agentlab.conversation import Conversation
    from agentlab.events import Sink
    from agentlab.harness.actors import Actor
    from agentlab.harness.skills import Skill
    from agentlab.tools import Tool

COG = "cog"
AGENTS_FOLDER = "agents"


class Harness:
    """A session of the cog, and the agents that it may call.

    Args:
        provider: Answers for every actor that `providers` does not name. It is called again after what may pass, as
            `Retry` does it; one that is a `Retry` keeps its own settings.
        workspace: Folder whose files the tools read.
        folder: Session folder; the log is in its `cycles`, agents' sessions in its `agents`. None keeps all in memory.
        log: Folder of the log, where it is another one.
        actors: Who acts, by name; all but `cog` are agents.
        providers: Providers by actor.
        tools: Tools by actor, instead of its usual ones. An agent beyond those that agentlab ships needs them.
        pages: `fetch_url`, made by `agentlab.harness.pages`, where the researcher may use it.
        skills: Folders of skills besides those that agentlab ships.
        policy: How observations are cut.
        sinks: Are given every event of the cog's turns.
        budget: Tokens and dollars that all actors may spend together.
        last_turn: What happens in a last turn; `"plain"` runs the tools to the end.
        on_activity: Is given a line of text for each event of the log.
        clock: Monotonic, in seconds: deadlines.
        now: Seconds since 1970: timestamps.
        new_id: Makes the id of a cycle.

    Raises:
        InputError: A skill that cannot be read, an actor without tools, no cog, no such folder.
    """

    def __init__(
        self,
        provider: Any,
        *,
        workspace: str | Path = ".",
        folder: str | Path | None = None,
        log: str | Path | None = None,
        actors: Mapping[str, Actor] = ACTORS,
        providers: Mapping[str, Any] | None = None,
        tools: Mapping[str, Sequence[Tool]] | None = None,
        pages: Tool | None = None,
        skills: Iterable[str | Path] = (),
        policy: Policy = CHAPTER,
        sinks: Iterable[Sink] = (),
        budget: Budget | None = None,
        last_turn: LastTurn = "answer",
        on_activity: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        new_id: Callable[[], str] = lambda: os.urandom(4).hex(),
    ) -> None:
        if COG not in actors:
            raise InputError(f"there is no actor {COG!r}: it is who talks to the user", field="actors")
        self.actors = dict(actors)
        self.folder = None if folder is None else Path(folder)
        where = log if log is not None or self.folder is None else self.folder / LOG_FOLDER
        self.log = CycleLog(where, clock=now)
        self.activity = Activity(on_activity)
        self.policy, self.budget, self.last_turn = policy, budget, last_turn
        self.results: list[CycleResult] = []
        self._clock, self._new_id = clock, new_id
        self._skills = _all_skills(skills, self.actors)
        given = providers or {}
        self._providers = {a.name: Watched(given.get(a.name, provider), a.errors) for a in self.actors.values()}
        self._tools = self._all_tools(Path(workspace), dict(tools or {}), pages)
        self._sinks = list(sinks)
        self.runner = self._runner(self.actors[COG], self.folder, self._sinks)

    def send(
        self, prompt: str, on_text_delta: Callable[[str], None] | None = None, *, scope: Scope | None = None
    ) -> CycleResult:
        """Run one user message as a cycle of the cog.

        Args:
            prompt: What the user says.
            on_text_delta: Called with each piece of text as it arrives.
            scope: Ends the cycle before its own deadline does.
        """
        cycle = self._cycle(self.actors[COG], scope)
        result = run_cycle(self.runner, cycle, prompt, on_text_delta)
        self.results.append(result)
        return result

    def ask(self, actor: str, prompt: str, *, scope: Scope | None = None) -> CycleResult:
        """Run one message as a cycle of an agent, without the cog: for a person who asks the observer.

        Raises:
            InputError: There is no such agent.
        """
        if actor == COG or actor not in self.actors:
            agents = ", ".join(name for name in self.actors if name != COG)
            raise InputError(f"there is no agent {actor!r}, the agents are {agents}", field="actor")
        return self._run_agent(self._cycle(self.actors[actor], scope), prompt, with_context=False)[0]

    def close(self) -> None:
        """Close the files."""
        self.runner.close()
        self.log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def system(self, actor: Actor) -> str:
        """The system prompt of an actor: what it is for, its budgets, its skills."""
        parts = [actor.system, actor.budget_text(), listing(skills_for(actor, self._skills))]
        return "\n\n".join(part for part in parts if part)

    def _cycle(self, actor: Actor, scope: Scope | None, parent: Cycle | None = None) -> Cycle:
        own = Scope(actor.seconds, clock=self._clock) if scope is None else scope.child(actor.seconds)
        return Cycle(
            self._new_id(),
            actor,
            turns=actor.turn_budget(self.last_turn),
            scope=own,
            log=self.log,
            parent=parent,
            on_record=self.activity,
        )

    def _delegate(
        self, actor: Actor, caller: Cycle, instruction: str, context: str, scope: Scope
    ) -> tuple[CycleResult, Conversation]:
        """Run an agent for a cycle, within what that has left of its time."""
        prompt = f"{instruction}\n\nContext:\n{context}" if context.strip() else instruction
        return self._run_agent(self._cycle(actor, scope, caller), prompt, with_context=bool(context.strip()))

    def _run_agent(self, cycle: Cycle, prompt: str, *, with_context: bool) -> tuple[CycleResult, Conversation]:
        folder = None if self.folder is None else self.folder / AGENTS_FOLDER / cycle.id
        with self._runner(cycle.actor, folder, []) as runner:
            return run_cycle(runner, cycle, prompt, with_context=with_context), runner.conversation

    def _runner(self, actor: Actor, folder: Path | None, sinks: list[Sink]) -> Runner:
        return Runner(
            self._providers[actor.name],
            folder=folder,
            tools=self._tools[actor.name],
            system=self.system(actor),
            policy=self.policy,
            sinks=[ToCurrentCycle(), *sinks],
            budget=self.budget,
            settings={"actor": actor.name},
        )

    def _all_tools(
        self, workspace: Path, given: dict[str, Sequence[Tool]], pages: Tool | None
    ) -> dict[str, list[Tool]]:
        """The tools of each actor."""
        files = workspace_tools(workspace)
        happened = activity_tool(self.activity)
        given.setdefault(COG, [now, wordcount, *files])
        given.setdefault("researcher", [*files, *([pages] if pages is not None else [])])
        given.setdefault("observer", [happened, *observer_tools(self.log.folder, self.activity)])
        offered: dict[str, list[Tool]] = {}
        for actor in self.actors.values():
            if actor.name not in given:
                raise InputError(f"the agent {actor.name!r} has no tools: name them", field="tools")
            seen = skills_for(actor, self._skills)
            own = [*given[actor.name], *([read_skill_tool(seen)] if seen else [])]
            offered[actor.name] = [watched(each) for each in own]
        cog = offered[COG]
        cog += [watched(request_more_turns)] if self.actors[COG].extendable else []
        cog += [watched(happened)]
        agents = [actor for name, actor in self.actors.items() if name != COG]
        cog += [watched(agent_tool(actor, self._delegate), "agent") for actor in agents]
        return offered


def _all_skills(folders: Iterable[str | Path], actors: Mapping[str, Actor]) -> list[Skill]:
    """The skills that agentlab ships and those of more folders.

    Raises:
        InputError: One cannot be read; the text names file and line.
    """
    found: dict[str, Skill] = {}
    for folder in (SHIPPED, *folders):
        skills, problems = read_skills(folder, actors)
        for problem in problems:
            raise InputError(problem.reason, path=problem.path, line=problem.line)
        found |= {skill.name: skill for skill in skills}
    return list(found.values())
