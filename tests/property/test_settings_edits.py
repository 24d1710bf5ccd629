"""Settings files are edited by position: what is not ours stays byte for byte, whatever manner the file is written in (ours)."""

from __future__ import annotations

import json
import tomllib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from interlock.runtime.gates.settings import jsonc, toml, toml_hooks
from interlock.runtime.gates.settings.document import Document
from interlock.runtime.gates.settings.json_hooks import add_hooks, remove_hooks
from interlock.runtime.gates.settings.jsonc_edit import add_item, add_member, remove

GROUP = {"matcher": "*", "hooks": [{"type": "command", "command": "gate 'it' \"now\" \\ #1", "timeout": 600}]}
WANTED = {"PreToolUse": [GROUP], "PermissionRequest": [GROUP]}

words = st.text(st.sampled_from('ab "\\/*#é{}[],:\t'), max_size=6)
data = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=12,
)


def is_ours(handler: Any) -> bool:
    return handler == GROUP["hooks"][0]


@st.composite
def written(draw: st.DrawFn, value: Any, newline: str) -> str:
    """The value as somebody may write it: spaces, comments and trailing commas anywhere they may stand."""
    gap = st.sampled_from(
        ["", " ", f"{newline}  ", f" // note ] }} , {newline}\t", "/* x, ] */", f"{newline}{newline}"]
    )

    def write(one: Any) -> str:
        if isinstance(one, dict):
            inner = [f"{json.dumps(k)}{draw(gap)}:{draw(gap)}{write(v)}" for k, v in one.items()]
            return braced("{", inner, "}")
        if isinstance(one, list):
            return braced("[", [write(item) for item in one], "]")
        return json.dumps(one, ensure_ascii=False)

    def braced(opening: str, inner: list[str], closing: str) -> str:
        text = f"{draw(gap)},{draw(gap)}".join(inner)
        tail = "," if inner and draw(st.booleans()) else ""
        return f"{opening}{draw(gap)}{text}{draw(gap)}{tail}{draw(gap)}{closing}"

    return f"{draw(gap)}{write(value)}{draw(gap)}"


@settings(max_examples=150, deadline=None)
@given(st.data(), data, st.sampled_from(["\n", "\r\n"]))
def test_a_file_with_comments_reads_as_the_value_that_was_written(
    draw: st.DataObject, value: Any, newline: str
) -> None:
    text = draw.draw(written(value, newline))
    node = jsonc.parse(text)
    assert node is not None
    assert node.value == value


@settings(max_examples=200, deadline=None)
@given(
    st.data(), st.lists(data, max_size=3) | st.dictionaries(words, data, max_size=3), st.sampled_from(["\n", "\r\n"])
)
def test_adding_and_removing_change_exactly_that_element(draw: st.DataObject, value: Any, newline: str) -> None:
    text = draw.draw(written(value, newline))
    node = jsonc.parse(text)
    assert node is not None
    if isinstance(value, list):
        after = add_item(Document(text), node, GROUP)
        expected: Any = [*value, GROUP]
    else:
        after = add_member(Document(text), node, "new key", GROUP)
        expected = value | {"new key": GROUP}
    grown = jsonc.parse(after.text)
    assert grown is not None
    assert grown.value == expected
    for index in range(len(expected)):
        less = jsonc.parse(remove(after, grown, index).text)
        assert less is not None
        assert list(less.value) == [key for at, key in enumerate(expected) if at != index]
    assert jsonc.parse(remove(after, grown, len(expected) - 1).text).value == value  # type: ignore[union-attr]


hooks = st.dictionaries(
    st.sampled_from(["PreToolUse", "PostToolUse", "Stop"]),
    st.lists(
        st.fixed_dictionaries(
            {
                "matcher": st.sampled_from(["*", "Bash"]),
                "hooks": st.lists(st.just({"type": "command", "command": "mine"}), max_size=2),
            }
        ),
        max_size=2,
    ),
)


@settings(max_examples=150, deadline=None)
@given(
    st.data(),
    st.dictionaries(st.sampled_from(["model", "env", "x y"]), data, max_size=2),
    st.none() | hooks,
    st.booleans(),
)
def test_our_hooks_go_in_and_come_out_and_leave_the_rest(
    draw: st.DataObject, other: Any, theirs: Any, tail: bool
) -> None:
    value = other | ({} if theirs is None else {"hooks": theirs})
    before = Document(draw.draw(written(value, "\n")) + ("\n" if tail else ""))
    with_ours = add_hooks(before, WANTED)
    grown = jsonc.parse(with_ours.text)
    assert grown is not None
    for event, groups in WANTED.items():
        assert grown.value["hooks"][event] == [*(theirs or {}).get(event, []), *groups]
    assert {key: grown.value[key] for key in other} == other
    left = jsonc.parse(remove_hooks(with_ours, is_ours, value).text)
    assert left is not None
    assert left.value == value


@settings(max_examples=150, deadline=None)
@given(st.data(), st.none() | hooks, st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_toml_hooks_go_in_and_come_out_in_every_form(
    draw: st.DataObject, theirs: Any, newline: str, tail: bool
) -> None:
    form = draw.draw(st.sampled_from(["blocks", "inline", "dotted", "table"]))
    rows = ['model = "x" # note', "[projects.'/a b']", 'trust_level = "trusted"']
    mine = {event: groups for event, groups in (theirs or {}).items() if groups or form != "blocks"}
    if form == "blocks":
        for event, groups in mine.items():
            for group in groups:
                rows += ["", f"[[hooks.{event}]]", f"matcher = {json.dumps(group['matcher'])}"]
                if not group["hooks"]:
                    rows.append("hooks = []")
                for handler in group["hooks"]:
                    rows += [f"[[hooks.{event}.hooks]]", *(f"{k} = {json.dumps(v)} # why" for k, v in handler.items())]
    elif form == "inline" and theirs is not None:
        rows.insert(0, f"hooks = {toml_hooks.render(mine)} # theirs")
    elif form == "dotted":
        rows[:0] = [f"hooks.{event} = {toml_hooks.render(groups)}" for event, groups in mine.items()]
    elif form == "table" and theirs is not None:
        rows += ["[hooks]", *(f"{event} = {toml_hooks.render(groups)}" for event, groups in mine.items())]
    text = newline.join(rows) + (newline if tail else "")
    before = tomllib.loads(text)
    grown = toml_hooks.add_hooks(Document(text), WANTED)
    for event, groups in WANTED.items():
        assert tomllib.loads(grown.text)["hooks"][event] == [*mine.get(event, []), *groups]
    left = tomllib.loads(toml_hooks.remove_hooks(grown, is_ours).text)
    if before.get("hooks") == {}:
        assert left in (before, {key: one for key, one in before.items() if key != "hooks"})
    else:
        assert {k: v for k, v in left.items() if k != "hooks"} == {k: v for k, v in before.items() if k != "hooks"}
        assert {e: g for e, g in left.get("hooks", {}).items() if g} == {
            e: g for e, g in before.get("hooks", {}).items() if g
        }


def test_the_statements_of_a_file_stand_where_they_say() -> None:
    text = (
        'a = """x\n[no]\n"""\n"b.c".d = [1, # ]\n 2]\n[[t."u v"]] # c\nk = { x = \'}\', y.z = 1979-05-27 07:32:00 }\n'
    )
    file = toml.parse(Document(text))
    assert [text[one.start : one.end] for one in file.statements] == [
        'a = """x\n[no]\n"""', '"b.c".d = [1, # ]\n 2]', '[[t."u v"]]', "k = { x = '}', y.z = 1979-05-27 07:32:00 }"
    ]  # fmt: skip
    assert file.statements[1].path == ("b.c", "d")
    assert file.statements[3].path == ("t", "u v", "k")
