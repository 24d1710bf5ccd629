"""An ACP agent whose every line is scripted: the first argument is a JSON list of steps.

`{"say": "text"}` writes that text as it stands; `{"wait": N}` reads N lines and writes them, one JSON string each, to the file
of the second argument; `{"spawn": seconds}` starts a child that outlives it; `{"exit": code}` ends.
"""

import json
import subprocess
import sys

steps = json.loads(sys.argv[1])
heard = open(sys.argv[2], "a", encoding="utf-8")  # noqa: SIM115 - for as long as it lives
for step in steps:
    match step:
        case {"say": text}:
            sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
            sys.stdout.buffer.flush()
        case {"wait": count}:
            for _ in range(count):
                line = sys.stdin.buffer.readline()
                heard.write(json.dumps(line.decode("utf-8", "surrogateescape")) + "\n")
                heard.flush()
        case {"spawn": seconds}:
            child = subprocess.Popen(["sleep", str(seconds)])
            heard.write(json.dumps(f"child {child.pid}") + "\n")
            heard.flush()
        case {"exit": code}:
            sys.exit(code)
