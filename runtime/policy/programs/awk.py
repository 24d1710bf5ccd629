"""Programs for awk, as far as they write files or run programs.

Promises: `read_awk` finds every command, file and pipe that the text can name; when a program uses anything that is not
on the short list of harmless forms, `plain` is False. Pure.
"""

from __future__ import annotations

import re

from interlock.runtime.policy.programs.sed import Script

_AWK_PRINT = re.compile(r"\bprintf?\b")
_AWK_STATEMENT_END = re.compile(r"[;}]")
"""A line end does not end a print behind a comma, so none is taken for its end."""
_MOST = 4_000
"""Characters of a program that are looked at; a longer one is not plain, and what it runs is not known."""
_AWK_LAST_WORD = re.compile(r"[A-Za-z_]\w*\Z")
_AWK_BEFORE_OPERAND = frozenset(("print", "printf", "return", "in", "else", "do", "case", "exit"))
_AWK_SYSTEM = re.compile(r'system\s*\(\s*"((?:[^"\\]|\\.)*)"\s*\)')
_AWK_PIPE_IN = re.compile(r'"((?:[^"\\]|\\.)*)"\s*\|&?\s*getline')
_AWK_PIPE_OUT = re.compile(r'\|&?\s*"((?:[^"\\]|\\.)*)"')
_AWK_REDIRECT = re.compile(r'\b(?:print|printf)\b[^;}\n|]*?>>?\s*"((?:[^"\\]|\\.)*)"')
_AWK_SENDS = re.compile(r"\bprintf?\b[^;}\n>]*>")
_AWK_JOINT = re.compile(r'(?<!\\)"[ \t]+"')
_AWK_SET = re.compile(r'\b(\w+)\s*=\s*"((?:[^"\\]|\\.)*)"')
_AWK_NAMED = re.compile(r"system\s*\(\s*(\w+)\s*\)|\b(\w+)\s*\|&?\s*getline|\|&?\s*(\w+)\s*[;}]")
_AWK_FED = re.compile(r'\bprintf?\s*\(?\s*"((?:[^"\\]|\\.)*)"\s*\)?\s*\|&?\s*"((?:[^"\\]|\\.)*)"')
_AWK_NEVER = re.compile(r"system|getline|@|ENVIRON|ARG[VC]|/inet|PROCINFO|fflush|close")
_AWK_RISKY = re.compile(
    r"\b(?:system|getline|close|fflush|print\w*\s*\(?[^;}\n]*>)|\||@\w|\bENVIRON\b|/inet|\bPROCINFO\b"
)


def read_awk(script: str) -> Script:
    """Read an awk program."""
    found = Script()
    is_cut = len(script) > _MOST
    never = is_cut or _AWK_NEVER.search(script.replace("\\\n", ""))
    script = script[:_MOST].replace("\\\n", " ")
    code, divides = _code(script)
    joined = _AWK_JOINT.sub("", script)
    found.commands = [_awk_text(t) for p in (_AWK_SYSTEM, _AWK_PIPE_IN, _AWK_PIPE_OUT) for t in p.findall(joined)]
    found.commands += [c for c in _awk_more(script) if c not in found.commands]
    if ">" in script and '"' in script:
        found.writes = [_awk_text(t) for t in _AWK_REDIRECT.findall(script)]
    found.anywhere = is_cut or len(_AWK_SENDS.findall(code)) > len(found.writes)
    asked = len(re.findall(r"\bsystem\s*\(", code)) + len(re.findall(r"(?<!\|)\|(?!\|)", code))
    found.dynamic = is_cut or asked > len(found.commands)
    found.network = "/inet" in script
    # what is a pattern and what a division is a matter of the dialect: then nothing is left out
    risky = never or _AWK_RISKY.search(code.replace("||", "")) or any(map(_prints_out, _AWK_STATEMENT_END.split(code)))
    found.plain = not (risky or (divides and (_prints_out(script) or "|" in script.replace("||", ""))))
    return found


def _awk_more(script: str) -> list[str]:
    """Commands that stand in a variable, and texts that are printed into a shell."""
    values = dict(_AWK_SET.findall(script))
    named = [name for names in _AWK_NAMED.findall(script) for name in names if name in values]
    fed = [text for text, shell in _AWK_FED.findall(script) if shell.split()[:1] and shell.split()[0].endswith("sh")]
    return [*(_awk_text(values[name]) for name in named), *map(_awk_text, fed)]


def _prints_out(text: str) -> bool:
    """Whether something that sends away stands behind a print."""
    found = _AWK_PRINT.search(text)
    return bool(found) and ">" in text[found.end() :]


def _code(script: str) -> tuple[str, bool]:
    """The program without what its texts, patterns and comments hold, and whether a slash in it may be a division."""
    made: list[str] = []
    divides = False
    at = 0
    while at < len(script):
        c = script[at]
        if c == "/" and _expects_operand("".join(made[-40:])):
            at = _closed(script, at, "/")
            made.append(" 1 ")
        elif c == '"':
            at = _closed(script, at, '"')
            made.append('""')
        elif c == "#":
            at = script.find("\n", at) if "\n" in script[at:] else len(script)
        else:
            divides = divides or c == "/"
            made.append(c)
            at += 1
    return "".join(made), divides


def _closed(script: str, at: int, closer: str) -> int:
    """The place behind the text or pattern that opens at `at`."""
    end = at + 1
    while end < len(script) and script[end] not in (closer, "\n"):
        end += 2 if script[end] == "\\" else 1
    return end + 1


def _expects_operand(before: str) -> bool:
    """Whether a slash would begin a pattern here."""
    before = before.rstrip(" \t")
    word = _AWK_LAST_WORD.search(before)
    return (
        bool(word and word[0] in _AWK_BEFORE_OPERAND)
        or not before
        or not (before[-1].isalnum() or before[-1] in '_)]"$')
    )


def _awk_text(text: str) -> str:
    return text.replace('\\"', '"').replace("\\\\", "\\").replace("\\n", "\n")
