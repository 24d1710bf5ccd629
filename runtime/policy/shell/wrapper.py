"""Programs whose arguments are another program: sudo, env, timeout, strace, docker exec and their kind.

Promises: the table says which options take a value and how many operands stand before the inner program; the inner
program is listed with its own words. A wrapper whose options are all harmless is marked as such (`TRANSPARENT`).
"""

from __future__ import annotations

from dataclasses import dataclass

from interlock.runtime.policy.shell.builtin import stdin_code
from interlock.runtime.policy.shell.expand import Field
from interlock.runtime.policy.shell.frame import Frame
from interlock.runtime.policy.shell.option import Reading, Spec, read_options
from interlock.runtime.policy.shell.state import State
from interlock.runtime.policy.shell.walk import Walk


@dataclass(frozen=True, slots=True)
class Wrapper:
    """How to find the inner program."""

    short: str = ""
    """Letters of options that take a value."""
    long: str = ""
    """Long options that take a value, separated by spaces."""
    skip: int = 0
    """Operands before the inner program."""
    assigns: bool = False
    """`NAME=value` operands set variables."""
    verbs: str = ""
    """Sub-commands, one of which must come first (`exec run`); other sub-commands run nothing."""
    moves: str = ""
    """Option letter or name whose value is the directory of the inner program; `*` when it is unknown."""
    code: str = ""
    """Options whose value is code for a shell (`-c --command`)."""
    joined: bool = False
    """The operands are joined and given to a shell."""
    dashes: bool = False
    """The inner program comes only after `--`."""

    def spec(self) -> Spec:
        """As the option reader wants it."""
        return Spec(self.short, frozenset(self.long.split()), stop_at_operand=True)


_TIME = Wrapper("fo", "format output")
_RUN = Wrapper(verbs="run exec x", moves="*")
_CONTAINER = Wrapper(
    "aceuhlmpvwP",
    "add-host annotation attach blkio-weight cap-add cap-drop cgroup-parent cgroupns cidfile cpu-period cpu-quota cpu-shares "
    "cpus cpuset-cpus cpuset-mems detach-keys device device-cgroup-rule dns dns-option dns-search domainname entrypoint env "
    "env-file expose gpus group-add health-cmd health-interval hostname ip ip6 ipc isolation label label-file link log-driver "
    "log-opt mac-address memory memory-swap mount name network network-alias oom-score-adj pid pids-limit platform publish "
    "pull restart runtime security-opt shm-size stop-signal stop-timeout storage-opt sysctl tmpfs ulimit user userns uts "
    "volume volume-driver volumes-from workdir index file project-name profile scale",
    skip=1,
    verbs="run exec create",
    moves="*",
)  # fmt: skip

WRAPPERS: dict[str, Wrapper] = {
    "sudo": Wrapper(
        "ugpCcDRTUhrtaR",
        "user group prompt close-from chdir chroot command-timeout other-user host role type auth-type login-class",
        assigns=True, moves="D --chdir",
    ),
    "doas": Wrapper("aCu", assigns=True),
    "run0": Wrapper("ugD", "user group chdir setenv slice nice property background machine unit", moves="D --chdir"),
    "pkexec": Wrapper("u", "user", moves="*"),
    "gosu": Wrapper(skip=1),
    "su-exec": Wrapper(skip=1),
    "setpriv": Wrapper(
        "", "reuid ruid euid regid rgid egid groups inh-caps ambient-caps bounding-set securebits pdeathsig selinux-label "
        "apparmor-profile landlock-access landlock-rule ptracer seccomp-filter"
    ),
    "nice": Wrapper("n", "adjustment"),
    "ionice": Wrapper("cnpPu", "class classdata pid pgid uid"),
    "chrt": Wrapper("TPDp", "sched-runtime sched-period sched-deadline", skip=1),
    "taskset": Wrapper("", "", skip=1),
    "numactl": Wrapper("ipmcNCPw", "interleave preferred membind cpunodebind physcpubind preferred-many weighted-interleave"),
    "prlimit": Wrapper("p", "pid"),
    "cpulimit": Wrapper("lpePc", "limit pid exe path cpu"),
    "nohup": Wrapper(),
    "setsid": Wrapper(),
    "stdbuf": Wrapper("ioe", "input output error"),
    "unbuffer": Wrapper(),
    "timeout": Wrapper("ks", "kill-after signal", skip=1),
    "gtimeout": Wrapper("ks", "kill-after signal", skip=1),
    "time": _TIME,
    "gtime": _TIME,
    "setarch": Wrapper("", "uname-2.6", skip=1),
    "linux32": Wrapper(),
    "linux64": Wrapper(),
    "i386": Wrapper(),
    "x86_64": Wrapper(),
    "arch": Wrapper("de"),
    "chroot": Wrapper("", "userspec groups", skip=1, moves="*"),
    "unshare": Wrapper(
        "SGRw", "setuid setgid root wd map-user map-users map-group map-groups propagation setgroups monotonic boottime "
        "load-interp", moves="*"
    ),
    "nsenter": Wrapper("tSGNTW", "target setuid setgid wdns net-socket", moves="*"),
    "firejail": Wrapper(moves="*"),
    "proot": Wrapper("rbqwSR", "rootfs bind qemu cwd kernel-release", moves="*"),
    "fakeroot": Wrapper("lsibu", "lib faked save-file fd-base"),
    "fakechroot": Wrapper("desbcl"),
    "eatmydata": Wrapper(),
    "catchsegv": Wrapper(),
    "faketime": Wrapper("pf", "", skip=1),
    "datefudge": Wrapper(skip=1),
    "strace": Wrapper("abeEoOPpsSuUIX", "attach trace output user env inject fault decode-fds columns string-limit"),
    "ltrace": Wrapper("aAbDeFlnopsuxX", "align config debug filter indent library output where"),
    "dtruss": Wrapper("np"),
    "valgrind": Wrapper(),
    "rr": Wrapper(verbs="record"),
    "perf": Wrapper("eopCGFgIrt", "event output pid cpu interval-print repeat", verbs="stat record trace mem c2c kmem lock"),
    "gdb": Wrapper("", "", code=""),
    "catatonit": Wrapper(),
    "tini": Wrapper("pe"),
    "dumb-init": Wrapper("r"),
    "rlwrap": Wrapper("abCDfFgHlmMoOpPqsStwzX"),
    "systemd-run": Wrapper(
        "HMptE", "host machine unit property description slice uid gid nice working-directory setenv on-active on-boot "
        "on-startup on-unit-active on-calendar timer-property path-property socket-property service-type background",
        moves="*",
    ),
    "systemd-inhibit": Wrapper("", "what who why mode"),
    "systemd-cat": Wrapper("tpn", "identifier priority namespace stderr-priority level-prefix"),
    "caffeinate": Wrapper("tw"),
    "dbus-run-session": Wrapper("", "config-file dbus-daemon"),
    "xvfb-run": Wrapper("efnpsw", "error-file auth-file server-num server-args xauth-protocol wait"),
    "ssh-agent": Wrapper("aEtP"),
    "gpg-agent": Wrapper("", "", dashes=True),
    "torsocks": Wrapper("uaPp", "user pass address port"),
    "torify": Wrapper(),
    "tsocks": Wrapper(),
    "proxychains": Wrapper("f"),
    "proxychains4": Wrapper("f"),
    "runcon": Wrapper("urltc", "user role type range", skip=1),
    "sg": Wrapper("c", skip=1, code="-c", joined=True),
    "capsh": Wrapper(dashes=True),
    "logsave": Wrapper(skip=1),
    "chronic": Wrapper(),
    "ifne": Wrapper(),
    "zrun": Wrapper(),
    "lckdo": Wrapper("W", skip=1),
    "setlock": Wrapper(skip=1),
    "softlimit": Wrapper("adfloprstmc"),
    "envdir": Wrapper(skip=1),
    "envuidgid": Wrapper(skip=1),
    "setuidgid": Wrapper(skip=1),
    "chpst": Wrapper("uUebdfmoprtlLnPC/"),
    "daemonize": Wrapper("aceolpu", moves="*"),
    "daemon": Wrapper("", "", dashes=True),
    "flock": Wrapper("wEcF", "wait timeout conflict-exit-code command", skip=1, code="-c --command"),
    "watch": Wrapper("nq", "interval equexit", joined=True),
    "watchexec": Wrapper("wecfiosdEN", "watch exts filter ignore shell workdir debounce env signal", joined=True),
    "viddy": Wrapper("n", "interval", joined=True),
    "hyperfine": Wrapper(
        "wmMrspcLDSuiN", "warmup min-runs max-runs runs setup prepare conclude cleanup parameter-scan parameter-list shell "
        "time-unit export-json export-csv export-markdown", code="--setup --prepare --conclude --cleanup -s -p -c"
    ),
    "nodemon": Wrapper("wexid", "watch exec ext ignore delay cwd", code="--exec -x", skip=99),
    "concurrently": Wrapper("nckp", "names prefix prefix-colors kill-others success", skip=99),
    "cross-env": Wrapper(assigns=True),
    "cross-env-shell": Wrapper(assigns=True, joined=True),
    "dotenv": Wrapper("efp", "file"),
    "nvm": Wrapper(verbs="exec run", skip=1), "fnm": Wrapper("", "using", verbs="exec"),
    "volta": Wrapper("", "node npm yarn", verbs="run"), "nodeenv": Wrapper(), "tsp": Wrapper("LND"), "ts": Wrapper("LND"),
    "nsjail": Wrapper(dashes=True, moves="*"), "sandbox-exec": Wrapper("fnpD"), "leaks": Wrapper("", "", dashes=True),
    "uftrace": Wrapper(verbs="record live"), "heaptrack": Wrapper("op"), "gprofng": Wrapper(verbs="collect"),
    "sem": Wrapper("jI", "jobs id"), "stress": Wrapper(), "time-limit": Wrapper(skip=1), "timelimit": Wrapper("tTsS"),
    "detach": Wrapper(), "disown": Wrapper(), "choom": Wrapper("np", "adjust pid"), "uclampset": Wrapper("mMp"),
    "coreutils-env": Wrapper(assigns=True), "authbind": Wrapper(), "cgexec": Wrapper("g"), "aa-exec": Wrapper("pn"),
    "ip-exec": Wrapper(), "sshpass": Wrapper("fdpP"), "expect-env": Wrapper(), "envchain": Wrapper(skip=1),
    "teller": Wrapper("c", verbs="run", dashes=True), "infisical": Wrapper("", "env path", verbs="run", dashes=True),
    "sops": Wrapper(verbs="exec-env exec-file", skip=1, joined=True), "aws-okta": Wrapper(verbs="exec", skip=1, dashes=True),
    "dotenvx": Wrapper("f", verbs="run", dashes=True),
    "doppler": Wrapper("pc", "project config command", verbs="run", code="--command"),
    "op": Wrapper("", "env-file account", verbs="run"),
    "aws-vault": Wrapper("dt", "duration region", verbs="exec", skip=1),
    "chamber": Wrapper(verbs="exec", dashes=True),
    "vault": Wrapper(),
    "direnv": Wrapper(verbs="exec", skip=1),
    "uv": Wrapper("pw", "python with with-requirements with-editable env-file extra group package project directory",
                  verbs="run", moves="*"),
    "uvx": Wrapper("pw", "python with from"),
    "pipx": Wrapper("", "spec python pip-args", verbs="run"),
    "poetry": _RUN, "pipenv": _RUN, "pdm": _RUN, "rye": _RUN, "hatch": _RUN, "pixi": _RUN,
    "conda": Wrapper("np", "name prefix cwd", verbs="run", moves="*"),
    "mamba": Wrapper("np", "name prefix cwd", verbs="run", moves="*"),
    "micromamba": Wrapper("np", "name prefix cwd", verbs="run", moves="*"),
    "bundle": Wrapper(verbs="exec"), "rbenv": Wrapper(verbs="exec"), "pyenv": Wrapper(verbs="exec"),
    "nodenv": Wrapper(verbs="exec"), "rvm": Wrapper(verbs="do exec"), "asdf": Wrapper(verbs="exec"),
    "mise": Wrapper("Cc", "command cd", verbs="exec x", dashes=True, code="-c --command", moves="*"),
    "npx": Wrapper("pc", "package call", code="-c --call"),
    "bunx": Wrapper(), "pnpx": Wrapper(),
    "npm": Wrapper("pcw", "package call prefix workspace", verbs="exec x", code="-c --call", moves="*"),
    "pnpm": Wrapper("CFc", "dir filter", verbs="exec dlx", moves="*", code="-c"),
    "bun": Wrapper(verbs="x exec", joined=True),
    "yarn": Wrapper("p", "cwd", verbs="exec dlx", moves="*"),
    "nix-shell": Wrapper("pIAiE", "packages run command arg argstr", code="--run --command", skip=99),
    "nix": Wrapper("I", "", verbs="develop shell run", dashes=True),
    "guix": Wrapper(verbs="shell environment", dashes=True),
    "docker": _CONTAINER, "podman": _CONTAINER, "nerdctl": _CONTAINER,
    "docker-compose": _CONTAINER,
    "kubectl": Wrapper("cnf", "container namespace context kubeconfig", verbs="exec run debug", dashes=True, moves="*"),
    "oc": Wrapper("cnf", "container namespace context kubeconfig", verbs="exec run debug rsh", dashes=True, moves="*"),
    "lxc": Wrapper("", "env cwd user group mode", verbs="exec", skip=1, moves="*"),
    "incus": Wrapper("", "env cwd user group mode", verbs="exec", skip=1, moves="*"),
    "machinectl": Wrapper("", "uid setenv", verbs="shell", skip=1, moves="*"),
    "multipass": Wrapper("d", "working-directory", verbs="exec", skip=1, moves="*"),
    "flatpak-spawn": Wrapper("", "directory", moves="*"),
    "toolbox": Wrapper("cdr", "container distro release", verbs="run", moves="*"),
    "distrobox": Wrapper("n", "name", verbs="enter", dashes=True, moves="*"),
    "adb": Wrapper("sHPLt", verbs="shell exec-out", joined=True, moves="*"),
    "heroku": Wrapper("ar", "app remote", verbs="run", moves="*", joined=True),
    "gcloud": Wrapper("", "command zone project", verbs="ssh", code="--command", dashes=True, joined=True, moves="*"),
    "buildah": Wrapper("v", "volume user workingdir", verbs="run", skip=1, moves="*"),
    **dict.fromkeys(("pssh", "parallel-ssh", "clush", "dsh", "pdsh"), Wrapper("hHlptoeAvxXOwgm", joined=True, moves="*")),
    "wsl": Wrapper("due", "distribution user cd exec", moves="*"),
    "vagrant": Wrapper("c", "command", verbs="ssh", code="-c --command", skip=99, moves="*"),
    "dtach": Wrapper("eErz", skip=1),
    "abduco": Wrapper("e", skip=1),
    "busybox": Wrapper(), "toybox": Wrapper(),
    "run-one": Wrapper(), "keep-one-running": Wrapper(),
    "retry": Wrapper("tdsm"),
    "bsub": Wrapper("qnJoeWR", joined=True), "condor_run": Wrapper("a", joined=True),
    "pueue": Wrapper("gdlw", "group delay label working-directory after priority", verbs="add", joined=True),
    "docker-machine": Wrapper(verbs="ssh", skip=1, joined=True, moves="*"),
    "minikube": Wrapper("pn", "profile node", verbs="ssh", joined=True, moves="*"),
    "mosh": Wrapper("p", "client server predict family port ssh bind-server", skip=1, moves="*", code="--ssh"),
    "icecc": Wrapper(), "ccache": Wrapper(), "distcc": Wrapper(), "sccache": Wrapper(),
    "bear": Wrapper("", "output config", dashes=True), "scan-build": Wrapper("o"),
    "coverage": Wrapper(),
}  # fmt: skip
"""Program -> how to find the inner program."""

TRANSPARENT: dict[str, str] = {
    "nice": "-n --adjustment",
    "ionice": "-c -n --class --classdata",
    "timeout": "-k -s -v --kill-after --signal --foreground --preserve-status --verbose",
    "gtimeout": "-k -s -v --kill-after --signal --foreground --preserve-status --verbose",
    "stdbuf": "-i -o -e --input --output --error",
    "time": "-p -v --portability --verbose",
    "command": "-p",
    "builtin": "",
    "env": "-i --ignore-environment -",
    "setsid": "-w --wait -f --fork",
    "busybox": "",
    "xargs": "-0 -n -P -L -r -t -d -I -s -x --null --max-args --max-procs --max-lines --no-run-if-empty --verbose --delimiter "
    "--replace --max-chars --exit",
}
"""Wrappers that do nothing themselves, with the options that keep it so."""


def unwrap_wrapper(wrapper: Wrapper, frame: Frame, state: State, walk: Walk) -> None:
    """List what the wrapper would run."""
    fields = _after_verb(wrapper, frame.args)
    if fields is None:
        return
    values = [f.value for f in fields]
    reading = _reading(wrapper, values)
    inner = _moved(wrapper, reading, state)
    for option in reading.options:
        if option.name in wrapper.code.split() and option.value is not None:
            walk.code(option.value, fields[option.value_index].known, frame, inner, option.name)
    if (entry := reading.value("--entrypoint")) and wrapper is _CONTAINER:
        words = [Field(entry, True, False, frame.start, frame.end), *(fields[i] for i in reading.operands[1:])]
        walk.run(frame.inner(words), inner, "--entrypoint")
        return
    words = _inner_words(wrapper, fields, reading)
    words, pairs = _split_assignments(words) if wrapper.assigns else (words, ())
    if not words:
        if frame.name in ("sudo", "doas", "machinectl") and reading.has("-s", "-i", "--shell", "--login"):
            stdin_code(frame, inner, walk, frame.name)
        return
    if wrapper.joined:
        walk.code(" ".join(f.value for f in words), all(f.known for f in words), frame, inner, frame.name)
        return
    inside = frame.inner(words)
    inside.assignments = pairs
    if frame.name == "capsh" and words[0].value == "-c":
        walk.code(words[1].value if len(words) > 1 else "", all(f.known for f in words), frame, inner, "capsh")
        return
    walk.run(inside, inner, frame.name)


def _after_verb(wrapper: Wrapper, fields: list[Field]) -> list[Field] | None:
    if not wrapper.verbs:
        return fields
    verbs = wrapper.verbs.split()
    for i, field in enumerate(fields):
        if field.value in verbs:
            return fields[i + 1 :]
        if not field.value.startswith("-") and i > 2:
            return None
    return None


def _reading(wrapper: Wrapper, values: list[str]) -> Reading:
    """Options up to the inner program; a code option may also stand behind the operands (`su - root -c CODE`)."""
    reading = read_options(values, wrapper.spec())
    if not wrapper.code or reading.has(*wrapper.code.split()):
        return reading
    whole = read_options(values, Spec(wrapper.short, frozenset(wrapper.long.split())))
    if whole.has(*wrapper.code.split()) and not _inner_first(wrapper, reading):
        return Reading(whole.options, ())
    return reading


def _inner_first(wrapper: Wrapper, reading: Reading) -> bool:
    # with no operand to skip, the first operand is the inner program and what follows are its own options
    return wrapper.skip == 0 and not wrapper.dashes and bool(reading.operands)


def _moved(wrapper: Wrapper, reading: Reading, state: State) -> State:
    inner = state.copy()
    if wrapper.moves == "*":
        inner.lose_directory()
    elif wrapper.moves:
        letter, _, name = wrapper.moves.partition(" ")
        target = reading.value(f"-{letter}", name)
        if target is not None:
            inner.enter(target)
    return inner


def _inner_words(wrapper: Wrapper, fields: list[Field], reading: Reading) -> list[Field]:
    if wrapper.dashes:
        at = next((i for i, f in enumerate(fields) if f.value == "--"), None)
        plain = [fields[i] for i in reading.operands[1:]] if wrapper.verbs.startswith("exec run debug") else []
        return fields[at + 1 :] if at is not None else plain
    words = [fields[i] for i in reading.operands]
    words = words[wrapper.skip :]
    return words[1:] if words and words[0].value == "--" else words


def _split_assignments(words: list[Field]) -> tuple[list[Field], tuple[tuple[str, str], ...]]:
    pairs: list[tuple[str, str]] = []
    while words and "=" in words[0].value and not words[0].value.startswith(("=", "/", ".")):
        name, _, value = words[0].value.partition("=")
        pairs.append((name, value))
        words = words[1:]
    return words, tuple(pairs)
