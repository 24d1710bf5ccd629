"""Counts what transcripts of Claude Code's come to, with plain loops and none of our code: `count.py FILE…` as JSON.

Also for iFlow, whose logs have the same envelope.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path

NOT_A_PERSON = (
    "<command-", "<local-command-", "<bash-", "<task-notification", "<system-reminder", "Caveat: The messages below",
    "<teammate-message",
    "This session is being continued", "[Request interrupted",
)  # fmt: skip
DENIED = ("The user doesn't want to", "Permission to use", "PreToolUse:")
INTERRUPTED = ("Permission prompt was aborted", "[Request interrupted")


def values(path: Path) -> tuple[list[dict], int, int, int]:
    """(records, damaged lines, records from lines with more than one, longest line in bytes)."""
    found, damaged, glued, longest = [], 0, 0, 0
    for raw in path.read_bytes().split(b"\n"):
        raw = raw.removesuffix(b"\r")
        if not raw.strip():
            continue
        text, at = raw.decode(), 0
        parts = []
        try:
            while at < len(text):
                value, end = json.JSONDecoder().raw_decode(text, at)
                parts.append((value, len(text[at:end].encode())))
                at = end + len(text[end:]) - len(text[end:].lstrip())
        except json.JSONDecodeError:
            damaged += 1
        glued += len(parts) if len(parts) > 1 else 0
        longest = max(longest, len(raw))
        found += [value for value, _ in parts]
    return found, damaged, glued, longest


def blocks(record: dict) -> list[dict]:
    content = (record.get("message") or {}).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content or [] if isinstance(block, dict)]


def is_person(record: dict) -> bool:
    if record.get("isMeta") or record.get("isCompactSummary"):
        return False
    origin = (record.get("origin") or {}).get("kind")
    if origin not in (None, "human") or (record.get("isSidechain") and origin != "human"):
        return False
    said = [b for b in blocks(record) if b.get("type") in ("text", "image")]
    # a command that is a prompt has its message before its name
    if any(b.get("text", "").startswith("<command-message>") and "<command-name>/" in b["text"] for b in said):
        return True
    return any(not b.get("text", "").lstrip().startswith(NOT_A_PERSON) for b in said)


def is_notice(words: str) -> bool:
    return words.startswith(('{"task_id"', *NOT_A_PERSON))


def queued(records: list[dict]) -> int:
    """Messages of a person that the client gave to the model between two calls."""
    if any(r.get("type") == "attachment" for r in records):
        return sum(map(is_given, records))
    count, waiting = 0, []
    operations = [(n, r) for n, r in enumerate(records) if r.get("type") == "queue-operation"]
    for place, (number, record) in enumerate(operations):
        if record["operation"] == "enqueue":
            waiting.append(record.get("content") or "")
        elif record["operation"] == "popAll":
            waiting.clear()
        elif record["operation"] == "remove" and waiting:
            # those of one run of removals that a prompt follows were notices
            rest = [r["operation"] for _, r in operations[place:]]
            run = next((i for i, name in enumerate(rest) if name != "remove"), len(rest))
            last = operations[place + run][0] if run < len(rest) else -1
            prompts = run < len(rest) and rest[run] == "dequeue" and last - number == run
            wanted = [w for w in waiting if is_notice(w) is prompts] or waiting
            count += not is_notice(wanted[0])
            waiting.remove(wanted[0])
        elif record["operation"] == "dequeue" and waiting:
            following = (r for r in records[number + 1 :] if r.get("type") == "user" and "toolUseResult" not in r)
            said = "\n".join(b.get("text", "") for b in blocks(next(following, {})))
            waiting.remove(said if said in waiting else waiting[0])
    return count


def is_given(record: dict) -> bool:
    inner = record.get("attachment") or {}
    if inner.get("type") != "queued_command":
        return False
    prompt = inner["prompt"] if isinstance(inner["prompt"], str) else inner["prompt"][-1]["text"]
    return (inner.get("origin") or {}).get("kind") in (None, "human") and not prompt.startswith(NOT_A_PERSON)


def count(path: Path) -> dict:
    records, damaged, glued, longest = values(path)
    calls: dict[object, str] = {}
    messages, results, told = set(), {}, Counter()
    usage: dict[str, dict] = {}
    anonymous, texts_of_interrupts, last_interrupted = 0, 0, False
    for number, record in enumerate(records):
        kind, message = record.get("type"), record.get("message") or {}
        if kind == "tool_use":
            calls[f"bare {number}"] = record["name"]
        if kind == "tool_result":
            results[f"bare {number}"] = "ok"
        if kind == "assistant":
            if message.get("model") == "<synthetic>" or record.get("isApiErrorMessage"):
                continue
            name = message.get("id") or record.get("uuid") or f"line {number}"
            for place, block in enumerate(blocks(record)):
                if block.get("type") == "tool_use":
                    key = block.get("id") or f"{number}/{place}"
                    if key not in calls:
                        messages.add(name)
                    calls.setdefault(key, block["name"])
                elif block.get("type") == "thinking" or (block.get("type") == "text" and block["text"]):
                    messages.add(name)
            if message.get("usage"):
                before = usage.setdefault(name, {"model": message.get("model")})
                for field, short in (
                    ("input_tokens", "input"),
                    ("output_tokens", "output"),
                    ("cache_read_input_tokens", "cacheRead"),
                    ("cache_creation_input_tokens", "cacheWrite"),
                ):
                    before[short] = max(before.get(short, 0), message["usage"].get(field) or 0)
        if kind == "user":
            for block in blocks(record):
                if block.get("type") != "tool_result":
                    continue
                key = block.get("tool_use_id")
                if not key:
                    anonymous += 1
                    key = f"anonymous {anonymous}"
                words = block.get("content")
                words = words if isinstance(words, str) else json.dumps(words)
                if key in results:
                    continue
                kept = record.get("toolUseResult")
                if block.get("is_error") and (words.startswith(DENIED) or record.get("toolDenialKind")):
                    results[key] = "denied"
                elif block.get("is_error"):
                    results[key] = "interrupted" if words.startswith(INTERRUPTED) else "failed"
                else:
                    results[key] = "interrupted" if isinstance(kept, dict) and kept.get("interrupted") else "ok"
                last_interrupted = results[key] == "interrupted"
            starts = [b.get("text", "").startswith("[Request interrupted") for b in blocks(record)]
            texts_of_interrupts += any(starts) and not last_interrupted
            told["turns"] += is_person(record)
    outcomes = Counter(results.values())
    models: dict[str, Counter] = {}
    for one in usage.values():
        models.setdefault(one["model"] or "unknown", Counter()).update({k: v for k, v in one.items() if k != "model"})
    stamps = sorted(
        s[:19] + ((s[19:-1] or ".") + "000000")[:7]
        for r in records
        if isinstance(s := r.get("timestamp"), str) and s[:2] == "20" and s.endswith("Z")
    )
    return {
        "versions": list(
            dict.fromkeys(r["version"] for r in records if any(c.isdigit() for c in r.get("version") or ""))
        ),
        "sessions": list(dict.fromkeys(r["sessionId"] for r in records if r.get("sessionId") and "message" in r)),
        "toolCalls": dict(sorted(Counter(calls.values()).items())),
        "toolResults": len(results),
        "failed": outcomes["failed"],
        "denied": outcomes["denied"],
        "interrupted": outcomes["interrupted"] + texts_of_interrupts,
        "userTurns": told["turns"] + queued(records),
        "assistantMessages": len(messages),
        "subAgentCalls": sum(name in ("Task", "Agent") for name in calls.values()),
        "firstTime": stamps[0] if stamps else None,
        "lastTime": stamps[-1] if stamps else None,
        "tokensByModel": {
            m: {k: c.get(k, 0) for k in ("input", "output", "cacheRead", "cacheWrite")} for m, c in models.items()
        },
        "records": len(records),
        "damagedLines": damaged,
        "gluedRecovered": glued,
        "longestLine": longest,
    }


if __name__ == "__main__":
    print(json.dumps({Path(p).name: count(Path(p)) for p in sys.argv[1:]}, indent=1, ensure_ascii=False))
