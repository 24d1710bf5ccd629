"""What programs of files touch beyond what their words name: members of a folder, files whose names are made from others.

Promises: as `touch`; a file whose name is made from a word is given with that name. Pure.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from interlock.runtime.policy.programs.role import ROLES
from interlock.runtime.policy.programs.touch import Touch, anywhere, plain_touches
from interlock.runtime.policy.programs.usage import Usage

_ENDINGS = {
    "gzip": (".gz", ".tgz", ".taz", ".z", ".Z", "-gz"), "gunzip": (".gz", ".tgz", ".taz", ".z", ".Z", "-gz"),
    "compress": (".Z",), "bzip2": (".bz2", ".out", ".tbz2", ".tbz", ".bz"), "bunzip2": (".bz2", ".out", ".tbz2", ".tbz", ".bz"),
    "xz": (".xz", ".lzma", ".txz", ".tlz"), "unxz": (".xz", ".lzma", ".txz", ".tlz"), "lzip": (".lz", ".tlz"),
    "lzop": (".lzo", ".tzo"), "lz4": (".lz4",), "zstd": (".zst", ".tzst"), "unzstd": (".zst", ".tzst"),
    "brotli": (".br",), "lrzip": (".lrz",), "znew": (".gz", ".Z"), "gpg": (".gpg", ".asc", ".sig"),
    "savelog": (".0", ".1.gz"), "gzexe": ("~",), "flac": (".flac", ".wav"), "oggenc": (".ogg", ".wav"),
    "asciidoctor": (".html", ".pdf"), "dot": (".png", ".svg"),
}  # fmt: skip
"""Program -> how the names of what it makes end; without that ending, the names of what it makes of those."""


def into(usage: Usage) -> Iterator[Touch]:
    """cp, mv, ln, install: where the target is a folder, what is written lies in it under its own name."""
    yield from plain_touches(usage)
    operands = [word for word in usage.words if not word.option]
    sources = [word.text for word in operands if word.role in ("read", "move")]
    folders = usage.of("folder")
    targets = folders or [word.text for word in operands if word.role == "write"]
    if not sources and len(targets) == 1 and usage.program.name == "ln":
        yield Touch("read", targets[0])
        yield Touch("write", posixpath.basename(targets[0].rstrip("/")) or ".")
        return
    for target in targets if sources else ():
        yield from _copies(usage, target)
        is_folder = bool(folders) or target.endswith(("/", "/.", "/..")) or target in (".", "..") or len(sources) > 1
        for source in sources:
            name = posixpath.basename(source.rstrip("/"))
            if name not in ("", ".", ".."):
                yield Touch("write", posixpath.join(target, name), "", is_folder)


def _copies(usage: Usage, target: str) -> Iterator[Touch]:
    """What stood at the target stays beside it under another name, where that is asked for."""
    endings = [word.text for word in usage.words if word.option in ("-S", "--suffix")]
    if endings or usage.reading.has("-b", "--backup"):
        yield from (Touch("write", target.rstrip("/") + ending, "", False) for ending in endings or ("~", ".~1~"))


def pack(usage: Usage) -> Iterator[Touch]:
    """gzip and its kin: what is written stands beside what is read, under a name made from it."""
    yield from plain_touches(usage)
    if usage.root.name == "gpg" and (usage.has("act") or not usage.words) and not usage.of("folder"):
        yield Touch("write", "~/.gnupg", "", True, True)
    if usage.of("list"):
        yield from (*anywhere("write"), *anywhere("delete"))
    if usage.of("write", "folder"):
        return
    endings = _ENDINGS.get(usage.root.name, (".out",))
    own = [word.text for word in usage.words if word.option in ("-S", "--suffix")]
    endings = (*(ending if ending[:1] == "." else f".{ending}" for ending in own), *endings)
    for word in usage.words:
        if word.option or word.role not in ("move", "beside", "change"):
            continue
        if usage.has("walk"):
            yield Touch("write", word.text, "", True, True)
        ending = next((e for e in endings if word.text.endswith(e)), "")
        if ending:
            bare = word.text.removesuffix(ending)
            yield Touch("write", f"{bare}.tar" if ending.startswith(".t") else bare)
        else:
            yield from (Touch("write", word.text + e, "", at == 0) for at, e in enumerate(endings[:3]))


def _zip(usage: Usage) -> Iterator[Touch]:
    """An archive without an ending gets `.zip`; two options of two letters take a file."""
    yield from plain_touches(usage)
    for word in usage.words:
        if not word.option and word.role in ("write", "change") and "." not in posixpath.basename(word.text):
            yield Touch("write", word.text + ".zip")
    for at, text in enumerate(usage.args[:-1]):
        if text in ("-lf", "-la", "-li") and text == "-lf":
            yield Touch("write", usage.args[at + 1], text)
            yield from (Touch("write", operand, "", False) for operand in usage.operands)
    if {"-t", "-tt"} & set(usage.args):  # a day, which may have been read as the archive
        yield from (Touch("write", text + ending, "-t", False) for text in usage.operands for ending in ("", ".zip"))
    if "-@" in usage.options:
        yield from anywhere("read", "-@")
        if usage.has("remove"):
            yield from anywhere("delete", "-@")


def _seven(usage: Usage) -> Iterator[Touch]:
    yield from plain_touches(usage)
    for word in usage.words:
        if not word.option and word.role == "write" and "." not in posixpath.basename(word.text):
            yield from (Touch("write", word.text + ending) for ending in (".7z", ".zip"))
        if word.text.startswith("@"):
            yield Touch("read", word.text[1:])
            yield from anywhere("read", "")
    if "-sdel" in usage.args:
        yield from (Touch("delete", word.text, "-sdel", True, True) for word in usage.words if word.role == "walked")


def _unrar(usage: Usage) -> Iterator[Touch]:
    """`unrar x A [MEMBER…] [FOLDER/]`, or `-opFOLDER`."""
    yield from plain_touches(usage)
    operands = usage.operands
    folders = [word[3:] for word in usage.args if word.startswith("-op") and len(word) > 3]
    folders += [operands[-1]] if len(operands) > 1 and operands[-1].endswith("/") else []
    extracts = any(word.role == "archive" for word in usage.words)
    if extracts:
        yield from (Touch("write", folder, "", True, True) for folder in folders or ["."])
    elif operands and "." not in posixpath.basename(operands[0]):
        yield Touch("write", operands[0] + ".rar")
    if "-df" in usage.args or "-dr" in usage.args or "-dw" in usage.args:
        yield from (Touch("delete", word.text, "-df", True, True) for word in usage.words if word.role == "walked")


def _ar(usage: Usage) -> Iterator[Touch]:
    """The letters of the first word say whether the archive is read, written, or unpacked here."""
    yield from (
        Touch(use, word.text, word.option) for word in usage.words if word.option and (use := ROLES[word.role].use)
    )
    operands = usage.operands
    first = next((word for word in usage.args if word[:1] == "-" and word[1:2] not in ("", "-")), "")
    letters = (first or (operands[0] if operands else "")).lstrip("-")
    rest = operands if first else operands[1:]
    if set(letters) & set("abi") and set(letters) & set("mr"):
        rest = rest[1:]
    if not rest:
        return
    archive, files = rest[0], rest[1:]
    yield Touch("write" if set(letters) & set("dmqrs") else "read", archive)
    if "x" in letters:
        yield from (Touch("write", folder, "", True, True) for folder in usage.of("folder") or ["."])
    elif not set(letters) & set("dm"):
        yield from (Touch("read", file.removeprefix("@")) for file in files)


def _cpio(usage: Usage) -> Iterator[Touch]:
    yield from plain_touches(usage)
    if usage.reading.has("-o", "--create", "-p", "--pass-through"):
        yield from (Touch("write", file, "-F") for file in usage.of("archive"))
        yield from anywhere("read", "")
    if usage.reading.has("-p", "--pass-through"):  # a name with `..` leads out of the folder
        yield from anywhere("write", "")


def _unzip(usage: Usage) -> Iterator[Touch]:
    """An archive without an ending is looked for with one."""
    yield from plain_touches(usage)
    for text in usage.of("archive"):
        if "." not in posixpath.basename(text):
            yield Touch("read", text + ".zip")
        if set(text) & set("*?["):  # it looks for the archives itself
            yield Touch("read", posixpath.dirname(text) or ".", "", True, True)


def _pax(usage: Usage) -> Iterator[Touch]:
    reads, writes = usage.reading.has("-r"), usage.reading.has("-w")
    operands = usage.operands
    if writes and reads:
        yield from (Touch("read", text, "", True, True) for text in operands[:-1])
        yield from (Touch("write", text, "", True, True) for text in operands[-1:])
        return
    yield from (Touch("write" if writes else "read", file, "-f") for file in usage.of("archive"))
    if writes:
        yield from (Touch("read", text, "", True, True) for text in operands)
    elif reads:
        yield Touch("write", ".", "", True, True)


def _patch(usage: Usage) -> Iterator[Touch]:
    """With a file it changes that one; without, whatever the patch names."""
    named = any(not word.option and word.role == "change" for word in usage.words)
    for touch in plain_touches(usage):
        if not (named and touch.text == usage.program.spills and touch.below):
            yield touch
    for word in usage.words:
        if word.role in ("change", "write"):
            yield from (Touch("write", word.text + ending) for ending in (".orig", ".rej"))


def _rename(usage: Usage) -> Iterator[Touch]:
    yield from plain_touches(usage)
    yield Touch("write", ".", "", True, True)
    folders = {posixpath.dirname(text) for text in usage.of("move")} - {""}
    yield from (Touch("write", folder, "", True, True) for folder in sorted(folders))


def _grep(usage: Usage) -> Iterator[Touch]:
    walks = any(w.option in ("-d", "--directories") and w.text.startswith("r") for w in usage.words)
    for touch in plain_touches(usage):
        yield Touch(touch.use, touch.text, touch.cause, touch.certain, touch.below or (walks and not touch.cause))


_PACKED = (".gz", ".Z", ".bz2", ".xz", ".lzma", ".lz", ".zst", ".tgz", ".tbz2", ".z", "-gz", "-z", "_z")
"""Endings with which programs for packed files look for a name that is not there."""


def _zipped(usage: Usage) -> Iterator[Touch]:
    """What is not there is looked for with the ending of a packed file."""
    yield from plain_touches(usage)
    yield from _with_endings(usage)


def _zgrep(usage: Usage) -> Iterator[Touch]:
    yield from _grep(usage)
    yield from _with_endings(usage)


def _with_endings(usage: Usage) -> Iterator[Touch]:
    for word in usage.words:
        if not word.option and ROLES[word.role].use == "read" and not word.text.endswith(_PACKED):
            yield from (Touch("read", word.text + ending, "", False) for ending in _PACKED)


def _sqlite(usage: Usage) -> Iterator[Touch]:
    """A database may be named by an address: `file:x.db?mode=ro`."""
    yield from plain_touches(usage)
    for word in usage.words:
        if word.role == "change" and word.text.lower().startswith("file:"):
            path = re.sub(r"^//[^/]*", "", re.split(r"[?#]", word.text[5:])[0])
            yield from (Touch("write", name) for name in [unquote(path)] if name)


def _script(usage: Usage) -> Iterator[Touch]:
    """Without a name it writes `typescript`."""
    yield from plain_touches(usage)
    if not any(word.role == "write" and not word.option for word in usage.words):
        yield Touch("write", "typescript")


def _lsof(usage: Usage) -> Iterator[Touch]:
    """`+D FOLDER` looks at all below it."""
    below = any(word.startswith(("+D", "+d")) for word in usage.args)
    for word in usage.words:
        if word.role == "read" and not word.option:
            text = word.text[2:] if word.text[:2] in ("+D", "+d") else word.text
            yield from (Touch("read", text, "", True, below) for text in [text] if text and text[0] != "+")


def _file(usage: Usage) -> Iterator[Touch]:
    """`file -C -m magic` writes `magic.mgc`, here."""
    yield from plain_touches(usage)
    if usage.reading.has("-C", "--compile"):
        for word in usage.of("config"):
            yield Touch("write", word, "-C")
            yield Touch("write", posixpath.basename(word.rstrip("/")) + ".mgc", "-C")


def _jq(usage: Usage) -> Iterator[Touch]:
    yield from plain_touches(usage)
    for at, word in enumerate(usage.args):
        if word in ("--rawfile", "--slurpfile", "--argfile") and at + 2 < len(usage.args):
            yield Touch("read", usage.args[at + 2], word)


def _magick(usage: Usage) -> Iterator[Touch]:
    """A name may stand behind its format: `png:out`; `file[0]` is a frame of `file`."""
    for touch in plain_touches(usage):
        head, colon, rest = touch.text.partition(":")
        text = rest if colon and head.isalnum() and rest else touch.text
        yield Touch(touch.use, text.removeprefix("@"), touch.cause, touch.certain, touch.below)
        if text.endswith("]") and "[" in text:
            yield Touch(touch.use, text[: text.rindex("[")], touch.cause)


def _mogrify(usage: Usage) -> Iterator[Touch]:
    """`-format png` writes beside what it reads, under another ending."""
    yield from _magick(usage)
    endings = [word.text for word in usage.words if word.option == "--format"]
    for word in usage.words:
        if word.role == "change" and not word.option:
            yield from (Touch("write", f"{posixpath.splitext(word.text)[0]}.{ending}") for ending in endings)


def _ffmpeg(usage: Usage) -> Iterator[Touch]:
    """What stands behind a protocol is a path; a sound or picture of a pattern lies in its folder."""
    for touch in plain_touches(usage):
        head, colon, rest = touch.text.partition(":")
        text = (
            rest
            if colon and head in ("file", "concat", "concatf", "subfile", "crypto", "cache", "async", "tee")
            else touch.text
        )
        for part in text.split("|") if colon else [text]:
            yield Touch(touch.use, part, touch.cause, touch.certain, touch.below)
            if "%" in part:
                yield Touch(touch.use, posixpath.dirname(part) or ".", touch.cause, touch.certain, True)


def _beside(usage: Usage) -> Iterator[Touch]:
    """With one operand what is made has the name of what is read, with another ending."""
    for touch in plain_touches(usage):
        if not (touch.below and touch.text == usage.program.spills and len(usage.operands) > 1):
            yield touch
    if len(usage.operands) == 1:
        yield Touch("write", posixpath.dirname(usage.operands[0]) or ".", "", True, True)


def _pdftk(usage: Usage) -> Iterator[Touch]:
    words = list(usage.args)
    at = words.index("output") if "output" in words else len(words)
    yield from (Touch("read", word.partition("=")[2] or word) for word in words[:at] if "." in word or "/" in word)
    yield from (Touch("write", word) for word in words[at + 1 : at + 2])
    if "burst" in words or "unpack_files" in words:
        yield Touch("write", ".", "", True, True)


def _gs(usage: Usage) -> Iterator[Touch]:
    yield from plain_touches(usage)
    for word in usage.args:
        if word.startswith("-sOutputFile="):
            yield Touch("write", word.partition("=")[2], "-sOutputFile")


def _openssl(usage: Usage) -> Iterator[Touch]:
    """`rand`, `dgst` and their kin take files as operands; `file:` stands in front of a file of a password."""
    yield from plain_touches(usage)
    verb = usage.operands[0] if usage.operands else ""
    for text in usage.operands[1:]:
        yield Touch(
            "write" if verb in ("genrsa", "rehash", "c_rehash") else "read", text, "", "/" in text or "." in text
        )
    for word in usage.words:
        if word.role == "text" and word.text.startswith("file:"):
            yield Touch("read", word.text[5:], word.option)


FILE_HANDLERS: dict[str, Callable[[Usage], Iterator[Touch]]] = {
    "into": into, "pack": pack, "zip": _zip, "unzip": _unzip, "seven": _seven, "unrar": _unrar, "ar": _ar,
    "cpio": _cpio, "pax": _pax,
    "script": _script, "sqlite": _sqlite, "zipped": _zipped, "zgrep": _zgrep,
    "patch": _patch, "rename": _rename, "grep": _grep, "lsof": _lsof, "file": _file, "jq": _jq, "magick": _magick,
    "mogrify": _mogrify, "ffmpeg": _ffmpeg, "beside": _beside, "pdftk": _pdftk, "gs": _gs, "openssl": _openssl,
}  # fmt: skip
"""Key `touches` of an entry -> who tells what data cannot say."""
