"""Turns the shape of a command text into the simple commands that would run, nested ones too, in source order.

Promises: every simple command of the shape is listed once, bodies of functions at their definition; the directory and
the values in sight are followed; what wrappers and code-carrying options would run is listed after them (`unwrap`).
What cannot be followed is noted and makes the command not understood.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from interlock.runtime.policy.programs.variable import may_be_set
from interlock.runtime.policy.shell.assign import assign
from interlock.runtime.policy.shell.bounded import bound_of, bounded_fields
from interlock.runtime.policy.shell.condition import SUBSTITUTION, evaluated, quoted_code, tested_files
from interlock.runtime.policy.shell.doubt import is_plain, why_not
from interlock.runtime.policy.shell.expand import Bound, Field, expand, guess, literal_fields, value_of
from interlock.runtime.policy.shell.feed import compound_output, feed_by_redirects, is_bare_shell, likely_output
from interlock.runtime.policy.shell.frame import Fed, Frame, with_likely_program
from interlock.runtime.policy.shell.model import DYNAMIC, Redirect, SimpleCommand
from interlock.runtime.policy.shell.mute import without_verdict
from interlock.runtime.policy.shell.printed import printed_by
from interlock.runtime.policy.shell.redirect import redirect_of
from interlock.runtime.policy.shell.state import State
from interlock.runtime.policy.syntax.budget import Budget
from interlock.runtime.policy.syntax.grammar import Grammar
from interlock.runtime.policy.syntax.syntax import (
    Arith,
    CapReachedError,
    Code,
    Compound,
    Items,
    Lit,
    Node,
    Part,
    Pipeline,
    Redir,
    Sequence,
    ShellSyntaxError,
    Simple,
    Var,
    Word,
)

_LEAVING = frozenset({"exit", "return", "break", "continue", "die"})
_MOVES = ("cd", "pushd", "popd", "chdir")
_MOST_CALLS = 3


class Walk:
    """One reading of a whole text; `commands` fills in source order."""

    def __init__(self, budget: Budget, source: str, unwrap: Callable[[Frame, State, Walk], None]) -> None:
        self.budget = budget
        self.commands: list[SimpleCommand] = []
        self.notes: list[str] = []
        self._unwrap = unwrap
        self.alias_ends: dict[str, int] = {}
        """Alias -> where in the text its definition ends."""
        self._source = source
        self._functions: dict[str, tuple[Compound, int, int]] = {}
        """Name -> its definition, and where its commands stand in `commands`."""
        self._calls = 0
        """How many calls of functions are being followed, one inside another."""

    def _may_move(self) -> bool:
        """Whether anything in the text changes the directory."""
        return any(word in self._source for word in _MOVES)

    def note(self, text: str) -> None:
        """Say once why the whole is not fully understood."""
        if text not in self.notes:
            self.notes.append(text)

    def sequence(self, found: Sequence, state: State) -> None:
        """Every group of a list, each with its own effect on the state."""
        group: list[tuple[Node, str]] = []
        before = ""
        for node, operator in found.items:
            group.append((node, before))
            before = operator if operator in ("&&", "||") else ""
            if not before:
                self._group(group, state.copy() if operator == "&" else state)
                group = []
        if group:
            self._group(group, state)

    def _group(self, group: list[tuple[Node, str]], state: State) -> None:
        """Pipelines joined by `&&` and `||`: a `cd` in it holds for the rest of it, and may hold afterwards."""
        start, seen, sure = state.cwd, {state.cwd}, False
        for node, before in group:
            if before == "||":
                sure = self._alternative(node, state, start)
            else:
                self.node(node, state)
            seen.add(state.cwd)
        if state.cwd != start and not sure:
            self._may_be(state, seen)

    def _alternative(self, node: Node, state: State, start: str | None) -> bool:
        """The right side of `||`; True when it leaves, so that what follows knows the left side worked."""
        if state.cwd == start:
            self.node(node, state)
            return False
        other = state.copy()
        other.cwd = start
        self.node(node, other)
        if isinstance(node, Simple) and node.words and node.words[0].text in _LEAVING:
            return True
        self._may_be(state, {other.cwd})
        return False

    def _may_be(self, state: State, seen: Iterable[str | None]) -> None:
        if state.cwd is None or None in seen:
            state.lose_directory()
            return
        state.maybe = state.maybe | {one for one in seen if one is not None and one != state.cwd}

    def node(self, node: Node, state: State) -> None:
        """One node of the shape."""
        self.budget.spend()
        match node:
            case Simple():
                self._simple(node, state, None)
            case Pipeline():
                self._pipeline(node, state)
            case Sequence():
                self.sequence(node, state)
            case Compound():
                self._compound(node, state)

    def _pipeline(self, node: Pipeline, state: State) -> None:
        fed: Fed | None = None
        for stage in node.stages:
            inner = state.copy()
            if isinstance(stage, Simple):
                frame = self._simple(stage, inner, fed)
                words = tuple(field for word in stage.words for field in expand(word, inner.scope()))
                fed = Fed(frame.output(), words, likely_output(frame)) if frame else Fed(None)
                continue
            mark = len(self.commands)
            self.node(stage, inner)
            if fed and any(map(is_bare_shell, self.commands[mark:])):
                self.note("a shell inside a compound reads its commands from a pipe")
            fed = Fed(None, (), compound_output(stage, inner.scope()))

    def _compound(self, node: Compound, state: State) -> None:
        self._words(node.words, state)
        redirects = self._redirects(node.redirs, state)
        if node.kind == "test":
            redirects = (*tested_files(node.words, state.scope()), *redirects)
        if redirects:
            self._bare_redirects(node, redirects, state)
        if (node.kind in ("arith", "test") and not node.plain) or (node.kind == "for" and not node.name):
            self.note("arithmetic on variables can run code")
            self._subscripts(node, state)
        match node.kind:
            case "group":
                self._bodies(node, state)
            case "subshell":
                self._bodies(node, state.copy())
            case "coproc":
                self._coproc(node, state)
            case "function":
                self._function(node, state)
            case "if" | "case" | "loop" | "for":
                self._branches(node, state)
            case "arith" | "test":
                pass

    def _subscripts(self, node: Compound, state: State) -> None:
        """Text that `[[ -v` and arithmetic expand once more."""
        for value in (*quoted_code(node.words), *evaluated(node.words, state.scope())):
            self.text_in_quotes(value, state, node.kind, (node.start, node.end))

    def _bare_redirects(self, node: Compound, redirects: tuple[Redirect, ...], state: State) -> None:
        """Redirects of a compound are facts too: they are listed as a command without a program."""
        frame = Frame.bare(node.start, node.end, "", redirects)
        self.emit(frame, state)

    def _bodies(self, node: Compound, state: State) -> None:
        for body in node.bodies:
            self.node(body, state)

    def _coproc(self, node: Compound, state: State) -> None:
        self.emit(Frame.of("coproc", node.start, node.end), state, "a coprocess runs beside the shell")
        self._bodies(node, state.copy(via="coproc", deeper=1))

    def _function(self, node: Compound, state: State) -> None:
        state.functions.add(node.name)
        inner = state.copy(via="function", deeper=1)
        if self._may_move():
            inner.lose_directory()
        inner.values = {**inner.values, "@": None, "*": None, **{str(i): None for i in range(10)}}
        mark = len(self.commands)
        self._bodies(node, inner)
        if not self._calls:
            self._functions[node.name] = (node, mark, len(self.commands))

    def _called(self, fields: list[Field], state: State) -> None:
        """A function given words: what its body makes of them stands in the place of what was not known before."""
        name = fields[0].value
        if name not in self._functions or name not in state.functions or self._calls >= _MOST_CALLS:
            return
        node, mark, end = self._functions[name]
        if mark < end and all(command.understood for command in self.commands[mark:end]):
            return
        inner = state.copy(via="function", deeper=1)
        if self._may_move():
            inner.lose_directory()
        words = [field.value for field in fields[1:]]
        inner.values |= {"@": " ".join(words), "*": " ".join(words), **{str(i): w for i, w in enumerate(words, 1)}}
        before, self.commands = self.commands, []
        self._calls += 1
        try:
            self._bodies(node, inner)
        finally:
            made, self.commands = self.commands, before
            self._calls -= 1
            if len(made) == end - mark and not self._calls:
                self.commands[mark:end] = made
                self._functions[name] = (node, 0, 0)  # a second call is listed beside the first
            else:
                self.commands.extend(made)

    def _branches(self, node: Compound, state: State) -> None:
        """Bodies that may or may not run, or run again: what they change is not certain afterwards."""
        start = state.cwd
        if node.name:
            self._loop_variable(node, state)
        looping = node.kind in ("loop", "for")
        mark = len(self.commands)
        for body in node.bodies:
            self.node(body, state)
            if node.kind == "case":
                state.cwd = start if state.cwd == start else None
        if state.cwd != start:
            state.lose_directory()
            if looping:
                self._unsettle(mark)
        if node.name:
            state.values[node.name] = None

    def _loop_variable(self, node: Compound, state: State) -> None:
        if not may_be_set(node.name):
            self.note(f"the loop sets {node.name}, which programs may heed")
        if isinstance(state.values.get(node.name), Bound):
            self.note(f"{node.name} is set again inside a loop over it")
        state.values[node.name] = bound_of(node.words, state.scope())

    def _unsettle(self, mark: int) -> None:
        """A loop that moves runs its second round somewhere else."""
        for i in range(mark, len(self.commands)):
            self.commands[i] = replace(self.commands[i], cwd=None)

    def _words(self, words: list[Word], state: State, via: str = "") -> None:
        """The code inside words: substitutions at any depth."""
        stack: list[Part] = [p for word in reversed(words) for p in reversed(word.parts) if not isinstance(p, Lit)]
        while stack:
            part = stack.pop()
            match part:
                case Code():
                    self.sequence(part.body, state.copy(via=via or part.via, deeper=1))
                case Var():
                    self._variable(part, state)
                    stack.extend(reversed(part.arg))
                case Arith():
                    if not part.plain and state.values:
                        for value in evaluated([Word([part], part.text, 0, 0)], state.scope()):
                            self.text_in_quotes(value, state, "$((…))", (0, 0))
                    stack.extend(reversed(part.nested))
                case Items():
                    stack.extend(p for word in reversed(part.words) for p in reversed(word.parts))
                case _:
                    pass

    def _variable(self, part: Var, state: State) -> None:
        """`${x@P}` runs the substitutions inside the value."""
        value = state.values.get(part.name)
        value = value if isinstance(value, str) else None
        if not part.op.startswith("@P"):
            return
        if value is None:
            self.note("a prompt expansion of an unknown value can run code")
        elif SUBSTITUTION.search(value):
            self.text_in_quotes(value, state, "@P", (0, 0))

    def _simple(self, node: Simple, state: State, fed: Fed | None) -> Frame | None:
        """One simple command as it was worked out; None where an alias stands for another."""
        scope = state.scope()
        fields = literal_fields(node.words)
        written_out = fields is not None and not node.assigns and not node.redirs
        if fields is None:
            fields = [field for word in node.words for field in expand(word, scope)]
        plain = written_out or is_plain(node, fields)
        bounded = None if plain else bounded_fields(node.words, scope)
        fields = bounded or fields
        if fields and not plain:
            fields = with_likely_program(fields, node.words[0], scope)
        notes = why_not(node, fields, state, unknown=not plain and bounded is None)
        assignments = tuple([(a.name, _shown(value_of(a.value, scope), a.value.text)) for a in node.assigns])
        redirects = self._redirects(node.redirs, state) if node.redirs else ()
        frame = Frame(fields, node.text, node.start, node.end, assignments, redirects)
        frame.fed = fed is not None
        if fed:
            frame.input, frame.likely, frame.feeder = fed.text, fed.likely, fed.words
        if redirects:
            feed_by_redirects(frame, node.redirs, scope)
        if state.aliases and self._aliased(frame, state):
            self._inner_code(node, state)
            return None
        self.emit(frame, state, *notes)
        if not written_out:
            self._inner_code(node, state)
        if not fields:
            assign(node.assigns, state)
        elif len(fields) > 1:
            self._called(fields, state)
        self._unwrap(frame, state, self)
        return frame

    def _inner_code(self, node: Simple, state: State) -> None:
        self._words([*(a.value for a in node.assigns), *node.words, *(r.word for r in node.redirs)], state)

    def _aliased(self, frame: Frame, state: State) -> bool:
        """Replace an alias, where bash would, by what it stands for."""
        first = frame.fields[0] if frame.fields else None
        if first is None or first.value not in state.aliases:
            return False
        name = first.value
        end = self.alias_ends.get(name, frame.start + 1)
        if end <= frame.start and "\n" not in self._source[end : frame.start]:
            return False  # a shell reads a line whole before it runs it: the alias holds only from the next line on
        if not state.expands_aliases:
            # bash would not, zsh would: both are listed
            self.emit(frame, state, f"{name} was given another meaning before")
        value = state.aliases[name]
        inner = state.copy(via="alias")
        del inner.aliases[name]
        self.text(" ".join([value, *(f.value for f in frame.fields[1:])]), inner, "alias", frame, same_depth=True)
        self.note(f"{name} is an alias")
        return True

    def _redirects(self, redirs: list[Redir], state: State) -> tuple[Redirect, ...]:
        if any(redir.named_fd for redir in redirs):
            self.note("a redirect sets a variable")
        return tuple([redirect_of(redir, state.scope()) for redir in redirs])

    def emit(self, frame: Frame, state: State, *notes: str) -> None:
        """List one command."""
        self.budget.spend()
        all_notes = [*notes, *self._where(frame, state)] if state.maybe else list(notes)
        if frame.redirects and any(r.target is None and r.operator not in ("<<", "<<<") for r in frame.redirects):
            all_notes.append("a redirect goes where only run time tells")
        self.commands.append(frame.command(state, tuple(dict.fromkeys(all_notes))))

    def _where(self, frame: Frame, state: State) -> list[str]:
        """An earlier `cd` may have failed: harmless while every possible place lies below the start."""
        places = state.maybe | {state.cwd or ""}
        if any(one.startswith(("/", "..")) for one in places):
            return ["an earlier cd may have failed, so the directory is not certain"]
        if any(".." in field.value for field in frame.fields) or any(".." in (r.target or "") for r in frame.redirects):
            return ["an earlier cd may have failed, and a path goes up from there"]
        return []

    def text(
        self, code: str, state: State, via: str, frame: Frame, *, same_depth: bool = False, helper: bool = False
    ) -> None:
        """Code that the text carries as data: read it, and list what it would run."""
        inner = state.copy(via=via, deeper=0 if same_depth else 1)
        self.budget.check_depth(inner.depth)
        reader = Grammar(code, self.budget, fixed=(frame.start, frame.end), depth=inner.depth)
        try:
            found = reader.whole()
        except ShellSyntaxError as error:
            self.note(f"the text given to {via} is not a command: {error}")
            self.salvage(reader, inner)
            return
        except CapReachedError:
            self.salvage(reader, inner)
            raise
        for doubt in reader.doubts:
            self.note(doubt)
        self.sequence(without_verdict(found) if helper else found, inner)

    def run(
        self,
        frame: Frame,
        state: State,
        via: str,
        *,
        same_shell: bool = False,
        notes: tuple[str, ...] = (),
        bounded: bool = False,
    ) -> None:
        """A command that another one runs from its words; `bounded`: those that are not known are no danger."""
        inner = state.copy(via=via, deeper=1)
        self.budget.check_depth(inner.depth)
        why = () if bounded or all(f.known for f in frame.fields) else ("an argument is known only at run time",)
        self.emit(frame, inner, *why, *notes)
        self._unwrap(frame, inner, self)
        if same_shell:
            state.cwd, state.values, state.aliases, state.rebound = (
                inner.cwd,
                inner.values,
                inner.aliases,
                inner.rebound,
            )

    def code(
        self, code: str, known: bool, frame: Frame, state: State, via: str, note: str = "", *, helper: bool = False
    ) -> None:
        """Code in a word or an option: read it when the text gives it; a guess is read too, and noted."""
        if not known and ("$" in code or "`" in code):
            code = self._sketch(code, state)
        if not known or note:
            self.note(note or f"the code given to {via} is known only at run time")
        self.text(code, state, via, frame, helper=helper)

    def _sketch(self, source: str, state: State) -> str:
        """Code made by expansion: what the text gives of it, with a variable where run time decides."""
        reader = Grammar(source, self.budget, depth=state.depth + 1)
        pieces: list[str] = []
        scope = state.scope()
        while True:
            reader.skip_blanks()
            if not reader.ch():
                return " ".join(pieces)
            try:
                parts = reader.word().parts
            except ShellSyntaxError:
                return "$__unknown"
            values = [guess(p, scope) for p in parts]
            pieces.append("".join("$__unknown" if v is None else v for v in values))

    def helper(self, code: str, known: bool, frame: Frame, state: State, via: str) -> None:
        """Code in an option or a variable of a program; a bare `true` or `false` in it only sets its verdict."""
        self.code(code, known, frame, state, via, helper=True)

    def text_in_quotes(self, value: str, state: State, via: str, span: tuple[int, int]) -> None:
        """The substitutions inside a value that is expanded once more."""
        reader = Grammar(value, self.budget, fixed=span, depth=state.depth + 1)
        try:
            parts = reader.here_body()
        except ShellSyntaxError:
            self.note("a value that is expanded again is not well formed")
            return
        self._words([Word(parts, value, *span)], state, via)

    def salvage(self, reader: Grammar, state: State) -> None:
        """What was complete before the reader failed; bash would have run the lines before the fault."""
        for one in reader.open:
            try:
                if isinstance(one, Sequence):
                    self.sequence(one, state)
                elif one.words:
                    one.text = " ".join(w.text for w in one.words)
                    one.end = max(one.end, one.words[-1].end)
                    self._simple(one, state, None)
            except CapReachedError as error:
                self.note(str(error))
                return

    def piped_code(self, value: str, frame: Frame, state: State, via: str) -> None:
        """Code that a reader takes from `<(...)`: read where the text gives what is printed, else known at run time."""
        why = "the code is the output of another command"
        code = None
        if value.startswith("<(") and value.endswith(")"):
            try:
                code = printed_by(Grammar(value[2:-1], self.budget, depth=state.depth + 1).whole())
            except ShellSyntaxError:
                code = None
        if code is None:
            self.dynamic(frame, state, via, why)
        else:
            self.code(code, True, frame, state, via, note=why)

    def dynamic(self, frame: Frame, state: State, via: str, why: str) -> None:
        """Code that is known only at run time."""
        inner = state.copy(via=via, deeper=1)
        self.emit(Frame.of(DYNAMIC, frame.start, frame.end, frame.text, known=False), inner, why)


def _shown(value: str | None, source: str) -> str:
    return source if value is None else value
