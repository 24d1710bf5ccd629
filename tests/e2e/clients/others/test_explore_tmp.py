from __future__ import annotations
import json, os, asyncio
from typing import Any
import pytest
from pathlib import Path
CODEX = "codex/node_modules/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex"

def fn(name, **args): return {"text": f"Use {name}.", "tools": [{"name": name, "args": args}]}
def free(name, text): return {"text": f"Use {name}.", "tools": [{"name": name, "input": text}]}
MOVE = "*** Begin Patch\n*** Update File: hello.py\n*** Move to: moved/hello2.py\n@@\n-x\n+y\n*** Delete File: important/keep.txt\n*** Add File: new.txt\n+hi \u202e there\n*** End Patch\n"
PLAYS = {"tools": [
   fn("update_plan", explanation="x", plan=[{"step": "one", "status": "in_progress"}]),
   fn("exec_command", cmd="cat", tty=True, yield_time_ms=500),
   fn("write_stdin", session_id="seen:session ID ([0-9]+)", chars="rm -rf important\n", yield_time_ms=500),
   free("apply_patch", MOVE),
   fn("view_image", path="hello.py"),
   fn("exec_command", cmd="printf 'a\u001b[31mb\u202e\\n' > ctl.txt", sandbox_permissions="require_escalated", justification="\u001b]0;x\u0007 \u202eevil"),
   fn("web_search", query="x"),
   {"text": "End."}]}

async def test_explore(stage, approver, until):
    stage.program("codex", CODEX)
    stage.play(PLAYS)
    stage.codex_settings(os.environ.get("SB","workspace-write"))
    way = os.environ.get("WAY", "hooks")
    if way == "hooks":
        done = stage.run("interlock", "connect", "codex", "--yes")
        stage.run("interlock", "gate", "serve", "--detach")
    await approver.asks()
    t = stage.terminal()
    if way == "hooks":
        t.start(["codex", "do it play:tools"], stage.env, stage.project)
    else:
        t.start(["interlock", "codex", "do it play:tools"], stage.env, stage.project)
    for n in range(400):
        for c, v in await approver.asks():
            e = v.event
            print("ASK", e.get("tool"), json.dumps(e.get("shownInput"))[:300], "|", e.get("prompt"), "|", e.get("reason"), "|", e.get("agentReason"), e.get("choices"), e.get("diffPath"))
            await approver.answer(v, "allow")
        if "End." in t.text() and "• End" in t.text(): break
        await asyncio.sleep(0.2)
    print(t.text())
    for e in stage.events("tool.intent"): print("INTENT", e["tool"], json.dumps(e["rawInput"])[:200])
    for e in stage.events("tool.permission"): print("PERM", e["decision"], e["reason"][:200], e["tool"])
    for e in stage.events("tool.observation"): print("OBS", e["ok"], e["summary"][:200])
    last = json.loads(stage.heard().splitlines()[-1])["body"]["input"]
    for i in last:
        if "output" in i.get("type",""): print("MODEL", str(i.get("output"))[:300])
    first = json.loads(stage.heard().splitlines()[0])["body"]
    print("TOOLS", [x.get("name") or x.get("type") for x in first.get("tools",[])], [ [y.get("name") for y in x.get("tools",[])] for x in first["input"] if x.get("type")=="additional_tools"])
    print(sorted(str(p.relative_to(stage.project)) for p in stage.project.rglob("*") if ".git/" not in str(p)))
