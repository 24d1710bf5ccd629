"""The policy files of this machine: where they lie, reading them, and which project files the user trusts (PO-1, PO-2).

Promises: a file that is not there is no layer; one that is there and cannot be read makes everything ask, and says so; a
project's allows count only while the user trusts that path with exactly that content. A file is read once and its
digest is of the bytes that were read.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from interlock.runtime.journal.place import config_home
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.layer import Layer, LayerName, Mode, Policy, Problem
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.rules.rule import Rule

MANAGED = Path("/etc/interlock/policy.toml")
"""Rules of whoever manages this machine. No variable moves it."""
PROJECT_FILES = (".interlock/policy.toml", "interlock-policy.toml")
"""Below each root of a workspace."""
_TRUSTED = "trusted-policies.json"
_MOST_BYTES = 1_000_000


class TrustError(Exception):
    """Trust cannot be read or kept; the message says why and what to do."""


def user_file() -> Path:
    """The user's own rules."""
    return config_home() / "policy.toml"


def trust_file() -> Path:
    """What keeps which project files the user trusts."""
    return config_home() / _TRUSTED


def project_files(roots: Sequence[str | os.PathLike[str]]) -> list[Path]:
    """The policy files that lie in the workspace."""
    places = [Path(os.path.realpath(root)) / name for root in roots for name in PROJECT_FILES]
    return [place for place in dict.fromkeys(places) if os.path.lexists(place)]


def load_policy(
    roots: Sequence[str | os.PathLike[str]], *, mode: Mode | None = None, managed: Path = MANAGED
) -> Policy:
    """The built-in rules and those of every layer that is there. Never raises for a bad file."""
    layers = [read_layer(managed, "managed")] if _is_there(managed) else []
    layers += [read_layer(user_file(), "user")] if _is_there(user_file()) else []
    layers += [read_layer(path, "project") for path in project_files(roots)]
    return with_layers(layers, mode=mode)


def with_layers(layers: Sequence[Layer], *, mode: Mode | None = None) -> Policy:
    """These layers over the built-in one. `mode`: the one chosen now; a layer's stricter mode stands above it."""
    return with_built_in(list(layers), mode=mode)


def read_layer(path: Path, name: LayerName) -> Layer:
    """One file as a layer. Never raises: what cannot be read asks."""
    try:
        raw = _bytes(path)
        text = raw.decode("utf-8")
    except (OSError, ValueError) as error:
        return _unreadable(path, name, str(getattr(error, "strerror", None) or error))
    digest = hashlib.sha256(raw).hexdigest()
    trusted = ({digest} if is_trusted(path, digest) else set()) if name == "project" else None
    return load_layer(text, file=str(path), layer=name, digest=digest, trusted=trusted)


def is_trusted(path: Path, digest: str) -> bool:
    """Whether the user trusts this path with this content. What cannot be read is not trusted."""
    try:
        return _trusted().get(os.path.realpath(path)) == digest
    except TrustError:
        return False


def trust(path: Path, digest: str) -> None:
    """Trust the path with this content from now on. Raises TrustError."""
    kept = _trusted()
    kept[os.path.realpath(path)] = digest
    place = trust_file()
    new = place.with_name(f"{_TRUSTED}.{os.getpid()}")
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({"files": kept}, file, indent=1, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, place)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise TrustError(f"cannot write {place}: {error.strerror}. Nothing is trusted anew.") from None


def _trusted() -> dict[str, str]:
    place = trust_file()
    try:
        kept = json.loads(place.read_text(encoding="utf-8"))["files"]
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TrustError(f"cannot read {place}: {error}. Mend or remove it; nothing is trusted until then.") from None
    if not isinstance(kept, dict) or not all(isinstance(one, str) for one in kept.values()):
        raise TrustError(f"{place} is not as it was written. Mend or remove it; nothing is trusted until then.")
    return dict(kept)


def _is_there(path: Path) -> bool:
    return os.path.lexists(path)


def _bytes(path: Path) -> bytes:
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        seen = os.fstat(file.fileno())
        if not stat.S_ISREG(seen.st_mode):
            raise ValueError("it is no regular file")
        if seen.st_size > _MOST_BYTES:
            raise ValueError(f"it is larger than {_MOST_BYTES} bytes")
        return file.read(_MOST_BYTES + 1)


def _unreadable(path: Path, name: LayerName, why: str) -> Layer:
    said = f"{path} cannot be read ({why}), so everything asks"
    rule = Rule("unreadable-file", "ask", said, file=str(path), line=1, text=why)
    return Layer(
        name, (rule,), str(path), problems=(Problem(str(path), 1, f"cannot be read: {why}", "everything asks"),)
    )
