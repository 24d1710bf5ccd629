"""The command line: one command a file, imported only when it is called.

Promises: `--version` costs little more than starting Python; a person's mistake ends with one clear message and exit
code 2, a failure with 1, an interrupt with 130; no traceback reaches a person unless INTERLOCK_TRACEBACK is set.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from interlock.runtime.cli import outlet
from interlock.runtime.version import __version__

if TYPE_CHECKING:
    import typer

_COMMANDS = (
    "screen",
    "demo",
    "call",
    "sessions",
    "show",
    "events",
    "replay",
    "verify",
    "asks",
    "answer",
    "schema",
    "policy",
    "acp",
    "gate",
    "doctor",
    "connect",
    "disconnect",
    "codex",
    "opencode",
)
"""Every name is a module `<name>_command` beside this file with `register(app)`."""

_AGENTS = ("demo", "call", "acp", "codex", "opencode")
"""Commands whose process starts nothing but what belongs to an agent (and, for `demo`, a host of its own)."""


def main() -> None:
    """Entry point of the `interlock` program."""
    if not outlet.usable():
        sys.exit(1)
    if sys.argv[1:] in (["--version"], ["-V"]):
        print(f"interlock {__version__}")
        return
    if sys.argv[1:2] and sys.argv[1] in _AGENTS:
        from interlock.runtime.tools.brand import adopt_orphans

        adopt_orphans()
    sys.exit(run(sys.argv[1:]) if sys.argv[1:] else _screen())


def _screen() -> int:
    """The screen, without loading the commands: it is what a person waits for most often."""
    from interlock.runtime.cli.opening import show_screen

    try:
        return outlet.closing(show_screen())
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return outlet.closing(_report(error))


def run(arguments: list[str]) -> int:
    """Run one command and say with which exit code the process should end."""
    import typer

    from interlock.runtime.cli.fault import CommandFault

    command = typer.main.get_command(build())
    try:
        code = command.main(args=arguments, prog_name="interlock", standalone_mode=False)
        return outlet.closing(code if isinstance(code, int) else 0)
    except CommandFault as fault:
        print(f"interlock: {_visible(fault)}", file=sys.stderr)
        return outlet.closing(fault.exit_code)
    except BrokenPipeError:
        outlet.abandon()  # the reader went away (`| head`): not a fault
        return 0
    except SystemExit:
        if not outlet.reader_has_left():
            raise
        return 0
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        return outlet.closing(_report(error))


def _visible(error: Exception) -> str:
    """What it says, with everything that a terminal could obey made visible: names of files stand in it."""
    from interlock.runtime.cli.asks_command import plain

    return "\n".join(plain(line) for line in str(error).split("\n"))


def _report(error: Exception) -> int:
    from interlock.runtime.cli.fault import known_faults

    show = getattr(error, "show", None)
    if callable(show) and hasattr(error, "exit_code"):  # a usage error of the command line itself
        show(file=sys.stderr)
        return int(getattr(error, "exit_code", 2))
    if type(error).__name__ == "Abort":
        print("interlock: stopped", file=sys.stderr)
        return 130
    if os.environ.get("INTERLOCK_TRACEBACK"):
        raise error
    if isinstance(error, known_faults()):
        print(f"interlock: {_visible(error)}", file=sys.stderr)
        return 1
    if isinstance(error, OSError) and error.filename is None and error.errno in outlet.CANNOT_WRITE:
        return outlet.unwritten(error)
    print(
        f"interlock: unexpected {type(error).__name__}: {_visible(error)}\n"
        "Nothing was changed by this message. Set INTERLOCK_TRACEBACK=1 to see where it came from.",
        file=sys.stderr,
    )
    return 1


def build() -> typer.Typer:
    """The whole command tree."""
    from importlib import import_module

    import typer

    app = typer.Typer(
        name="interlock",
        help="Watch every coding agent live, approve or deny what it asks, browse all that was done.",
        no_args_is_help=False,
        add_completion=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in _COMMANDS:
        import_module(f"interlock.runtime.cli.{name}_command").register(app)
    return app
