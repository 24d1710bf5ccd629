"""What a command prints, where the text alone decides it: `echo`, `printf`, and filters over text in sight.

Promises: None where it is not literally known. Used to read code that is piped, fed or substituted; good enough to deny
by, never to allow by. Nothing is run.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable

from interlock.runtime.policy.shell.filters import likely, printed_by_awk
from interlock.runtime.policy.syntax.ansi_c import decode_ansi_c
from interlock.runtime.policy.syntax.syntax import Compound, Lit, Node, Pipeline, Sequence, Simple, Word

_MOST_DECODED = 20_000


def printed(name: str, args: list[str], fed: str | None) -> str | None:
    """The output of a program given `args` and, as its standard input, `fed`."""
    match name:
        case "echo":
            return _echo(args)
        case "printf":
            return _printf(args)
        case "cat" | "tee" if not args or args == ["-"]:
            return fed
        case _:
            return None if fed is None or len(fed) > _MOST_DECODED else _filtered(name, args, fed)


Text = Callable[[Word], str | None]
"""What a word becomes; None where the text does not tell."""


def printed_by(found: Sequence, text_of: Text | None = None) -> str | None:
    """What a substitution likely prints; line ends behind it are dropped, as a shell does."""
    text = output_of(found, text_of or _literal, None)
    return None if text is None else text.rstrip("\n")


def output_of(node: Node, text_of: Text, fed: str | None) -> str | None:
    """What a list, a pipeline or a command likely prints, fed with `fed`."""
    match node:
        case Simple():
            return _of_simple(node, text_of, fed)
        case Pipeline():
            for stage in node.stages:
                fed = output_of(stage, text_of, fed)
                if fed is None:
                    return None
            return fed
        case Compound() if node.kind in ("group", "subshell") and not node.redirs:
            return _joined(node.bodies, text_of, fed)
        case Sequence():
            return _joined([one for one, _ in node.items], text_of, fed)
        case _:
            return None


def some_output(node: Node, text_of: Text) -> str | None:
    """What the commands inside a compound print, each as if it ran once; None when none of them tells."""
    match node:
        case Compound():
            told = [some_output(body, text_of) for body in node.bodies]
        case Sequence():
            told = [some_output(one, text_of) for one, _ in node.items]
        case _:
            return output_of(node, text_of, None)
    texts = [text for text in told if text is not None]
    return "\n".join(texts) if texts else None


def _joined(nodes: Iterable[Node], text_of: Text, fed: str | None) -> str | None:
    texts = [output_of(node, text_of, fed) for node in nodes]
    return None if not texts or any(text is None for text in texts) else "".join(text or "" for text in texts)


def _of_simple(node: Simple, text_of: Text, fed: str | None) -> str | None:
    words = [text_of(word) for word in node.words]
    if not words or node.assigns or any(word is None for word in words):
        return None
    for redir in node.redirs:
        if redir.operator not in ("<<", "<<<"):
            return None
        fed = "".join(part.value for part in redir.word.parts if isinstance(part, Lit))
    name, args = (words[0] or "").rpartition("/")[2], [word or "" for word in words[1:]]
    told = printed(name, args, fed)
    return told if told is not None else likely_printed(name, args, fed)


def likely_printed(name: str, args: list[str], fed: str | None) -> str | None:
    """As `printed`, for more programs, where a likely text is enough: only ever to deny by."""
    if fed is None or len(fed) > _MOST_DECODED:
        return printed_by_awk(args) if name.endswith("awk") else None
    return likely(name, args, fed)


def _literal(word: Word) -> str | None:
    parts = word.parts
    if not all(isinstance(part, Lit) and (part.quoted or not set(part.value) & set("{*?[~")) for part in parts):
        return None
    return "".join(part.value for part in parts if isinstance(part, Lit))


def _filtered(name: str, args: list[str], fed: str) -> str | None:
    if name == "base64" and args in (["-d"], ["--decode"], ["-D"], ["-di"], ["--dec"]):
        return _decoded(fed)
    if name == "xxd" and sorted(args) in (["-p", "-r"], ["-r", "-ps"], ["-pr"], ["-rp"]):
        return _unhexed(fed)
    if name == "rev" and not args:
        return "\n".join(line[::-1] for line in fed.split("\n"))
    return None


def _decoded(fed: str) -> str | None:
    try:
        return base64.b64decode(fed, validate=False).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return None


def _unhexed(fed: str) -> str | None:
    try:
        return bytes.fromhex("".join(fed.split())).decode("utf-8", "replace")
    except ValueError:
        return None


def _echo(args: list[str]) -> str:
    escapes, newline = False, "\n"
    while args and len(args[0]) > 1 and args[0][0] == "-" and set(args[0][1:]) <= set("neE"):
        escapes = "e" in args[0] or escapes
        newline = "" if "n" in args[0] else newline
        args = args[1:]
    text = " ".join(args)
    return (decode_ansi_c(text) if escapes else text) + newline


def _printf(args: list[str]) -> str | None:
    if args[:1] == ["--"]:
        args = args[1:]
    elif args and args[0].startswith("-"):
        return None
    if not args:
        return None
    shape, values = decode_ansi_c(args[0]), args[1:]
    if "%" not in shape:
        return shape
    plain = shape.replace("%s", "").replace("%b", "")
    if "%" in plain:
        return None
    count = shape.count("%s") + shape.count("%b")
    values = [decode_ansi_c(value) for value in values] if "%b" in shape else values or [""]
    rounds = [values[i : i + count] for i in range(0, len(values), count)]
    return "".join(_fill(shape, one) for one in rounds)


def _fill(shape: str, values: list[str]) -> str:
    pieces = shape.replace("%b", "%s").split("%s")
    filled = [*values, *[""] * (len(pieces) - 1 - len(values))]
    return pieces[0] + "".join(v + p for v, p in zip(filled, pieces[1:], strict=False))
