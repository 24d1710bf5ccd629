"""Where the gate service of this user is reached: its port, its key, its socket. Kept in the user's configuration folder.

Promises: chosen once and then kept, so that what stands in an agent's settings stays true; the file is the user's alone; a
damaged file is told, never silently replaced. Light: no other room of ours but the places is loaded.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
from dataclasses import asdict, dataclass
from pathlib import Path

from interlock.runtime.journal.place import config_home, make_closed, run_home

KEY_HEADER = "X-Interlock-Key"
"""Carries the key of a request over TCP; the socket needs none, its folder is closed to others."""
WAIT_HEADER = "X-Interlock-Wait"
"""Seconds for which the agent waits for the answer, where the settings say it."""
_LONGEST_SOCKET = 100
"""Bytes; systems take 103 to 107."""


class ServiceConfigError(Exception):
    """The file cannot be read or written; the message says which, why, and what to do."""


@dataclass(frozen=True, slots=True)
class ServiceConfig:
    """How hooks reach the service."""

    port: int
    """On 127.0.0.1."""
    key: str
    socket: str
    """Path of the Unix socket for command hooks."""

    @property
    def url(self) -> str:
        """Where http hooks post to; the agent's name follows."""
        return f"http://127.0.0.1:{self.port}"


def config_file() -> Path:
    """The file; there when any agent was ever connected."""
    return config_home() / "gate.json"


def read_config() -> ServiceConfig | None:
    """What was chosen; None: nothing yet. Raises ServiceConfigError."""
    place = config_file()
    try:
        told = json.loads(place.read_bytes())
        config = ServiceConfig(told["port"], told["key"], told["socket"])
        if not (isinstance(config.port, int) and 0 < config.port < 65536):
            raise ValueError("the port is no port")
        if not (isinstance(config.key, str) and len(config.key) >= 16 and isinstance(config.socket, str)):
            raise ValueError("key or socket is not as it was written")
        return config
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ServiceConfigError(f"cannot read {place}: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError) as error:
        raise ServiceConfigError(
            f"{place} is damaged ({error}). Remove it and connect your agents again, so that their settings fit."
        ) from None


def ensure_config() -> ServiceConfig:
    """What was chosen, or a choice made now and kept. Raises ServiceConfigError or PlaceError."""
    found = read_config()
    if found is not None:
        return found
    made = ServiceConfig(_free_port(), secrets.token_urlsafe(24), _socket_path())
    place = config_file()
    new = place.with_name(f"{place.name}.{os.getpid()}")
    try:
        make_closed(place.parent)
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w") as file:
            json.dump(asdict(made), file, indent=1)
            file.write("\n")
        # two that connect at once must agree: the first file stands
        os.link(new, place)
    except FileExistsError:
        return ensure_config()
    except OSError as error:
        raise ServiceConfigError(f"cannot write {place}: {error.strerror}.") from None
    finally:
        new.unlink(missing_ok=True)
    return made


def preview_config() -> ServiceConfig:
    """What was chosen, or what stands for a choice that is not made yet; nothing is written. Raises ServiceConfigError."""
    return read_config() or ServiceConfig(20_000, "chosen by `interlock connect`", _socket_path())


def _free_port() -> int:
    # below the range from which systems lend ports to clients, so that no other program gets it by chance
    for _ in range(200):
        port = 20_000 + secrets.randbelow(12_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise ServiceConfigError("no free port was found on 127.0.0.1 between 20000 and 32000.")


def _socket_path() -> str:
    path = os.fspath(run_home() / "gate.sock")
    if len(os.fsencode(path)) > _LONGEST_SOCKET:
        raise ServiceConfigError(f"{path} is too long for a socket. Set INTERLOCK_RUN_DIR to a shorter folder.")
    return path
