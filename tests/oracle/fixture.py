"""The files that generated commands work on: a repository to work in, a folder outside of it, a home.

Promises: the same names and contents each time; every file is older than any command, so that a change shows in its time.
Below the root: `ws` (where commands start), `out` (outside of the workspace), `home`, `tmp`.
"""

from __future__ import annotations

import gzip
import io
import os
import sqlite3
import subprocess
import tarfile
import zipfile
from pathlib import Path

OLD = 1_700_000_000
"""When every file was changed last."""

_TEXTS = {
    "ws/a.txt": "alpha\nbeta\ngamma\n",
    "ws/b.txt": "beta\ndelta\nalpha\n",
    "ws/with blank.txt": "one two\n",
    "ws/-dash.txt": "begins with a dash\n",
    "ws/notes.md": "# Notes\n\nalpha [one](docs/one.md)\n",
    "ws/data.json": '{"a": [1, 2, {"b": "c"}], "f": "a.txt"}\n',
    "ws/data.csv": "id,name\n1,alpha\n2,beta\n",
    "ws/list.txt": "a.txt\ndocs/one.md\n../out/secret.txt\n",
    "ws/list0": "a.txt\0../out/secret.txt\0",
    "ws/args": "-n\na.txt\n",
    "ws/prog.awk": '{ print $1 > "from-awk.txt" }\n',
    "ws/edit.sed": "s/alpha/omega/w from-sed.txt\nr ../out/secret.txt\n",
    "ws/query.sql": "select * from t;\n.output from-sql.txt\nselect 1;\n",
    "ws/filter.jq": ".a\n",
    "ws/script.sh": "#!/bin/sh\ncat ../out/secret.txt > from-script.txt\n",
    "ws/script.py": "import pathlib\npathlib.Path('from-python.txt').write_text(open('../out/secret.txt').read())\n",
    "ws/script.pl": "open(F, '>', 'from-perl.txt'); print F 1;\n",
    "ws/script.js": "require('fs').writeFileSync('from-node.txt', '1')\n",
    "ws/Makefile": "all: made.txt\nmade.txt: a.txt\n\tcp a.txt made.txt\nclean:\n\trm -f made.txt\n",
    "ws/other.mk": "include ../out/inc.mk\nother:\n\ttouch other.txt\n",
    "ws/fix.patch": "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n alpha\n-beta\n+BETA\n gamma\n",
    "ws/new.patch": "--- /dev/null\n+++ b/docs/made.md\n@@ -0,0 +1 @@\n+made\n",
    "ws/curlrc": "output = from-curlrc.txt\nurl = http://127.0.0.3:8080/\n",
    "ws/sshconf": "Host *\n  ProxyCommand cat ../out/secret.txt\n",
    "ws/hex.txt": "00000000: 6162 630a                                abc.\n",
    "ws/b64.txt": "YWJjCg==\n",
    "ws/prog.c": "#include \"prog.h\"\nint main(void) { return N; }\n",
    "ws/prog.h": "#define N 0\n",
    "ws/.hidden": "hidden\n",
    "ws/.gitignore": "*.log\nignored/\n",
    "ws/src/main.py": "import util\nprint(util.alpha())\n",
    "ws/src/util.py": "def alpha():\n    return 1\n",
    "ws/src/deep/x.txt": "alpha x\n",
    "ws/src/deep/y.log": "alpha y\n",
    "ws/docs/one.md": "# One\nalpha\n",
    "ws/docs/two.md": "# Two\nbeta\n",
    "ws/bin/tool": "#!/bin/sh\ncat \"${1:-/dev/null}\"\n",
    "out/secret.txt": "alpha secret\n",
    "out/inc.mk": "FROM = outside\n",
    "out/script.sh": "touch from-outside.txt\n",
    "out/dir/p.txt": "alpha p\n",
    "out/dir/q.txt": "q\n",
    "home/notes.txt": "home notes\n",
    "home/.profile": "export A=1\n",
    "home/.netrc": "machine 127.0.0.2 login u password p\n",
    "home/.ssh/config": "Host alias\n  HostName 127.0.0.2\n  IdentityFile ~/.ssh/id_rsa\n",
    "home/.ssh/id_rsa": "not a key\n",
    "home/.gitconfig": "[user]\n\tname = A\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n",
    "tmp/.keep": "",
}  # fmt: skip
_LINKS = {
    "ws/link-in": "a.txt",
    "ws/link-out": "../out/secret.txt",
    "ws/link-dir": "../out/dir",
    "ws/broken": "nowhere/at-all",
    "ws/docs/link-up": "../../out/secret.txt",
}
_FOLDERS = ("ws/empty", "ws/ignored")
_RUNNABLE = ("ws/bin/tool", "ws/script.sh", "out/script.sh")


def make_fixture(root: Path) -> None:
    """Write all of it below `root`, which must not exist."""
    for name in _FOLDERS:
        (root / name).mkdir(parents=True)
    for name, text in _TEXTS.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name, target in _LINKS.items():
        (root / name).symlink_to(target)
    for name in _RUNNABLE:
        (root / name).chmod(0o755)
    _make_archives(root)
    _make_repositories(root)
    os.link(root / "ws/b.txt", root / "ws/hard.txt")
    _make_old(root)


def _make_archives(root: Path) -> None:
    ws = root / "ws"
    for name, members in (("archive.tar", ("a.txt", "packed/one.txt")), ("sub.tar", ("packed/two.txt",))):
        with tarfile.open(ws / name, "w") as tar:
            for member in members:
                info = tarfile.TarInfo(member)
                info.size, info.mtime = 3, OLD
                tar.addfile(info, io.BytesIO(b"in\n"))
    (ws / "archive.tgz").write_bytes(gzip.compress((ws / "archive.tar").read_bytes(), mtime=OLD))
    with zipfile.ZipFile(ws / "archive.zip", "w") as made:
        for member in ("a.txt", "packed/one.txt"):
            made.writestr(zipfile.ZipInfo(member), "in\n")
    (ws / "note.gz").write_bytes(gzip.compress(b"note\n", mtime=OLD))
    database = sqlite3.connect(ws / "db.sqlite")
    database.executescript("create table t (a, b); insert into t values (1, 'alpha');")
    database.close()


def _make_repositories(root: Path) -> None:
    env = {
        "PATH": os.environ["PATH"], "HOME": str(root / "home"), "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": f"{OLD} +0000", "GIT_COMMITTER_DATE": f"{OLD} +0000",
    }  # fmt: skip
    ws = root / "ws"

    def git(*words: str, at: Path = ws) -> None:
        subprocess.run(["git", "-C", str(at), *words], env=env, check=True, capture_output=True)

    empty = root / "templates"
    empty.mkdir()
    git("init", f"--template={empty}", "-b", "main", ".")
    git("add", "a.txt", "notes.md", "src", "docs/one.md", ".gitignore")
    git("commit", "-m", "One")
    git("tag", "v1")
    git("branch", "topic")
    git("add", "b.txt", "docs")
    git("commit", "-m", "Two")
    git("clone", "--bare", "--no-hardlinks", f"--template={empty}", str(ws), str(root / "out/remote.git"), at=root)
    git("remote", "add", "origin", str(root / "out/remote.git"))
    git("fetch", "origin")
    git("gc", "--quiet")
    git("gc", "--quiet", at=root / "out/remote.git")
    git("add", "data.json")
    empty.rmdir()
    (ws / "notes.md").write_text("# Notes\n\nchanged\n")
    (ws / ".git/hooks").mkdir(exist_ok=True)


def _make_old(root: Path) -> None:
    for folder, _, files in os.walk(root):
        for name in files:
            os.utime(os.path.join(folder, name), (OLD, OLD), follow_symlinks=False)
