"""What was seen and not said. The few things that do not count stand here in tables, each with its reason.

Promises: whatever lies in the fixture counts, unless a table below says why not.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Sequence
from pathlib import Path

from interlock.runtime.policy.facts.path import is_below
from tests.oracle.claims import Claims
from tests.oracle.sandbox import HOSTS
from tests.oracle.trace import Touch

NOT_COUNTED = {
    "/bin": "programs, and their names",
    "/sbin": "programs, and their names",
    "/lib": "libraries that the loader takes",
    "/lib64": "the loader",
    "/usr": "programs, libraries, and the data that come with them: modules, time zones, terminals, languages",
    "/etc": "settings for the whole machine; no generated command names one",
    "/opt": "programs, and their names",
    "/var": "what the machine's programs keep; no generated command names it",
    "/run": "the machine's services: names are looked up by one",
    "/proc": "the kernel's answers",
    "/sys": "the kernel's answers",
    "/dev": "no files: null, random, terminal, descriptors",
}  # fmt: skip
"""Places outside of the fixture, and below. Programs that run from there count all the same."""
OWN_SETTINGS = {
    ".gitconfig": "the person's settings of git, which every git command reads",
    ".gitignore": "names that are left out; the text is never shown",
    ".ignore": "names that are left out; the text is never shown",
    ".rgignore": "names that are left out; the text is never shown",
    ".curlrc": "the person's settings of a program",
    ".wgetrc": "the person's settings of a program",
    ".netrc": "the person's settings of a program",
    ".sqliterc": "the person's settings of a program",
    ".ssh/config": "the person's settings of a program",
    ".wget-hsts": "what a program remembers for the person",
    ".profile": "the person's settings of a shell",
    ".lesshst": "what a program remembers for the person",
}  # fmt: skip
"""Files that a program takes of itself, in a repository or a home."""
_KEYS = ".gnupg"
"""What gpg keeps for the person: keys, trust, locks, made where it is not there. Changing keys is said all the same."""
_HELPERS = {
    "tar": re.compile(r"gzip|bzip2|xz|zstd|lzma|lzip|lzop|compress|sh|dash"),
    **dict.fromkeys(("rsync", "timedatectl"), re.compile(r"ssh")),
    "egrep": re.compile(r"grep"),
    "fgrep": re.compile(r"grep"),
    "ctags": re.compile(r"sh|sort"),
    "zip": re.compile(r"unzip|sh|dash"),
    "man": re.compile(r".*"),
    **dict.fromkeys(
        ("cc", "gcc", "c++", "g++", "c99", "c89", "nvcc"),
        re.compile(r"(?:.*-)?(?:gcc|cc|g\+\+)(?:-\d+)?|cc1|cc1plus|as|collect2|ld|lto-wrapper|lto1|sh|dash"),
    ),
    **dict.fromkeys(("mail", "mailx", "bsd-mailx"), re.compile(r"sendmail")),
    **dict.fromkeys(
        ("gpg", "gpgsm", "gpgconf", "gpgtar", "gpg-connect-agent", "dirmngr"),
        re.compile(r"gpg.*|dirmngr|keyboxd|scdaemon"),
    ),
    "gcc-ar": re.compile(r"ar"),
    "pg_dumpall": re.compile(r"pg_dump"),
    "dbus-run-session": re.compile(r"dbus-daemon"),
    "ssh": re.compile(r"sh|dash|ssh"),
    "diff3": re.compile(r"diff"),
    "sdiff": re.compile(r"diff"),
    "scp": re.compile(r"ssh|cp|sh|dash"),
    "sftp": re.compile(r"ssh|sh|dash"),
    "bash": re.compile(r"id"),
    "git": re.compile(r"ssh|basename|sed|gettext|envsubst|cat|uname|perl|gpg"),
    "ldd": re.compile(r"ld-linux.*"),
    "mkfs": re.compile(r"mkfs\..*"),
}
"""Programs that a program runs as a part of itself, on the very files that are said of it."""
_GIT_OPEN = re.compile(r"(?:^|/)(?:config(?:\.worktree)?|hooks/.*|info/(?:attributes|exclude|grafts))(?:\.lock)?$")
"""What of its own folder git does not change by the way: it would decide what later commands do."""
_SHELLS = ("bash", "sh", "dash")
_SYSTEM = ("/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/", "/usr/lib/git-core/", "/usr/local/bin/")


def find_uncovered(touches: Sequence[Touch], claims: Claims, root: Path) -> list[Touch]:
    """What of `touches` is not in `claims` and counts."""
    gone = _gone(touches)
    found = [t for t in dict.fromkeys(touches) if not _is_covered(t, claims) and not _is_noise(t, claims, root, gone)]
    return _without_own_files(found, touches)


def _is_covered(touch: Touch, claims: Claims) -> bool:
    match touch.kind:
        case "read":
            return claims.has_read(touch.path)
        case "list":
            by_shell = posixpath.basename(touch.program) in _SHELLS
            return claims.has_list(touch.path) or (by_shell and claims.has_pattern_below(touch.path))
        case "write" | "delete":
            return claims.has_write(touch.path)
        case "exec":
            return claims.has_program(touch.path)
        case "connect":
            address = touch.path.rpartition(":")[0]
            if address.startswith("0.0."):
                return True  # no machine's: a small number that was taken for an address
            names = {address, *(name for name, where in HOSTS.items() if where == address)}
            return claims.has_host(names) or _is_lookup(touch, claims)


def _is_lookup(touch: Touch, claims: Claims) -> bool:
    """Looking up the name of a machine that is said, or choosing among its addresses, or asking for the own name."""
    own_name = not claims.programs.isdisjoint(("hostname", "hostid"))
    return touch.path.endswith((":53", ":0")) and (claims.network or bool(claims.hosts) or own_name)


def _is_noise(touch: Touch, claims: Claims, root: Path, gone: set[str]) -> bool:
    path = touch.path
    if touch.kind == "connect":
        return False
    inside = path.startswith(f"{root}/")
    if touch.kind == "exec":
        return not inside and _is_part(touch, claims)
    if posixpath.basename(touch.program) == "bwrap" and path.startswith(("/tmp/newroot", "/tmp/oldroot", "/newroot")):
        return True  # of a file system of its own, which is gone with it
    if not inside and (path.startswith("/tmp/hsperfdata_") or (path.startswith("/tmp/") and path in gone)):
        return True  # what a Java machine notes of itself, and files for a while
    if not inside:
        return any(path == place or path.startswith(f"{place}/") for place in NOT_COUNTED) or path in ("/", "/tmp")
    if path in gone and (path.startswith(f"{root}/tmp/") or _is_beside(path, claims)):
        return True
    if path.startswith(f"{root}/tmp/") and posixpath.basename(touch.program) in ("mktemp", "tempfile"):
        return True  # a new file with a name that nobody knows before
    if touch.call in ("mkdir", "mkdirat") and any(is_below(place, path) for place, _ in claims.writes):
        return True  # a folder on the way to what is said
    if touch.kind == "read" and any(path.endswith(f"/{name}") for name in OWN_SETTINGS):
        return True
    if touch.path.startswith(f"{root}/home/{_KEYS}") and posixpath.basename(touch.program).startswith("gpg"):
        return True
    if touch.kind == "list" and touch.path == f"{root}/tmp":
        return True  # names that are taken in the folder for files for a while
    if posixpath.basename(touch.program) == "lsattr" and claims.has_list(posixpath.dirname(touch.path)):
        return True  # files are opened for their attributes, not for what is in them
    return _is_git_own(touch, claims, root)


def _is_part(touch: Touch, claims: Claims) -> bool:
    """Whether the program is a part of one that is said."""
    name = posixpath.basename(touch.path)
    if "git" in claims.programs and (name.startswith("git-") or name in ("git", "sh", "dash")):
        return True
    return any(program in claims.programs and helper.fullmatch(name) for program, helper in _HELPERS.items())


def _gone(touches: Sequence[Touch]) -> set[str]:
    """What was not there before, and is not there any more."""
    gone = set[str]()
    for touch in touches:
        if touch.kind == "delete":
            gone.add(touch.path)
        elif touch.kind == "write":
            gone.discard(touch.path)
    # the fixture itself never changes, so it tells what was there
    return {path for path in gone if not os.path.lexists(path)}


def _is_beside(path: str, claims: Claims) -> bool:
    """Whether it lies beside a file that is said to change: programs write a new one and give it the name at the end."""
    folder = posixpath.dirname(path)
    return any(posixpath.dirname(place) == folder for place, _ in claims.writes)


def _is_git_own(touch: Touch, claims: Claims, root: Path) -> bool:
    """Git's own files, for a command that is said to be git's work on that repository.

    A remote that only the configuration tells is said as a host that is not known, and may be a folder.
    """
    if "git" not in claims.programs or not posixpath.basename(touch.program).startswith("git"):
        return False
    if claims.any_host and touch.path.startswith(f"{root}/out/remote.git"):
        return True
    own = f"{root}/ws/.git"
    if touch.path != own and not touch.path.startswith(f"{own}/"):
        is_settings = touch.path.endswith(("/.gitattributes", "/.mailmap", "/.gitmodules"))
        # `git status` tells names: whether a file is as the index has it; unit tests hold what is shown against the facts
        if touch.kind == "list" and is_below(touch.path, f"{root}/ws"):
            return True
        return touch.kind == "read" and (is_settings or (claims.shows_names and touch.path.startswith(f"{root}/ws/")))
    return touch.kind == "read" or not _GIT_OPEN.search(touch.path)


def _without_own_files(found: list[Touch], touches: Sequence[Touch]) -> list[Touch]:
    """Without a script's own text, which its interpreter reads because it runs, and without a system script's helpers."""
    ran = {t.path for t in touches if t.kind == "exec"}
    scripts = {p for p in ran if p.startswith(_SYSTEM) and _is_script(p)}
    return [
        t
        for t in found
        if not (t.kind == "read" and t.path in ran)
        and not (t.kind == "exec" and t.path.startswith(_SYSTEM) and scripts)
        and not (t.kind == "read" and t.path.startswith(_SYSTEM))
    ]


def _is_script(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False
