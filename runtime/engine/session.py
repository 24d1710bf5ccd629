"""One session of the runtime: its journal, its rules, its socket and its pipeline.

Promises: the first event says what the session is and whether anything confines it; asks are answered on its socket
while it lives; when it ends, every call has its observation, every ask is closed, no process of it runs on, and the
last event says how it ended.
"""

from __future__ import annotations

import asyncio
import getpass
import os
import socket
import subprocess
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

from interlock.runtime.asks.broker import Broker, Record
from interlock.runtime.asks.protocol import SessionInfo
from interlock.runtime.asks.server import AskServer
from interlock.runtime.engine.grants import Grants, SessionGrants
from interlock.runtime.engine.manifest import FILE_NAME, Manifest, load_manifest
from interlock.runtime.engine.pipeline import Pipeline
from interlock.runtime.engine.sandbox.state import Sandbox, no_sandbox
from interlock.runtime.engine.setting import Setting
from interlock.runtime.events.ids import MESSAGE, new_session_id
from interlock.runtime.events.message import AssistantMessage, Menu, UserMessage
from interlock.runtime.events.session import Agent, SessionEnded, SessionStarted, Totals
from interlock.runtime.events.union import AnyEvent
from interlock.runtime.journal.envelope import brief
from interlock.runtime.journal.place import config_home, run_home, state_home
from interlock.runtime.journal.writer import Clock, JournalWriteError, JournalWriter, system_clock
from interlock.runtime.policy.verdict.decide import Policy
from interlock.runtime.state.session import SessionState
from interlock.runtime.tools import brand
from interlock.runtime.tools.baseline import ReadLedger
from interlock.runtime.tools.builtin.all import BUILTIN_TOOLS
from interlock.runtime.tools.definition import ToolContext, ToolDefinition, Visibility
from interlock.runtime.tools.environment import secrets_of
from interlock.runtime.tools.live_policy import LivePolicy
from interlock.runtime.tools.registry import Registry
from interlock.runtime.tools.workspace import Workspace
from interlock.runtime.tools.world import PosixWorld
from interlock.runtime.version import __version__

EndReason = Literal["completed", "error", "cancelled", "crashed"]


class RuntimeSession:
    """A session at work. Made by `RuntimeSession.start`."""

    def __init__(self, setting: Setting, server: AskServer | None) -> None:
        self._setting = setting
        self._server = server
        self._state = SessionState()
        self._ended = False
        setting.journal.subscribe(self._fold)
        setting.journal.subscribe(lambda event, line, offset: setting.grants.add(event))
        self.pipeline = Pipeline(setting)

    @classmethod
    @asynccontextmanager
    async def start(
        cls,
        workspace: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        agent: Agent | str = "agent",
        title: str | None = None,
        model: str | None = None,
        parent: str | None = None,
        clock: Clock = system_clock,
        policy: Policy | None = None,
        manifest: Manifest | None = None,
        tools: Sequence[ToolDefinition] = BUILTIN_TOOLS,
        visibility: Visibility | None = None,
        sandbox: Sandbox | None = None,
        environment: Mapping[str, str] | None = None,
        server: bool = True,
    ) -> AsyncIterator[RuntimeSession]:
        """A new session; it is ended when the block is left, if it has not ended before. `policy`: hold to these rules,
        whatever the files say; without it the files of all layers count, as they are at each decision.

        Raises JournalWriteError, PlaceError or ManifestError when it cannot begin; then nothing has begun.
        """
        roots = [workspace] if isinstance(workspace, str | os.PathLike) else list(workspace)
        place = Workspace(roots)
        registry = Registry(tools)
        manifest = manifest or load_manifest(Path(place.home) / FILE_NAME, registry)
        who = agent if isinstance(agent, Agent) else Agent(name=agent, version=__version__)
        protected = (str(state_home()), str(config_home()), str(run_home()))  # may refuse: before anything is made
        journal = JournalWriter.create(new_session_id(clock(), who.name), clock)
        broker = Broker(_record_in(journal), clock)
        host = os.environ if environment is None else environment
        setting = Setting(
            agent=who.name,
            journal=journal,
            registry=registry,
            context=_context(place, journal, host),
            broker=broker,
            policy_now=LivePolicy(place.roots) if policy is None else lambda: policy,
            world=PosixWorld(),
            manifest=manifest,
            sandbox=sandbox or no_sandbox(),
            reply_to=None,
            home=os.path.expanduser("~"),
            protected=protected,
            visibility=visibility or Visibility(),
            secrets=secrets_of(host),
            grants=Grants(rules_are_read=policy is None),
        )
        listening = _server(setting, title) if server else None
        session = cls(setting, listening)
        try:
            journal.append(_first_event(setting, who, title, model, parent), durable=True)
            await session._listen()
            yield session
        except BaseException as error:
            await session._close(*_ending_of(error))
            raise
        else:
            await session._close("completed", None)

    @property
    def id(self) -> str:
        """Name of the session and of its folder."""
        return self._setting.journal.session

    @property
    def journal(self) -> JournalWriter:
        """The session's journal."""
        return self._setting.journal

    @property
    def setting(self) -> Setting:
        """What the steps share; for embedding programs and tests."""
        return self._setting

    @property
    def state(self) -> SessionState:
        """The fold of the journal so far."""
        return self._state

    def menu(self) -> Menu:
        """The tools as they would be shown now, for the record of a request."""
        return self._setting.registry.menu(self._setting.visibility)

    def record(self, event: AnyEvent, *, durable: bool = False) -> AnyEvent:
        """Append an event of the loop (request, response, answer, pruning). Raises JournalWriteError."""
        if event.type == "context.pruned":
            self._setting.context.ledger.context_pruned()
        return self._setting.journal.append(event, durable=durable)

    def say_user(self, text: str, *, request_id: str | None = None) -> str:
        """Record what the person said and give the message's id."""
        message_id = self.journal.ids.new(MESSAGE)
        self.record(UserMessage(message_id=message_id, text=text, request_id=request_id))
        return message_id

    def say_assistant(self, text: str, *, request_id: str | None = None) -> str:
        """Record what the model said and give the message's id."""
        message_id = self.journal.ids.new(MESSAGE)
        self.record(AssistantMessage(message_id=message_id, text=text, request_id=request_id))
        return message_id

    async def end(self, reason: EndReason = "completed", message: str | None = None) -> None:
        """Stop what runs, close what is open, record the end. What is appended later is refused.

        Raises JournalWriteError when the end, or before it the result of a call, cannot be recorded.
        """
        if self._ended:
            return
        self._ended = True
        try:
            await self.pipeline.cancel_all()
            self._setting.broker.close_all("session_closed")
            self._setting.strays.stop()
            if self._state.open_calls:
                # an end behind a call without a result would hide the call from recovery
                left = ", ".join(self._state.open_calls)
                raise JournalWriteError(f"the results of {left} could not be recorded, so neither is the end")
            self.journal.append(SessionEnded(reason=reason, message=message, totals=self._totals()), durable=True)
        finally:
            if self._server is not None:
                await self._server.close()

    async def _listen(self) -> None:
        if self._server is not None:
            await self._server.start()
            self._setting.reply_to = str(self._server.path)

    async def _close(self, reason: EndReason, message: str | None) -> None:
        try:
            await self.end(reason, message)
        except JournalWriteError:
            # whoever hit the fault first has been told; a journal without its end reads as "writer gone"
            pass
        finally:
            self.journal.close()

    def _fold(self, event: AnyEvent, line: bytes, offset: int) -> None:
        known = brief(line)
        if known is not None:
            self._state.add(known)

    def _totals(self) -> Totals:
        state = self._state
        return Totals(
            calls=state.calls,
            denied=state.denied,
            failed=state.failed,
            input_tokens=state.input_tokens,
            output_tokens=state.output_tokens,
            cost_usd=state.cost_usd,
        )


def _record_in(journal: JournalWriter) -> Record:
    def record(event: AnyEvent, durable: bool) -> AnyEvent:
        # an ask outlives a full disk: who makes room and answers once more gets through
        if journal.failed:
            journal.recover()
        return journal.append(event, durable=durable)

    return record


_CANCELS = (KeyboardInterrupt, asyncio.CancelledError)


def _ending_of(error: BaseException) -> tuple[EndReason, str]:
    """How a session ends that an error left."""
    if isinstance(error, _CANCELS):
        return "cancelled", "it was told to stop"
    return "error", f"{type(error).__name__}: {error}"


def _context(workspace: Workspace, journal: JournalWriter, host: Mapping[str, str]) -> ToolContext:
    return ToolContext(
        workspace=workspace,
        ledger=ReadLedger(),
        artifacts=journal.artifacts,
        artifact_folder=str(journal.folder / "artifacts"),
        host=host,
    )


def _server(setting: Setting, title: str | None) -> AskServer:
    journal = setting.journal
    info = SessionInfo(
        id=journal.session,
        agent=setting.agent,
        title=title or "",
        cwd=setting.context.workspace.home,
        journal=str(journal.path),
    )
    grants = SessionGrants(journal, setting.grants)
    server = AskServer(setting.broker, sessions=(info,), agent_pids=setting.strays.leaders, grants=grants)
    setting.touch = server.touch
    # where all below this process is the agent's, other hosts need not be told of each command
    setting.strays.on_began = None if brand.adopts() else lambda pid: server.learn((pid,))
    return server


def _first_event(
    setting: Setting, agent: Agent, title: str | None, model: str | None, parent: str | None
) -> SessionStarted:
    workspace = setting.context.workspace
    return SessionStarted(
        agent=agent,
        cwd=workspace.home,
        workspace=workspace.roots,
        host=socket.gethostname(),
        pid=os.getpid(),
        user=_user(),
        model=model,
        policy_digest=setting.policy.digest,
        sandbox=setting.sandbox.state,
        runtime_version=__version__,
        parent=parent,
        title=title,
        branch=_branch(workspace.home),
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def _branch(folder: str) -> str | None:
    """The branch of the git work tree, None where there is none."""
    try:
        asked = subprocess.run(
            ["git", "-C", folder, "symbolic-ref", "--quiet", "--short", "HEAD"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired, UnicodeDecodeError):
        return None
    return asked.stdout.strip() or None
