"""A text written as a short expression, so that a table of cases can hold a command of a megabyte: `'echo ' + 'A' * 1000000`.

Promises: knows texts, whole numbers, `+`, `*` and brackets, and nothing else; nothing is looked up, called or run; the
text has at most 16 MiB. Raises ValueError.
"""

from __future__ import annotations

import ast

MOST_CHARS = 16 * 1024 * 1024


def text_of(expression: str) -> str:
    """The text that an expression stands for. Raises ValueError."""
    try:
        tree = ast.parse(expression, mode="eval")
        found = _value(tree.body)
    except (SyntaxError, RecursionError, MemoryError) as error:
        raise ValueError(f"this is no expression of texts ({error})") from None
    if not isinstance(found, str):
        raise ValueError("this expression is no text")
    return found


def _value(node: ast.expr) -> str | int:
    if isinstance(node, ast.Constant) and type(node.value) in (str, int):
        return node.value  # type: ignore[return-value]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        left, right = _value(node.left), _value(node.right)
        return _joined(left, right) if isinstance(node.op, ast.Add) else _repeated(left, right)
    raise ValueError("an expression has texts, numbers, '+' and '*' alone")


def _joined(left: str | int, right: str | int) -> str | int:
    if isinstance(left, str) and isinstance(right, str):
        _check_size(len(left) + len(right))
        return left + right
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    raise ValueError("'+' joins two texts or two numbers")


def _repeated(left: str | int, right: str | int) -> str | int:
    text, times = (left, right) if isinstance(left, str) else (right, left)
    if not isinstance(text, str) or not isinstance(times, int):
        raise ValueError("'*' repeats a text")
    _check_size(len(text) * max(times, 0))
    return text * times


def _check_size(chars: int) -> None:
    if chars > MOST_CHARS:
        raise ValueError(f"the text would have {chars} characters, more than {MOST_CHARS}")
