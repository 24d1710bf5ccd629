"""What a command touches, as far as its words say it: files read and written, the network, marks for a person.

Promises: operands are given as written. For a program without a table every operand that is not an option counts as
written, so that nothing is taken for harmless by silence.
"""

from __future__ import annotations

from itertools import takewhile

from interlock.runtime.policy.shell.awk import read_awk
from interlock.runtime.policy.shell.classify import FORMS, is_read_only, is_version, is_wrapper, program_name
from interlock.runtime.policy.shell.model import DYNAMIC, Effects, SimpleCommand
from interlock.runtime.policy.shell.option import Reading, Spec, names, read_options
from interlock.runtime.policy.shell.programs.system import find_paths, find_references
from interlock.runtime.policy.shell.programs.viewer import tar_paths, tar_verdict
from interlock.runtime.policy.shell.script import read_sed

NETWORK = names(
    "curl wget ssh scp sftp rsync nc ncat netcat telnet ftp tftp lftp ping ping6 traceroute dig nslookup "
    "host whois socat aria2c http https xh httpie gh glab docker podman kubectl helm npx apt apt-get brew "
    "dnf yum pacman apk aws gcloud az terraform mosh rsh autossh nmap openssl ansible mail sendmail"
)
_PACKAGERS = names("npm yarn pnpm bun pip pip3 pipx uv cargo gem go poetry conda composer bundle mvn gradle")
_FETCHING = names(
    "install i add ci update upgrade publish download get fetch sync audit outdated view info search "
    "create init dlx login lock exec x mod push"
)
_GIT_NETWORK = names("fetch pull push clone ls-remote remote submodule archive send-email fetch-pack send-pack")
_GIT_WITH_PLACE = names("fetch pull push clone ls-remote fetch-pack send-pack")
"""Their first operand is where the other repository lies, which may be a folder."""
_CONFIG_ASKS = names("--list -l --get --get-all --get-regexp")
_INTERPRETERS = names(
    "python python2 python3 perl ruby node deno bun php lua Rscript julia tclsh osascript pwsh powershell groovy scala"
)
_PRIVILEGED = names("sudo doas su pkexec run0 runuser gosu su-exec")
_DESTRUCTIVE = names("rm rmdir shred dd mkfs truncate wipefs unlink fdisk parted mkswap")
_INTERACTIVE = names("less more most vi vim nvim nano emacs view ex ed top htop man info watch screen tmux gdb")
_LAST_WRITTEN = names("cp mv ln install rsync scp")
_ALL_WRITTEN = names("rm rmdir mkdir touch tee truncate shred unlink mkfifo mknod chmod chown chgrp mv")
_OUTPUTS: dict[str, tuple[str, ...]] = {
    "sort": ("-o", "--output"), "curl": ("-o", "--output", "-D", "-c"), "wget": ("-O", "-o", "-P"), "tar": ("-f", "-C"),
    "gcc": ("-o",), "cc": ("-o",), "clang": ("-o",), "tree": ("-o",), "git": ("--output",), "shuf": ("-o", "--output"),
    "unzip": ("-d",), "zip": (),
}  # fmt: skip
_CURL_VALUES = Spec(
    "dFHouXAbcDeEmTxyYzKQrtUwC",
    names("data data-binary data-raw form header output user request upload-file"),
)
_COMPARING = ("=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge")
_ONE_OUTPUT = {"uniq": 1, "xxd": 1, "base64": 1, "base32": 1}


def effects(command: SimpleCommand, reads_only: bool | None = None) -> Effects:
    """What `command` touches. `reads_only`: whether it only reads, where that was worked out before."""
    name = program_name(command.program).rpartition("/")[2]
    reads = [r.target for r in command.redirects if r.operator in ("<", "<>") and r.target and r.target != "/dev/null"]
    writes = [r.target or "<any>" for r in command.redirects if r.writes and r.target != "/dev/null"]
    args = list(command.argv[1:])
    reads_only = is_read_only(command).ok if reads_only is None else reads_only
    more_reads, more_writes = _operands(name, args, command, reads_only)
    more_reads = _files_alone(more_reads, command)
    sockets = [target for target in (*reads, *writes) if target.startswith(("/dev/tcp/", "/dev/udp/"))]
    network = bool(sockets) or (_network(name, args) and not is_version(name, args))
    return Effects(
        tuple(dict.fromkeys([*more_reads, *reads])),
        tuple(dict.fromkeys([*more_writes, *writes])),
        network,
        _flags(name, args, command),
    )


def _files_alone(reads: list[str], command: SimpleCommand) -> list[str]:
    """Without the pipes of `<(…)` and without /dev/null; with every pattern, because the shell looks for its files."""
    if not command.globs and all(command.known):
        return [file for file in reads if file != "/dev/null"]
    known = {word for word, is_known in zip(command.argv, command.known, strict=True) if is_known}
    pipes = {word for word in command.argv if word.startswith("<(") and word not in known}
    listed = set(reads)
    patterns = [word for word in (command.argv[i] for i in command.globs) if word not in listed and word[:1] != "-"]
    return [file for file in (*reads, *patterns) if file not in pipes and file != "/dev/null"]


def _operands(name: str, args: list[str], command: SimpleCommand, reads_only: bool) -> tuple[list[str], list[str]]:
    if not name or name == DYNAMIC:
        return [], ["<any>"] if name else []
    if name == "git":
        return _git(args, reads_only)
    if name == "find":
        paths = [*find_paths(args), *find_references(args)]
        return (
            (paths, []) if reads_only else (paths, [*paths, *_after(args, "-fprint", "-fls", "-fprintf", "-fprint0")])
        )
    if is_version(name, args):
        return [], []
    if name in ("tar", "gtar", "bsdtar") and not tar_verdict(args):
        return tar_paths(args), []
    if name in _INTERPRETERS:
        return [], ["<any>"]
    if name == "curl":
        return _curl(args)
    if name in _ALL_WRITTEN or name in _LAST_WRITTEN:
        return _written(name, args)
    return _listed(name, args, command)


def _listed(name: str, args: list[str], command: SimpleCommand) -> tuple[list[str], list[str]]:
    form = FORMS.get(name)
    if form is None:
        plain = [] if is_wrapper(command) else [a for a in args if not a.startswith("-") and ("/" in a or "." in a)]
        return [], plain
    reading = form.read(args)
    writes = [o.value for o in reading.options if o.name in _OUTPUTS.get(name, ()) and o.value]
    given_files = [o.value for o in reading.options if o.name in form.option_files.split() and o.value]
    if form.reads == "none":
        return given_files, writes
    files = [args[i] for i in reading.operands]
    given = any(o.name in ("-e", "-f", "--regexp", "--file", "--files", "--expression") for o in reading.options)
    files = files[1:] if form.reads == "first" and not given else files
    if name in _ONE_OUTPUT and len(files) > _ONE_OUTPUT[name]:
        files, writes = files[:-1], [*writes, files[-1]]
    if name in ("test", "["):
        files = _tested(args)
    files += given_files
    if name == "sed" and reading.has("-i", "--in-place"):
        writes = [*writes, *files]
    if name in ("sed", "gsed") or name.endswith("awk"):
        writes = [*writes, *_script_writes(name, args, reading)]
    files = [f for f in files if f != "-" and not (form.numbers and f[:1] in "-+" and f[1:].isdigit())]
    return (files or [form.default]) if form.default else files, writes


def _tested(args: list[str]) -> list[str]:
    """The operands of `test` that are files: not those that are compared as text or as numbers."""
    compared = {j for i, a in enumerate(args) if a in _COMPARING for j in (i - 1, i + 1)}
    compared |= {i + 1 for i, a in enumerate(args) if a in ("-n", "-z")}
    words = ("]", "!", "(", ")", *_COMPARING)
    return [a for i, a in enumerate(args) if i not in compared and a not in words and not a.startswith("-")]


def _script_writes(name: str, args: list[str], reading: Reading) -> list[str]:
    sources = [o.value for o in reading.options if o.name in ("-e", "--expression") and o.value]
    sources = sources or [args[i] for i in reading.operands[:1]]
    read = read_awk if name.endswith("awk") else read_sed
    return [path for source in sources for path in read(source).writes]


def _git(args: list[str], reads_only: bool) -> tuple[list[str], list[str]]:
    if reads_only:
        outside = [a for a in args if a.startswith(("/", "..", "~")) or "/.." in a]
        return [".", *outside, *_after(args, "-C")], []
    words = [a for a in args if not a.startswith("-")]
    verb = words[0] if words else ""
    if verb == "config":
        # behind the name such a word is the value that is set
        rest = args[args.index("config") + 1 :]
        options = takewhile(lambda word: word.startswith("-"), rest)
        asks = rest[:1] in (["list"], ["get"]) or not _CONFIG_ASKS.isdisjoint(options)
        return ([".git/config"], []) if asks else ([], [".git/config"])
    whole = (
        "reset",
        "checkout",
        "clean",
        "restore",
        "switch",
        "pull",
        "merge",
        "rebase",
        "stash",
        "apply",
        "am",
        "cherry-pick",
        "mv",
        "rm",
    )
    return [], ["."] if verb in whole else [".git"]


def _curl(args: list[str]) -> tuple[list[str], list[str]]:
    reading = read_options(args, _CURL_VALUES)
    reads = [o.value[1:] for o in reading.options if o.value and o.value.startswith("@")]
    reads += [o.value.partition("=@")[2] for o in reading.options if o.value and "=@" in o.value]
    reads += [o.value for o in reading.options if o.name in ("-T", "--upload-file", "-K", "--config") and o.value]
    writes = [o.value for o in reading.options if o.name in ("-o", "--output", "-D", "-c") and o.value]
    return reads, writes + (["<any>"] if reading.has("-O", "--remote-name", "-J") else [])


def _written(name: str, args: list[str]) -> tuple[list[str], list[str]]:
    reading = read_options(args, Spec("tsSm" if name != "rm" else "", names("target-directory reference mode size")))
    files = [args[i] for i in reading.operands]
    if name in ("chmod", "chown", "chgrp"):
        return [], files[1:]
    target = reading.value("-t", "--target-directory")
    if name in _LAST_WRITTEN and name != "mv":
        return (files, [target]) if target else (files[:-1], files[-1:])
    return [], [*files, *([target] if target else [])]


def _after(args: list[str], *names: str) -> list[str]:
    return [args[i + 1] for i, a in enumerate(args[:-1]) if a in names]


def _network(name: str, args: list[str]) -> bool:
    if name == "git":
        verb = next((i for i, a in enumerate(args) if a in _GIT_NETWORK), None)
        if verb is None or ("remote" in args and len(args) < 3):
            return False
        # right behind the verb: further on it could be the value of an option
        place = "".join(args[verb + 1 : verb + 2])
        return not (args[verb] in _GIT_WITH_PLACE and place.startswith((".", "/")) and "::" not in place)
    return name in NETWORK or (name in _PACKAGERS and any(a in _FETCHING for a in args))


_MARKS = {
    name: tuple(mark for mark, programs in (("privileged", _PRIVILEGED), ("destructive", _DESTRUCTIVE),
                                            ("interactive", _INTERACTIVE), ("code", _INTERPRETERS)) if name in programs)
    for name in _PRIVILEGED | _DESTRUCTIVE | _INTERACTIVE | _INTERPRETERS
}  # fmt: skip
"""Program -> its marks."""


def _flags(name: str, args: list[str], command: SimpleCommand) -> tuple[str, ...]:
    found: list[str] = []
    if command.assignments and command.program:
        found.append("env_prefix")
    if (name in ("env", "printenv") and not is_wrapper(command)) or (any("/environ" in a for a in args) and name):
        found.append("environment")
    found += _MARKS.get(name, ("destructive",) if name.startswith("mkfs") else ())
    if command.program == DYNAMIC:
        found.append("dynamic")
    return tuple(found)
