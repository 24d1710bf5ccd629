"""The demo: two scripted agents at work on a real scratch project, through the runtime that real models use.

Promises: no key, no network; the project is made in a temporary folder and stays there; both sessions end with their
last event, also when the demo is stopped.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from interlock.runtime.agents.demo_script import MEND_TASK, SURVEY_TASK, mend, survey
from interlock.runtime.agents.loop import AgentLoop
from interlock.runtime.agents.project import make_project
from interlock.runtime.agents.scripted import ScriptedModel
from interlock.runtime.engine.session import RuntimeSession
from interlock.runtime.events.session import Agent
from interlock.runtime.version import __version__


@dataclass(frozen=True, slots=True)
class Part:
    """One of the two agents."""

    session: RuntimeSession
    loop: AgentLoop
    task: str


@dataclass(frozen=True, slots=True)
class Demo:
    """The demo, ready to run. The first part is the one that mends the failing test."""

    project: Path
    parts: tuple[Part, Part]

    async def run(self) -> None:
        """Both agents to their final answers. Raises what their loops raise."""
        async with asyncio.TaskGroup() as group:
            for part in self.parts:
                group.create_task(_to_the_end(part))


async def _to_the_end(part: Part) -> None:
    await part.loop.run(part.task)
    await part.session.end("completed")


@asynccontextmanager
async def open_demo(*, pace_s: float) -> AsyncIterator[Demo]:
    """Make the project and begin both sessions. `pace_s`: seconds that each scripted turn takes.

    Raises ProjectFault, JournalWriteError or PlaceError when it cannot begin.
    """
    project = Path(tempfile.mkdtemp(prefix="interlock-demo-")) / "shop"
    await asyncio.to_thread(make_project, project)
    async with AsyncExitStack() as stack:
        parts = []
        for name, title, task, script in (
            ("mender", "mend the failing test", MEND_TASK, mend()),
            ("surveyor", "survey the shop", SURVEY_TASK, survey()),
        ):
            session = await stack.enter_async_context(
                RuntimeSession.start(
                    project,
                    agent=Agent(name=name, version=__version__, kind="demo"),
                    title=title,
                    model=ScriptedModel.name,
                )
            )
            parts.append(Part(session, AgentLoop(session, ScriptedModel(script, pace_s=pace_s)), task))
        yield Demo(project, (parts[0], parts[1]))
