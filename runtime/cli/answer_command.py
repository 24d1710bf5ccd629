"""`interlock answer`: answer one question from a script.

Promises: exit code 0 only when this answer took effect; 2 for a mistake in the command line, 1 otherwise, with the reason.
The digest sent is that of the ask as listed just now, or the one given with --digest, which pins what a person has read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

SCOPES = ("once", "turn", "session", "ten_minutes", "rule")

if TYPE_CHECKING:
    import typer

    from interlock.runtime.asks.protocol import AnswerReply, AskView
    from interlock.runtime.cli.asks_command import Waiting
    from interlock.runtime.events.permission import AnswerKind, Scope


def register(app: typer.Typer) -> None:
    """Add the command."""
    import typer

    @app.command()
    def answer(
        ask: str = typer.Argument(
            ...,
            metavar="ID",
            help="The ask, or the first letters of its id; ID@HOST names the host by its pid or session.",
        ),
        decision: str = typer.Argument(..., metavar="allow|deny"),
        scope: str = typer.Option("once", "--scope", help="once, turn, session, ten_minutes or rule (allow only)."),
        suggestion: int = typer.Option(
            None, "--suggestion", help="Which one, from 1, the narrowest; with a scope beyond once."
        ),
        rule: Path = typer.Option(None, "--rule", help="With --scope rule: a file with the rule as you edited it."),
        message: str | None = typer.Option(None, "--message", help="For the agent, word for word (deny only)."),
        digest: str | None = typer.Option(None, "--digest", help="Refuse unless the ask still has this input digest."),
        as_json: bool = typer.Option(False, "--json", help="Print the reply as JSON."),
    ) -> None:
        """Answer one question: allow it or deny it."""
        _check(decision, scope, message, suggestion, rule)
        waiting = _find(ask)
        socket, view = waiting.socket, waiting.view
        chosen = _chosen(view, scope, suggestion)
        standing = {"suggestion": chosen.get("digest"), "rule": _text_of(rule)}
        reply = _send(socket, view, digest, decision, scope, message, **standing)
        said = f"{reply.answer} ({reply.scope}) recorded for {reply.ask_id} at {reply.at}"
        print(json.dumps(reply.model_dump(mode="json", by_alias=True)) if as_json else f"{said}{_made(reply, chosen)}")
        if reply.grant_fault:
            raise typer.Exit(1)


def _chosen(view: AskView, scope: str, number: int | None) -> dict[str, Any]:
    """The suggestion that the answer is about; {} for once. Raises CommandFault."""
    from interlock.runtime.cli.fault import CommandFault

    offers = [one for one in view.event.get("suggestedRules") or () if scope in one.get("scopes", ())]
    every = view.event.get("suggestedRules") or ()
    if scope == "once":
        return {}
    if number is None and scope != "rule":
        return dict(every[0]) if every else {}
    found = offers[:1] if number is None else [one for one in every[max(number, 1) - 1 :][:1] if one in offers]
    if not found:
        listed = "; ".join(
            f"{n}: {one.get('label')} ({', '.join(one.get('scopes', ()))})" for n, one in enumerate(every, 1)
        )
        raise CommandFault(
            f"this ask offers no such suggestion for the scope {scope!r}. It offers: {listed or 'none'}", 2
        )
    return dict(found[0])


def _text_of(rule: Path | None) -> str | None:
    from interlock.runtime.cli.fault import CommandFault

    try:
        return rule.read_text(encoding="utf-8") if rule is not None else None
    except (OSError, ValueError) as error:
        raise CommandFault(f"cannot read {rule}: {getattr(error, 'strerror', None) or error}", 2) from None


def _made(reply: AnswerReply, chosen: dict[str, Any]) -> str:
    from interlock.runtime.cli.asks_command import plain

    if reply.grant_fault:
        return f"\n{plain(reply.grant_fault)}"
    if reply.grant_id is None:
        return ""
    label = plain(str(chosen.get("label") or "what was asked"))
    return f"\n{reply.grant_id} covers {label}. `interlock policy revoke {reply.grant_id}` ends it."


def _check(decision: str, scope: str, message: str | None, suggestion: int | None, rule: Path | None) -> None:
    from interlock.runtime.cli.fault import CommandFault

    if decision not in ("allow", "deny"):
        raise CommandFault(f"the answer is `allow` or `deny`, not {decision!r}", 2)
    if scope not in SCOPES:
        raise CommandFault(f"--scope is one of {', '.join(SCOPES)}, not {scope!r}", 2)
    if suggestion is not None and scope == "once":
        raise CommandFault("--suggestion goes with a --scope beyond once", 2)
    if rule is not None and scope != "rule":
        raise CommandFault("--rule goes with --scope rule", 2)
    if decision == "deny" and scope != "once":
        raise CommandFault("--scope goes with `allow` alone", 2)
    if decision == "allow" and message is not None:
        raise CommandFault("--message goes with `deny` alone", 2)


def _find(wanted: str) -> Waiting:
    from interlock.runtime.cli.asks_command import gather, plain
    from interlock.runtime.cli.fault import CommandFault
    from interlock.runtime.cli.late import fate

    found = gather("interlock answer")
    fitting = [one for one in found.waiting if one.view.ask_id == wanted]
    ask, _, host = wanted.rpartition("@") if "@" in wanted else (wanted, "", "")
    if not fitting:
        fitting = [one for one in found.waiting if ask and one.view.ask_id.startswith(ask) and _is_of(one, host)]
        fitting = [one for one in fitting if one.view.ask_id == ask] or fitting
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        raise CommandFault(_several(wanted, fitting))
    more = "".join(f"\n{plain(problem)}" for problem in (*found.problems, *found.unreached))
    known = fate(ask, found.sockets)
    if known is not None:
        raise CommandFault(f"not answered: {plain(known)}.{more}")
    raise CommandFault(f"no open ask {plain(wanted)!r}. `interlock asks` lists them.{more}")


def _is_of(one: Waiting, host: str) -> bool:
    return not host or host in (str(one.pid), one.socket) or one.view.session.startswith(host)


def _several(wanted: str, fitting: list[Waiting]) -> str:
    from interlock.runtime.cli.asks_command import plain

    names = "".join(f"\n  {plain(one.name)}  (session {plain(one.view.session)})" for one in fitting[:10])
    if len({one.view.ask_id for one in fitting}) == 1:
        return f"{len(fitting)} hosts have an open ask {plain(wanted)!r}: say which one you mean:{names}"
    return f"{len(fitting)} open asks begin with {plain(wanted)!r}: give more of the id:{names}"


def _send(
    socket: str, view: AskView, digest: str | None, decision: str, scope: str, message: str | None, **standing: Any
) -> AnswerReply:
    from interlock.runtime.asks.client import AskRefused, HostGone, answer_sync
    from interlock.runtime.cli.fault import CommandFault

    chosen: dict[str, Any] = {"scope": cast("Scope", scope), "message": message, **standing}
    try:
        return answer_sync(socket, view.ask_id, digest or view.input_digest, cast("AnswerKind", decision), **chosen)
    except AskRefused as error:
        raise CommandFault(f"not answered ({error.name}): {error.message}") from None
    except HostGone as error:
        raise CommandFault(f"{error}. `interlock asks` shows whether it still waits.") from None
