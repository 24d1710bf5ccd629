"""The screen: modes, wiring, and the way in and out of the terminal.

Promises: without a terminal it says so and returns 2 before anything is drawn; after any end the terminal is as it was,
and a fault is told after that, with 1; nothing heavy is imported before the first frame.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from rich.text import Text
from textual import events
from textual.app import App
from textual.binding import BindingType

from interlock.tui import commands
from interlock.tui.keyboard import Keyboard, KeyPassed
from interlock.tui.model.ask import Ask
from interlock.tui.model.guard import GUARD_SECONDS
from interlock.tui.model.header import title
from interlock.tui.model.undo import Note
from interlock.tui.palette import CommandProvider
from interlock.tui.screens.frame import FrameScreen
from interlock.tui.screens.inbox import InboxScreen
from interlock.tui.screens.overlay import Overlay
from interlock.tui.signs import wants_ascii
from interlock.tui.store import Store
from interlock.tui.terminal import driver_class
from interlock.tui.themes import DEFAULT, shipped, variable_defaults
from interlock.tui.widgets.key_footer import KeyFooter

SETTLE_SECONDS = 60.0


# the views that are not the first are imported when they are opened


def _sessions() -> FrameScreen:
    from interlock.tui.screens.board import BoardScreen

    return BoardScreen()


def _history() -> FrameScreen:
    from interlock.tui.screens.history import HistoryScreen

    return HistoryScreen()


def _rules() -> FrameScreen:
    from interlock.tui.screens.rules import RulesScreen

    return RulesScreen()


class InterlockApp(App[int]):
    """The app. `session`: open this one at once; `home`: the folder of sessions, if not the user's own."""

    MODES: ClassVar[Mapping[str, Callable[[], FrameScreen]]] = {  # type: ignore[assignment]
        "inbox": InboxScreen,
        "sessions": _sessions,
        "history": _history,
        "rules": _rules,
    }
    DEFAULT_MODE = "inbox"
    COMMANDS: ClassVar[set[type]] = {CommandProvider}  # type: ignore[assignment]
    BINDINGS: ClassVar[list[BindingType]] = []
    ENABLE_COMMAND_PALETTE = True
    TITLE = "Interlock"

    def __init__(
        self,
        *,
        session: str | None = None,
        home: Path | None = None,
        guard: float = GUARD_SECONDS,
        bell: bool = True,
        keys: Mapping[str, str] | None = None,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], int] | None = None,
        theme: str = DEFAULT,
        leaving: tuple[str, ...] = (),
    ) -> None:
        """`leaving`: lines that say what becomes of waiting agents when the person leaves, if not the usual."""
        super().__init__(driver_class=driver_class())
        self._leaving = leaving
        self.guard_seconds, self.rings, self.clock = guard, bell, clock
        self.key_changes = commands.keymap(keys or {})
        self.ascii_only = wants_ascii(os.environ)
        self._first_session = session
        self._known_asks: set[str] | None = None
        self._started = asyncio.Event()
        # before it runs: a theme that comes later has all styles read once more
        for one in shipped():
            self.register_theme(one)
        self.theme = theme
        self._keyboard = Keyboard(self, super().on_event)
        self.last_word: tuple[str, str] = ("", "")
        """What the last own answer came to: (what, how)."""
        self.store = Store(self._changed, home=home, **({"now": now} if now is not None else {}))

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our variables under a theme that lacks them."""
        return variable_defaults()

    def on_mount(self) -> None:
        if not self.is_headless:
            # a terminal that closes, and a polite kill, leave the terminal as it was
            loop = asyncio.get_running_loop()
            for number in (signal.SIGTERM, signal.SIGHUP):
                loop.add_signal_handler(number, self.exit, None, 128 + number)
        if self.key_changes:
            self.set_keymap(self.key_changes)
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        # the first frame is on the screen; now what is heavy may load
        self.run_worker(self._start(), group="background", exit_on_error=True)

    async def _start(self) -> None:
        await self.store.start()
        self._started.set()
        if self._first_session is not None:
            try:
                found = await self.store.find_session(self._first_session)
            except LookupError as error:
                self.notify(str(error), severity="error", markup=False, timeout=20)
            else:
                self.open_session(found)

    async def on_unmount(self) -> None:
        await self.store.close()

    def _fatal_error(self) -> None:
        # Textual's own report prints local variables, which can hold secrets
        error = self._exception
        if error is None or os.environ.get("INTERLOCK_TRACEBACK"):
            super()._fatal_error()
            return
        words = f"interlock: the screen stopped: {type(error).__name__}: {error}\n"
        self.panic(Text(words + "Agents and their asks go on. Set INTERLOCK_TRACEBACK=1 to see where it came from."))

    # --- what changed

    def _changed(self) -> None:
        if not self.is_running:
            return
        self._announce()
        self._tell_notes()
        screen = self.screen
        if isinstance(screen, FrameScreen):
            screen.changed()
        elif isinstance(screen, Overlay):
            screen.store_changed()

    def _announce(self) -> None:
        waiting = {ask.id for ask in self.store.asks if ask.is_open}
        new = waiting - self._known_asks if self._known_asks is not None else waiting
        self._known_asks = (self._known_asks or set()) | waiting
        if new and self.rings:
            self.bell()
        self._set_title(title(len(waiting)))

    def _set_title(self, words: str) -> None:
        if words != getattr(self, "_shown_title", None) and self._driver is not None and not self.is_headless:
            self._shown_title = words
            self._driver.write(f"\x1b]2;{words}\x07")

    def tell(self, what: str, how: str) -> None:
        """Say in the footer what the person's last answer came to."""
        self.last_word = (what, how)
        if isinstance(self.screen, FrameScreen):
            self.screen.query_one(KeyFooter).say(f"{how}: {what}")

    def undo(self) -> None:
        """Take back the last standing permission, and say what came of it."""
        if not self.store.undo() and isinstance(self.screen, FrameScreen):
            self.screen.say(Note("nothing to undo: no standing permission was given here just now"))

    def undo_words(self) -> str:
        """What can be taken back now and with which key, or nothing."""
        undo = self.store.undoable
        key = commands.key_label(commands.keys_of(commands.UndoAnswer, self.key_changes)[0])
        return undo.words(key) if undo is not None else ""

    def _tell_notes(self) -> None:
        screen = next((one for one in reversed(self.screen_stack) if isinstance(one, FrameScreen)), None)
        if screen is not None and screen.is_mounted:
            for note in self.store.take_notes():
                screen.say(note)

    # --- where to go

    def show_view(self, name: str) -> None:
        """One of the four views, with nothing on top of it."""
        if self.current_mode == name:
            while len(self.screen_stack) > 1:
                self.pop_screen()
        else:
            self.switch_mode(name)

    def go_to_waiting(self, step: int) -> None:
        """The next ask that waits, from anywhere."""
        if not any(ask.is_open for ask in self.store.asks):
            self.notify("Nothing waits for you.", markup=False, timeout=3)
            self._go_in_inbox(step)  # what is over leaves the card
            return
        self.show_view("inbox")
        if self.screen.is_mounted:
            self._go_in_inbox(step)
        else:
            self.call_after_refresh(self._go_in_inbox, step)

    def _go_in_inbox(self, step: int) -> None:
        if isinstance(self.screen, InboxScreen):
            self.screen.go_to_waiting(step)

    def open_session(self, session_id: str) -> None:
        """A session on top of the present view."""
        from interlock.tui.screens.session import SessionScreen

        self.push_screen(SessionScreen(session_id))

    def open_artifact(self, folder: Path, relative: str) -> None:
        """A file beside the journal, in the pager."""
        from interlock.tui.screens.artifact import ArtifactScreen

        self.push_screen(ArtifactScreen(folder, relative))

    def show_whole(self, ask: Ask) -> None:
        """Everything of an ask, on top."""
        from interlock.tui.screens.whole import WholeScreen

        self.push_screen(WholeScreen(ask))

    def show_panel_help(self, *places: str) -> None:
        """The keys of a panel, on top: of those of these places and everywhere only what the panel binds."""
        from interlock.tui.screens.help import HelpScreen

        live = frozenset(active.binding.id or "" for active in self.screen.active_bindings.values())
        self.push_screen(HelpScreen(places, self.key_changes, live))

    def show_help(self, places: tuple[str, ...]) -> None:
        """The keys of a place, on top: those that something on this screen binds."""
        from interlock.tui.screens.help import HelpScreen

        live = {
            binding.id
            for node in self.screen.walk_children(with_self=True)
            for bound in node._bindings.key_to_bindings.values()
            for binding in bound
            if binding.id in commands.REGISTRY
            # an answer waits for its ask, and is told of all the same
            and (commands.REGISTRY[binding.id].answers or node.check_action(binding.action, ()) is not False)
        }
        self.push_screen(HelpScreen(places, self.key_changes, frozenset(live)))

    def copy(self, text: str) -> None:
        """Send text to the terminal's clipboard, and say what really happened."""
        from interlock.tui.clipboard import copy

        try:
            copied = copy(text, environ=os.environ)
        except OSError as error:
            self.notify(f"Nothing was copied: {error}", severity="error", markup=False)
            return
        if copied.sequence and self._driver is not None:
            self._driver.write(copied.sequence)
        self.notify(copied.message, markup=False, timeout=4)

    def ask_to_quit(self) -> None:
        """Leave; asks first when asks wait."""
        waiting = sum(ask.is_open for ask in self.store.asks)
        if not waiting:
            self.exit(0)
            return
        from interlock.tui.screens.quit import LEAVING, QuitScreen

        self.push_screen(QuitScreen(waiting, self._leaving or LEAVING), lambda leave: self.exit(0) if leave else None)

    # --- keys

    async def on_event(self, event: events.Event) -> None:
        """Every event of the terminal comes by here first."""
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._note(event)
            await self._keyboard.take(event)
            return
        if isinstance(event, events.AppFocus):
            self._disturb()
        await super().on_event(event)

    async def on_key_passed(self, message: KeyPassed) -> None:
        """The way of a key is at its end."""
        await self._keyboard.passed(message)

    def _note(self, event: events.Key | events.Paste) -> None:
        # whatever answers hears of every key when it comes, so that it knows when the keyboard was quiet
        if isinstance(event, events.Paste):
            self._disturb()
        elif (note := getattr(self.screen, "note_key", None)) is not None and self.screen.is_mounted:
            note(event)

    def _disturb(self) -> None:
        if (disturb := getattr(self.screen, "disturb", None)) is not None and self.screen.is_mounted:
            disturb()

    # --- for tests

    async def settled(self) -> None:
        """Return when nothing is under way that is known to change the screen. Raises TimeoutError after a minute."""
        async with asyncio.timeout(SETTLE_SECONDS):
            await self._started.wait()
            quiet = 0
            while quiet < 2:
                await asyncio.sleep(0.01)
                busy = self._keyboard.is_busy or not self.store.is_settled or getattr(self.screen, "is_sending", False)
                busy = busy or any(w.group != "background" and not w.is_finished for w in self.workers)
                quiet = 0 if busy else quiet + 1


def open_screen(session: str | None = None, **options: Any) -> int:
    """Open the screen and return the exit code: 0 left, 1 a fault, 2 no terminal that could show it."""
    why = unfit(sys.stdin, sys.stdout, os.environ)
    if why:
        print(f"interlock: {why}", file=sys.stderr)
        return 2
    options.setdefault("bell", os.environ.get("INTERLOCK_BELL", "1") != "0")
    app = InterlockApp(session=session, **options)
    return _run(app)


def unfit(stdin: Any, stdout: Any, environ: Mapping[str, str]) -> str:
    """Why this terminal cannot show the screen, or nothing."""
    for name, stream in (("input", stdin), ("output", stdout)):
        if stream is None or not stream.isatty():
            return (
                f"the screen needs a terminal, and its {name} is none. "
                "`interlock asks` and `interlock sessions` work without one."
            )
    term = environ.get("TERM", "")
    if term in ("", "dumb"):
        said = "TERM is not set" if not term else "TERM is 'dumb'"
        return f"the screen needs a terminal that can place text, and {said}. Try: TERM=xterm-256color interlock"
    return ""


def _run(app: InterlockApp) -> int:
    app.run()
    return app.return_code or 0
