"""The one place where the runtime's side knows the screen.

Promises: nothing of the command line is imported here, so that `interlock` alone begins with the screen and not with
the commands it does not need.
"""

from __future__ import annotations


def show_screen(session: str | None = None, *, leaving: tuple[str, ...] = ()) -> int:
    """Open the screen, on one session at once if it is named; returns the exit code of the process.

    `leaving`: lines that say what becomes of waiting agents when the person leaves, if not the usual.
    """
    from threading import Thread

    from interlock.runtime.gates.service.start import start_if_connected
    from interlock.tui.app import open_screen

    # beside the screen: it finds the service as it finds any host, and opens at once without it
    Thread(target=start_if_connected, name="start the gate service", daemon=True).start()
    return open_screen(session=session, leaving=leaving)
