"""`interlock gate serve`: the service that answers the hooks of other agents. Hooks and screens start it by themselves.

Promises: a second one says that the first serves and ends with 0; with `--detach` the command ends when hooks are answered,
and the service belongs to no terminal.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer

    from interlock.runtime.gates.service.config import ServiceConfig

_LEAVING_LOOKS = 25
_LEAVING_PAUSE_S = 0.2


def register(app: typer.Typer) -> None:
    """Add the command."""
    import typer

    gate = typer.Typer(help="The service that answers other agents' hooks.", no_args_is_help=True)

    @gate.command()
    def serve(
        detach: bool = typer.Option(False, "--detach", help="Go on in the background; end when hooks are answered."),
        idle: float = typer.Option(15.0, min=0.02, help="Minutes without anything to do after which it leaves."),
    ) -> None:
        """Answer hooks until there is nothing to do."""
        from interlock.runtime.gates.service.config import ensure_config
        from interlock.runtime.gates.service.start import answers

        config = ensure_config()
        told = answers(config)
        if told is not None:
            print(f"The gate service runs already (process {told.get('pid')}).")
            return
        raise typer.Exit(_detached(config, idle) if detach else _serve(config, idle, -1))

    app.add_typer(gate, name="gate")


def _serve(config: ServiceConfig, idle: float, told: int) -> int:
    """Serve here. `told`: a pipe that hears a byte when hooks are answered, -1 for none."""
    from interlock.runtime.asks.endpoint import EndpointError
    from interlock.runtime.cli.fault import CommandFault
    from interlock.runtime.cli.stoppable import run_stoppable
    from interlock.runtime.gates.service.server import GateService
    from interlock.runtime.gates.service.start import answers

    _log_to_file()
    service = GateService(config, idle_s=idle * 60)

    def ready() -> None:
        if told >= 0:
            os.write(told, b"y")
            os.close(told)

    for left in range(_LEAVING_LOOKS, -1, -1):
        try:
            run_stoppable(service.serve(ready))
        except EndpointError:
            if answers(config) is not None:
                return 0  # another one was quicker
            if not left:
                raise
            time.sleep(_LEAVING_PAUSE_S)  # one that is about to leave holds the place a moment longer
        except CommandFault as fault:
            return 0 if fault.exit_code > 128 else fault.exit_code  # told to end, and it did in order
        else:
            return 0
    return 1


def _detached(config: ServiceConfig, idle: float) -> int:
    """Go on in a process of its own; 0 when it answers."""
    hears, tells = os.pipe()
    child = os.fork()
    if child:
        os.close(tells)
        answered = os.read(hears, 1) == b"y"
        with contextlib.suppress(ChildProcessError):
            os.waitpid(child, 0)
        return 0 if answered or _settled(config) else 1
    os.close(hears)
    _leave(tells)
    try:
        code = _serve(config, idle, tells)
    except BaseException:
        import logging

        logging.getLogger(__name__).exception("the gate service failed")
        code = 1
    os._exit(code)


def _leave(tells: int) -> None:
    """Become a process without terminal, parent and working directory of the caller's; only `tells` stays open."""
    os.setsid()
    if os.fork():
        os._exit(0)
    os.chdir("/")
    sys.stdout.flush()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    # what a caller left open would hold its pipes open for as long as the service lives
    for number in range(3, 256):
        if number not in (tells,):
            with contextlib.suppress(OSError):
                os.close(number)


def _settled(config: ServiceConfig) -> bool:
    """Whether somebody serves by now: another start may have been quicker, or an old one was just leaving."""
    from interlock.runtime.gates.service.start import answers

    return answers(config) is not None


def _log_to_file() -> None:
    import logging
    from logging.handlers import RotatingFileHandler

    from interlock.runtime.gates.service.server import log_file
    from interlock.runtime.journal.place import make_closed

    place = log_file()
    make_closed(place.parent)
    handler = RotatingFileHandler(place, maxBytes=1 << 20, backupCount=1, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
