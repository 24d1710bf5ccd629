"""What travels between a host and an approver: JSON-RPC 2.0, one message a line. docs/protocol.md says it in prose.

Promises: requests are strict (an unknown field, a wrong type, a text with a lone surrogate refuses the whole request);
replies and notifications are tolerant when read (a newer host may tell more). Field names are camelCase on the wire.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints
from pydantic.alias_generators import to_camel

from interlock.runtime.events.base import Record
from interlock.runtime.events.permission import AnswerKind, Approver, Scope

PROTOCOL_VERSION = 1
"""Value of `protocol` in the reply to `hello`. It grows when an old approver could misunderstand."""
MAX_FRAME_BYTES = 1 << 20
"""Longest line in bytes, its line end not counted, in both directions."""
MAX_MESSAGE_CHARS = 65_536
"""Longest message of an answer, in characters."""
MAX_RULE_CHARS = 16_384
"""Longest text of an edited rule, in characters; the host may take less, and says so."""

Token = Annotated[str, StringConstraints(pattern=r"^[\x21-\x7e]{1,200}\z", strict=True)]
"""An id or a digest: visible ASCII, so that nothing hidden can stand in it."""
Label = Annotated[str, StringConstraints(min_length=1, max_length=200, strict=True)]
RuleText = Annotated[str, StringConstraints(min_length=1, max_length=MAX_RULE_CHARS, strict=True)]


class ErrorName(StrEnum):
    """Names of errors, in `error.data.name`."""

    PARSE = "parse_error"
    INVALID_UTF8 = "invalid_utf8"
    FRAME_TOO_LARGE = "frame_too_large"
    BAD_REQUEST = "bad_request"
    UNKNOWN_METHOD = "unknown_method"
    INTERNAL = "internal_error"
    UNKNOWN_ASK = "unknown_ask"
    ALREADY_RESOLVED = "already_resolved"
    DIGEST_MISMATCH = "digest_mismatch"
    EXPIRED = "expired"
    CLOSED = "ask_closed"
    NOT_OFFERED = "choice_not_offered"
    NOT_RECORDED = "not_recorded"
    NOT_ALLOWED = "not_allowed"
    TOO_MANY = "too_many_connections"
    RULE_REFUSED = "rule_refused"
    UNKNOWN_GRANT = "unknown_grant"
    UNKNOWN_SUGGESTION = "unknown_suggestion"


ERROR_CODES: dict[ErrorName, int] = {
    ErrorName.PARSE: -32700,
    ErrorName.INVALID_UTF8: -32700,
    ErrorName.FRAME_TOO_LARGE: -32600,
    ErrorName.BAD_REQUEST: -32600,
    ErrorName.UNKNOWN_METHOD: -32601,
    ErrorName.INTERNAL: -32603,
    ErrorName.UNKNOWN_ASK: -32001,
    ErrorName.ALREADY_RESOLVED: -32002,
    ErrorName.DIGEST_MISMATCH: -32003,
    ErrorName.EXPIRED: -32004,
    ErrorName.CLOSED: -32005,
    ErrorName.NOT_OFFERED: -32006,
    ErrorName.NOT_RECORDED: -32007,
    ErrorName.NOT_ALLOWED: -32008,
    ErrorName.TOO_MANY: -32009,
    ErrorName.RULE_REFUSED: -32010,
    ErrorName.UNKNOWN_GRANT: -32011,
    ErrorName.UNKNOWN_SUGGESTION: -32012,
}
"""Numbers in `error.code`: those below -32100 are JSON-RPC's own, the others ours."""


class Fault(Exception):
    """A request that was refused: `name` for programs, the text for a person, `data` for the details."""

    def __init__(self, name: ErrorName, message: str, **data: Any) -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        self.data = data


class Params(BaseModel):
    """Strict parameters of a request."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        alias_generator=to_camel,
        populate_by_name=False,
        hide_input_in_errors=True,
    )


class NoParams(Params):
    """A method that takes nothing."""


class HelloParams(Params):
    """`hello`: who connects. The name is what others read in "answered by"."""

    client: Label
    protocol: int = PROTOCOL_VERSION
    kind: Literal["person", "flag"] = "person"
    """What answers: a person, or an option of a command line that answers everything; it is recorded as that."""


class ListParams(Params):
    """`asks.list`: a page of the open asks, oldest first."""

    cursor: Annotated[int, Field(ge=0)] | None = None
    """The `next` of the page before."""
    limit: Annotated[int, Field(ge=1, le=1000)] = 1000


class ReadParams(Params):
    """`asks.read`: a slice of an ask too large for one frame."""

    ask_id: Token
    offset: Annotated[int, Field(ge=0)] = 0
    """In characters of the JSON text."""


class ShownParams(Params):
    """`asks.shown`: a screen has drawn the ask."""

    ask_id: Token


class AskAnswer(Params):
    """`asks.answer`: a decision on exactly what was shown."""

    model_config = ConfigDict(populate_by_name=True)

    ask_id: Token
    input_digest: Token
    """The digest that came with the ask."""
    answer: AnswerKind
    scope: Scope = "once"
    message: Annotated[str, StringConstraints(max_length=MAX_MESSAGE_CHARS, strict=True)] | None = None
    session: Token | None = None
    """When given, the ask must be of this session."""
    suggestion: Token | None = None
    """The digest of the suggestion that was shown, for an allow that stands."""
    rule: RuleText | None = None
    """With scope `rule`: the suggestion's rule as the person edited it; none: as it was suggested."""

    @property
    def choice(self) -> str:
        """The name of this answer among the choices of an ask, for example `allow.session`."""
        if self.answer == "allow":
            return f"allow.{self.scope}"
        return "deny.message" if self.message else "deny"


class PreviewParams(Params):
    """`asks.preview`: what a suggestion would have covered of past calls."""

    ask_id: Token
    suggestion: Token
    """Its digest."""
    rule: RuleText | None = None
    """Look at this text instead of the suggestion's own rule."""


class RevokeParams(Params):
    """`grants.revoke`: end a standing permission."""

    grant_id: Token
    session: Token | None = None
    """Needed where the host has several sessions: ids of grants are unique within one."""


PARAMS: dict[str, type[Params]] = {
    "hello": HelloParams,
    "ping": NoParams,
    "session.list": NoParams,
    "asks.list": ListParams,
    "asks.read": ReadParams,
    "asks.subscribe": NoParams,
    "asks.unsubscribe": NoParams,
    "asks.shown": ShownParams,
    "asks.answer": AskAnswer,
    "asks.preview": PreviewParams,
    "grants.list": NoParams,
    "grants.revoke": RevokeParams,
}
"""Every method and what it takes."""


class Request(BaseModel):
    """A request line."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)

    jsonrpc: Literal["2.0"]
    id: Annotated[str, StringConstraints(max_length=200)] | int
    method: Annotated[str, StringConstraints(max_length=100)]
    params: dict[str, Any] = Field(default_factory=dict)


class SessionInfo(Record):
    """A session that a host serves."""

    id: str
    agent: str = ""
    title: str = ""
    cwd: str = ""
    journal: str = ""
    """Path of its events.jsonl."""


class HelloReply(Record):
    """Reply to `hello`."""

    protocol: int
    server: str
    version: str
    pid: int
    uid: int
    you: Approver
    """As whom the host will record the answers of this connection."""
    max_frame_bytes: int
    methods: tuple[str, ...]


class AskView(Record):
    """An open ask as it is listed and announced."""

    ask_id: str
    session: str
    number: int
    """Counts up by one with every ask of this host."""
    opened_at: str
    """UTC, RFC 3339."""
    input_digest: str
    shown: bool
    """Whether any screen has drawn it."""
    event: dict[str, Any]
    """The journal's `tool.permission` event; without the fields named in `omitted`."""
    event_chars: int
    """Length of the whole event's JSON text in characters."""
    omitted: tuple[str, ...] = ()
    """Fields of the event left out because it is too large for a list: get it whole with `asks.read`."""


class AskPage(Record):
    """Reply to `asks.list`."""

    asks: tuple[AskView, ...]
    next: int | None = None
    """Cursor of the next page; none: this was the last."""


class AskSlice(Record):
    """Reply to `asks.read`."""

    ask_id: str
    offset: int
    text: str
    next: int | None = None
    """Offset of the next slice; none: this was the last."""
    event_chars: int


class AnswerReply(Record):
    """Reply to `asks.answer`: this answer took effect and is in the journal on disk."""

    ask_id: str
    accepted: bool
    answer: AnswerKind
    scope: Scope
    by: Approver
    at: str
    grant_id: str | None = None
    """The standing permission that was made of it."""
    grant_fault: str | None = None
    """Why none was made although one was wanted; the call is allowed once."""


class PreviewReply(Record):
    """Reply to `asks.preview`: judged by the policy of now, with the permission and without."""

    ask_id: str
    suggestion: str
    calls: int
    """How many past calls were looked at."""
    sessions: int = 0
    """In how many journals."""
    since: str | None = None
    """When the oldest of them was made."""
    whole: bool = True
    """Whether these are all calls on record; false: the bound was reached, and older ones were not looked at."""
    covered: int = 0
    """Would have asked, and would have passed with the permission."""
    still_asks: int = 0
    """Would have asked all the same."""
    covers_this: bool | None = None
    """Whether the call that is asked about now would pass as well; it is in none of the numbers. None: not told."""
    covered_examples: tuple[str, ...] = ()
    near_misses: tuple[str, ...] = ()
    """Of those that would still ask, the ones most like it."""


class GrantView(Record):
    """A standing permission that holds."""

    grant_id: str
    session: str
    scope: Scope
    tool: str
    matches: dict[str, Any]
    """What it covers: `field`, `value`, `cwd`, `label`."""
    made_at: str
    expires_at: str | None = None
    by: Approver | None = None
    rule_id: str | None = None
    rule: str | None = None
    call_started: bool = False
    """Whether the call that was asked about has begun to run."""


class GrantRevokedReply(Record):
    """Reply to `grants.revoke`: it covers nothing any more, and that is in the journal on disk."""

    grant_id: str
    session: str
    scope: Scope
    call_started: bool = False
    """Whether the call that was asked about has begun to run; if not, it is asked about again."""
    rule_removed: bool | None = None
    """With scope `rule`: whether its rule was taken out of the policy file now."""
    problem: str | None = None
    """What could not be done, for a person: the rule still stands in the file."""


class OpenedNotice(Record):
    """Notification `asks.opened`."""

    ask: AskView


class AnsweredNotice(Record):
    """Notification `asks.answered`."""

    ask_id: str
    session: str
    answer: AnswerKind
    scope: Scope
    by: Approver
    at: str
    message: str | None = None
    grant_id: str | None = None


class ClosedNotice(Record):
    """Notification `asks.closed`: it ended without an answer."""

    ask_id: str
    session: str
    cause: str
    at: str
    message: str | None = None


Notice = OpenedNotice | AnsweredNotice | ClosedNotice
NOTICES: dict[str, type[Notice]] = {
    "asks.opened": OpenedNotice,
    "asks.answered": AnsweredNotice,
    "asks.closed": ClosedNotice,
}
"""Notifications of a host, by method."""
