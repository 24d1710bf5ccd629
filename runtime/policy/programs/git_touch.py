"""What a git command reads, writes and loses, as its entry and its words tell it.

Promises: a pathspec is told by the folder that holds all that it could match; what no pathspec narrows is the whole work
tree. A path from the top of the work tree begins with `:/`, and what is the repository's own says so in its cause: where
both lie is looked up by whoever has the machine. Pure.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from interlock.runtime.policy.programs.address import is_remote
from interlock.runtime.policy.programs.git import asks_setting, git_verdict
from interlock.runtime.policy.programs.role import ROLES, Use
from interlock.runtime.policy.programs.touch import ANYWHERE, NO_FILES, Touch, plain_touches
from interlock.runtime.policy.programs.usage import Usage, Word

TOP = ":/"
"""Begins a path that is seen from the top of the work tree."""
REPOSITORY = "repository"
"""Cause of what lies in the git directory, which `.git` stands for."""
NEW = "new repository"
"""Cause of the git directory that is made in the folder itself."""
MAYBE = "path or revision"
"""Cause of a word that is a path where such a file exists, and a revision otherwise."""
WHOLE = "whole tree"
"""Cause of what is taken where no pathspec is given."""
UNLESS = "whole tree, unless a path is given"
"""The same where a word may be a path or a revision: it holds if none of them is a path."""
PATTERN = "pathspec "
"""Begins the cause of a folder that a pattern looks in; the pattern follows."""
_PATH_ROLES = ("pathspec", "revision")
_MAGIC = re.compile(r":\(([^)]*)\)(.*)", re.DOTALL)
_SPECIAL = re.compile(r"[*?\[\\]")


def git_touches(usage: Usage) -> Iterator[Touch]:
    """Everything that the command touches. What it reads below a folder it has from the repository, or from the index."""
    looks_beside = usage.reading.has("--no-index", "--untracked", "-A", "--all", "-u", "--others", "-o")
    for touch in _touches(usage):
        tracked = touch.use == "read" and touch.below and not looks_beside and usage.program.tree in ("", "read")
        yield replace(touch, tracked=True) if tracked and usage.program.name != "git add" else touch


def _touches(usage: Usage) -> Iterator[Touch]:
    yield from _folders(usage)
    only_reads = not git_verdict(usage.whole)
    yield Touch("read", ".")
    if not only_reads and usage.program.name != "git config":
        yield Touch("write", ".git", REPOSITORY)
    if not usage.verb:
        if not only_reads:
            yield from plain_touches(usage)
            yield Touch("write", ".", "", False, True)
        return
    if usage.program.name == "git config":
        yield from _settings(usage)
        return
    yield from _values(usage)
    yield from _gone(usage)
    yield from _operands(usage)


def _folders(usage: Usage) -> Iterator[Touch]:
    folder = ""
    for word in usage.words:
        if word.option == "-C" and word.role == "cd":
            folder = posixpath.join(folder, word.text)
            yield Touch("read", folder, "-C")
        elif word.option in ("--git-dir", "--work-tree") and word.role == "folder":
            yield Touch("read" if not git_verdict(usage.whole) else "write", word.text, word.option, True, True)


def _given(usage: Usage, role: str) -> bool:
    """Whether an option of the sub-command itself has this role."""
    table = usage.program.options
    return any(table.get(option.name) == role for option in usage.reading.options)


def tree_use(usage: Usage) -> Use | None:
    """What becomes of the content of the files that the pathspecs name; None: it is left alone."""
    tree = usage.program.tree
    if _given(usage, "remove") and not usage.program.gone:
        return "delete"
    if _given(usage, "walk") or _given(usage, "content"):
        tree = tree or "read"
    elif _given(usage, "names"):
        tree = ""
    return tree if tree in ("read", "write", "delete") else None


def _values(usage: Usage) -> Iterator[Touch]:
    """Paths that options name, and the folder that is written into where none does."""
    start = len(usage.whole) - len(usage.args)
    into = usage.program.into
    for word in usage.words:
        if not word.option or word.at < start:
            continue
        role = ROLES[word.role]
        if word.option == "-L" and word.role == "content" and ":" in word.text:
            yield Touch("read", word.text.rpartition(":")[2])
        elif word.role in ("from", "to"):
            yield from _repository(word)
        elif word.option == "--pathspec-from-file":
            yield Touch("read", word.text, word.option)
            yield Touch(tree_use(usage) or "read", ".", WHOLE, True, True)
        elif word.role == "prefix":
            yield Touch("write", word.text.rpartition("/")[0] or ".", word.option, True, True)
        elif role.use is not None and word.text not in NO_FILES:
            into = "" if word.role == "folder" else into
            yield Touch(role.use, word.text, word.option, True, role.below)
        if word.role == "list":
            yield Touch("read", ANYWHERE, word.option, False)
    if into and not usage.reading.has("--stdout"):
        yield Touch("write", into, "", into != ANYWHERE, into != ANYWHERE)
    if usage.reading.has("--unsafe-paths"):
        yield Touch("write", ANYWHERE, "--unsafe-paths", False)
    yield from _unnamed(usage)


def _unnamed(usage: Usage) -> Iterator[Touch]:
    """What neither words nor entries name: files that the input names, files for a while, keys."""
    name, has = usage.program.name, usage.reading.has
    if name == "git hash-object" and has("--stdin-paths"):
        yield Touch("read", ANYWHERE, "--stdin-paths", False)
    if name == "git checkout-index" and (has("--stdin", "--temp") or "all" in usage.of("text")):
        yield Touch("write", ".", WHOLE, True, True)


def _gone(usage: Usage) -> Iterator[Touch]:
    """Refs, logs and objects that are lost."""
    gone = usage.program.gone
    if not gone:
        return
    if "remove" not in usage.program.options.values():
        yield Touch("delete", gone, REPOSITORY, True, True)
    elif _given(usage, "remove"):
        for name in usage.operands or [""]:
            yield Touch("delete", f"{gone}/{name}".rstrip("/"), REPOSITORY, True, not name)


def _settings(usage: Usage) -> Iterator[Touch]:
    use: Use = "read" if asks_setting(usage.args) else "write"
    files = [word.text for word in usage.words if word.option in ("-f", "--file")]
    places = {"--global": "~/.gitconfig", "--system": "/etc/gitconfig"}
    files += [place for option, place in places.items() if usage.reading.has(option)]
    yield from (Touch(use, file, "--file") for file in files)
    if not files and not usage.reading.has("--blob"):
        yield Touch(use, ".git/config", REPOSITORY)


# -- operands


def _operands(usage: Usage) -> Iterator[Touch]:
    if usage.program.name == "git checkout":
        yield from _checkout(usage)
        return
    use = tree_use(usage)
    named, may_be_named, objects, others = False, False, 0, 0
    for word, behind in _with_dashes(usage):
        role = ROLES[word.role]
        if word.role == "pathspec" or (behind and word.role == "revision"):
            found = list(_pathspec(word.text, use or "read", usage, below=use is not None))
            named = named or bool(found)
            yield from found
        elif word.role == "revision" and use == "delete":
            continue  # what loses the whole tree takes no path
        elif word.role == "revision":
            found = list(_revision(word.text, use or "read", usage, below=use is not None))
            may_be_named = may_be_named or any(touch.cause == MAYBE for touch in found)
            # `:/text` also finds a commit, of which all is shown
            is_object = bool(found) and not word.text.startswith(":/") and all(t.cause != MAYBE for t in found)
            objects, others = objects + is_object, others + (not is_object)
            yield from found
        elif word.role in ("from", "to"):
            yield from _repository(word)
        elif word.role == "prefix":
            yield Touch("write", word.text.rpartition("/")[0] or ".", "", True, True)
        elif role.use is not None and word.text not in NO_FILES:
            changed = role.use == "read" and _given(usage, "inplace")
            yield Touch("write" if changed else role.use, word.text, "", True, role.below or usage.program.below)
    if usage.program.name in ("git clone", "git submodule add") and len(usage.operands) == 1:
        yield Touch("write", _humanish(usage.operands[0]), "", True, True)
    if usage.program.name == "git init" and not usage.operands:
        bare = usage.reading.has("--bare")
        yield Touch("write", "." if bare else ".git", "" if bare else NEW, True, True)
    whole = usage.program.default or (TOP if _given(usage, "walk") and usage.program.tree else "")
    if use is None and whole == TOP and usage.program.only_reads and not named:
        yield Touch("read", ".", WHOLE)  # names from all of it
    if usage.reading.has("--full-diff"):
        named = may_be_named = False  # the paths only choose the commits, of which all is shown
    if use is None or not whole or named or (objects and not others):
        return
    if whole == TOP:
        yield Touch(use, ".", UNLESS if may_be_named else WHOLE, True, True)
    else:
        yield Touch(use, whole, "", True, True)


def _with_dashes(usage: Usage) -> Iterator[tuple[Word, bool]]:
    """The operands, each with whether it stands behind `--`."""
    start = len(usage.whole) - len(usage.args)
    values = {option.value_index for option in usage.reading.options if option.value is not None}
    cut = next((i for i, word in enumerate(usage.args) if word == "--" and i not in values), len(usage.args))
    for word in usage.words:
        if not word.option:
            yield word, word.at - start > cut


def _checkout(usage: Usage) -> Iterator[Touch]:
    """It switches, or it takes files from the index or a commit and loses what stands in them."""
    words = list(_with_dashes(usage))
    makes = usage.reading.has("-b", "-B", "--orphan", "--detach", "-d", "-t", "--track")
    paths = False
    for at, (word, behind) in enumerate(words):
        if behind or (at > 0 and not makes):
            paths = True
            yield from _pathspec(word.text, "delete", usage, below=True)
        elif not makes:
            yield from _revision(word.text, "delete", usage, below=True)
    if usage.reading.has("--pathspec-from-file"):
        yield Touch("delete", ".", WHOLE, True, True)
    if _given(usage, "remove") and not paths:
        yield Touch("delete", ".", WHOLE, True, True)
    elif words and not paths:
        yield Touch("write", ".", WHOLE if makes else UNLESS, True, True)


def _pathspec(text: str, use: Use, usage: Usage, *, below: bool) -> Iterator[Touch]:
    """What a pathspec names; nothing for one that only leaves something out."""
    magic, rest = split_magic(text)
    if usage.root.name and any(o in usage.options for o in ("--literal-pathspecs",)):
        magic, rest = frozenset(), text
    if text == ":":
        return
    if "exclude" in magic:
        if all("exclude" in split_magic(other.text)[0] for other, _ in _with_dashes(usage) if other.role == "pathspec"):
            yield Touch(use, ".", WHOLE, True, True)  # nothing is named, so everything else is meant
        return
    at = TOP if "top" in magic else ""
    wide = "icase" in magic or "--icase-pathspecs" in usage.options or any(m.startswith("attr") for m in magic)
    if wide:
        yield Touch(use, at or ".", PATTERN + rest, True, True)
        return
    special = None if "literal" in magic else _SPECIAL.search(rest)
    if special is None:
        yield Touch(use, at + rest or ".", "", True, below)
        return
    folder = rest[: special.start()].rpartition("/")[0]
    yield Touch(use, at + folder or ".", PATTERN + rest, True, True)


def split_magic(text: str) -> tuple[frozenset[str], str]:
    """The magic words of a pathspec, and what stands behind them."""
    if match := _MAGIC.match(text):
        return frozenset(word.strip() for word in match[1].split(",") if word.strip()), match[2]
    if not text.startswith(":"):
        return frozenset(), text
    rest = text[1:].lstrip("/!^")
    marks = text[1 : len(text) - len(rest)]
    found = {{"/": "top", "!": "exclude", "^": "exclude"}[mark] for mark in marks}
    return frozenset(found), rest.removeprefix(":")


def _revision(text: str, use: Use, usage: Usage, *, below: bool) -> Iterator[Touch]:
    """A word that is a revision or a path: `HEAD:path` and `:0:path` name one, and so does a word that is a file."""
    if text.startswith((":(", ":!", ":^")):
        yield from _pathspec(text, use, usage, below=below)
        return
    found = list(dict.fromkeys(_paths_in(text)))
    for path in found:
        yield Touch("read", path or ".", "", True, True)
    if found:
        return
    if text in (".", "..") or text.startswith(("/", "./", "../", "~/")) or "/../" in text:
        yield Touch(use, text, "", True, below)  # no revision is written so
        return
    if _SPECIAL.search(text) and "^" not in text and "@" not in text:
        yield from _pathspec(text, use, usage, below=below)
        return
    yield Touch(use, text, MAYBE, True, below)


def _paths_in(text: str) -> Iterator[str]:
    """The paths in `REV:path`, `:path`, `:0:path`, and in both ends of a range of such."""
    for part in (text, *re.split(r"\.{2,3}", text)):
        at = _colon(part)
        if at < 0:
            continue
        path = part[at + 1 :]
        if at == 0:
            if path.startswith("/"):  # `:/text` finds a commit; as a pathspec it begins at the top
                yield TOP + path.lstrip("/")
                continue
            path = path[2:] if re.match(r"[0-3]:", path) else path
            yield path  # as a pathspec it is seen from here
        yield path if path.startswith(("./", "../")) or path in (".", "..") else TOP + path


def _colon(text: str) -> int:
    """Where the path of a revision begins: a colon in braces belongs to the revision."""
    depth = 0
    for at, letter in enumerate(text):
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == ":" and depth <= 0:
            return at
    return -1


# -- other repositories


def _repository(word: Word) -> Iterator[Touch]:
    """A repository in a folder; the name of a remote is none."""
    if is_remote(word.text) and not word.text.startswith("file://"):
        return
    path = word.text.removeprefix("file://")
    use: Use = "write" if word.role == "to" else "read"
    if _is_place(path):
        yield Touch(use, path, word.option, True, True)
    elif path not in NO_FILES:
        yield Touch(use, path, MAYBE, True, True)


def _is_place(text: str) -> bool:
    return text.startswith((".", "/", "~")) and "::" not in text


def repositories(usage: Usage) -> list[str]:
    """The other repositories that it names: URLs, folders, names of remotes."""
    return usage.of("from", "to")


def reaches_out(usage: Usage) -> bool:
    """Whether it may speak with another machine."""
    named = repositories(usage)
    if named:
        return not all(_is_place(text) or text.startswith("file://") for text in named)
    return usage.program.network


def _humanish(url: str) -> str:
    """The folder that a clone is put in where none is named."""
    last = url.rstrip("/").removesuffix("/.git").removesuffix(".git").rpartition("/")[2].rpartition(":")[2]
    return last or "."


def without_folder(args: Sequence[str]) -> Sequence[str]:
    """The words without the options in front of the sub-command that say where, or how it is shown, and no more."""
    at = 0
    while at < len(args):
        if args[at] == "-C" and at + 1 < len(args):
            at += 2
        elif args[at] in ("--no-pager", "-P", "--no-optional-locks"):
            at += 1
        else:
            break
    return args[at:]
