"""Programs that look at files, folders, the machine and the shell itself.

Promises: as `text`. `cd`, `pushd` and `popd` count as reading: what they change is followed by `walk`.
"""

from __future__ import annotations

from collections.abc import Sequence

from interlock.runtime.policy.shell.option import Reading, names
from interlock.runtime.policy.shell.programs.form import Form, form
from interlock.runtime.policy.shell.variable import may_be_set

_FIND_TESTS = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -maxdepth "
    "-mindepth -size -mtime -atime -ctime -mmin -amin -cmin -newer -anewer -cnewer -newermt -newerat "
    "-newerct -newerBt -perm -user -group -uid -gid -links -inum -samefile -fstype -used -regextype "
    "-printf -context -D"
)
_FIND_FLAGS = names(
    "-not ! -a -and -o -or ( ) , -print -print0 -ls -prune -quit -depth -d -xdev -mount -empty "
    "-readable -writable -executable -nouser -nogroup -true -false -daystart -noleaf -warn -nowarn "
    "-ignore_readdir_race -noignore_readdir_race -H -P -O0 -O1 -O2 -O3 -help -version --help --version "
    "-E -X -s -x"
)
_FIND_THROUGH_LINKS = names("-L -follow")


_FIND_REFERENCES = names("-newer -anewer -cnewer -samefile")
_LINKS = "it goes through links, which may lead out of the workspace"


def find_verdict(args: Sequence[str]) -> str:
    """The reason against a find expression, or empty."""
    at, expression = 0, False
    while at < len(args):
        word = args[at]
        if word in _FIND_THROUGH_LINKS:
            return _LINKS
        if word in _FIND_TESTS:
            at, expression = at + 1, True
        elif word == "-exec" and (end := exec_end(args, at)) is not None:
            # what it runs is listed and judged by itself
            at, expression = end, True
        elif word in _FIND_FLAGS:
            expression = expression or word not in ("-H", "-P")
        elif word.startswith(("-", "(", ")", "!")) or (expression and word):
            return f"the find word {word} is not listed as reading only"
        at += 1
    return ""


def exec_end(args: Sequence[str], at: int) -> int | None:
    """Where the command of an `-exec` at `at` ends; None when it does not."""
    for i in range(at + 1, len(args)):
        if args[i] == ";" or (args[i] == "+" and args[i - 1] == "{}"):
            return i
    return None


def find_paths(args: Sequence[str]) -> tuple[str, ...]:
    """The places where find begins."""
    paths: list[str] = []
    for word in args:
        if word in ("-H", "-L", "-P"):
            continue
        if word.startswith(("-", "(", "!")):
            break
        paths.append(word)
    return tuple(paths) or (".",)


_DATABASES = names("passwd group services protocols shells gshadow aliases rpc")


def find_references(args: Sequence[str]) -> tuple[str, ...]:
    """Files that a find compares with: `-newer FILE`, `-samefile FILE`."""
    return tuple(args[i + 1] for i, word in enumerate(args[:-1]) if word in _FIND_REFERENCES)


def _ls(reading: Reading, args: Sequence[str]) -> str:
    """What a link leads to is another folder, which may lie anywhere."""
    return _LINKS if reading.has("-R", "--recursive") and reading.has("-L", "--dereference") else ""


def _ps(reading: Reading, args: Sequence[str]) -> str:
    """Letters without a dash are the BSD options, of which `e` shows every variable of every process."""
    shows = any("e" in args[i] for i in reading.operands if not args[i].isdigit())
    return "it would show the variables of all processes" if shows else ""


def _getent(reading: Reading, args: Sequence[str]) -> str:
    """A name or an address of a host is asked of the network."""
    first = args[reading.operands[0]] if reading.operands else ""
    return "" if first in _DATABASES else "it may ask the network for a name"


def _hostname(reading: Reading, args: Sequence[str]) -> str:
    return "an operand sets the name" if reading.operands else ""


def _read(reading: Reading, args: Sequence[str]) -> str:
    named = [args[i] for i in reading.operands]
    return "" if all(map(may_be_set, named)) else "it sets a variable that programs may heed"


def test_verdict(args: Sequence[str]) -> str:
    """`test` and `[`: `-v` and `-R` evaluate subscripts, arithmetic operands must be numbers."""
    for i, word in enumerate(args):
        if word in ("-v", "-R"):
            return "test -v can run code in a subscript"
        if word in ("-eq", "-ne", "-lt", "-le", "-gt", "-ge"):
            near = [*args[i - 1 : i], *args[i + 1 : i + 2]]
            if not all(x.lstrip("-").isdigit() for x in near):
                return "an arithmetic operand is not a number"
    return ""


def printf_verdict(args: Sequence[str]) -> str:
    """`printf -v` assigns."""
    return "printf -v sets a variable" if args and args[0].startswith("-") and args[0] != "--" else ""


SYSTEM: dict[str, Form] = {
    "ls": form(
        "aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1@eOTWw",
        "ITw",
        "all almost-all author escape ignore-backups directory classify file-type no-group human-readable si dereference "
        "dereference-command-line dereference-command-line-symlink-to-dir inode kibibytes literal numeric-uid-gid quote-name "
        "reverse recursive size context zero color full-time group-directories-first hyperlink hide-control-chars "
        "show-control-chars",
        "block-size format hide ignore indicator-style quoting-style sort time time-style tabsize width",
        check=_ls,
        default=".",
    ),
    "dir": form("alhrtR1A", default="."),
    "vdir": form("alhrtR1A", default="."),
    "tree": form(
        "adfixNqQpsughDtcUrvFCnASJX",
        "LPI",
        "dirsfirst filesfirst noreport gitignore prune si inodes device matchdirs ignore-case sort du timefmt",
        "filelimit charset",
        bad="fromfile output",
        globs=False,
        default=".",
    ),
    "pwd": form("LP", reads="none"),
    "cd": form("LPe@", reads="none"),
    "pushd": form("n", reads="none"),
    "popd": form("n", reads="none"),
    "dirs": form("lpv", reads="none"),
    "stat": form("Lftxq", "c", "dereference file-system terse", "format printf cached"),
    "file": form(
        "bhikLNrv0dE",
        "eFP",
        "brief mime mime-type mime-encoding keep-going dereference no-dereference raw print0 apple extension no-pad",
        "exclude separator",
        bad="special-files compile preserve-date uncompress uncompress-noreport no-sandbox files-from magic-file",
    ),
    "du": form(
        "aAbchHklmPsSx0DgnI",
        "dBt",
        "all apparent-size bytes total human-readable si count-links summarize "
        "one-file-system null separate-dirs inodes time no-dereference dereference-args",
        "max-depth block-size threshold exclude time-style",
        bad="files0-from exclude-from dereference",
        default=".",
    ),
    "df": form(
        "aBhHiklPTtx",
        "B",
        "all human-readable si inodes local portability print-type total output",
        "block-size type exclude-type",
        bad="sync no-sync",
    ),
    "realpath": form(
        "eEmLPqsz",
        "",
        "canonicalize-existing canonicalize-missing logical physical quiet strip no-symlinks zero",
        "relative-to relative-base",
    ),
    "readlink": form(
        "femnqsvz", "", "canonicalize canonicalize-existing canonicalize-missing no-newline quiet silent verbose zero"
    ),
    "pathchk": form("pP", reads="none"),
    "namei": form("xmolv", "", "long modes owners vertical nosymlinks"),
    "getfacl": form("acesRPtpn"),
    "lsattr": form("RVadlpv", default="."),
    "which": form("as", "", "all", reads="none"),
    "type": form("aftpP", reads="none"),
    "whereis": form("bmsul", reads="none"),
    "uname": form(
        "asnrvmpio",
        "",
        "all kernel-name nodename kernel-release kernel-version machine processor hardware-platform operating-system",
        reads="none",
    ),
    "hostname": form("adfisAI", "", reads="none", check=_hostname),
    "whoami": form(reads="none"),
    "id": form("agGnruzZ", "", "user group groups name real zero", reads="none"),
    "groups": form(reads="none"),
    "users": form(reads="none", most=0),
    "who": form("abdHlmpqrstTu", reads="none", most=0),
    "w": form("hsfiou", reads="none"),
    "uptime": form("ps", "", "pretty since", reads="none"),
    "arch": form(reads="none", most=0),
    "nproc": form("", "", "all", "ignore", reads="none"),
    "getconf": form("a", reads="none"),
    "locale": form("amck", reads="none"),
    "lsb_release": form("aidrcs", reads="none"),
    "sw_vers": form("", "", "productName productVersion buildVersion", reads="none"),
    "free": form("bkmghwtlv", "c", "bytes kibi mebi gibi human si wide total", reads="none"),
    "ps": form(
        "aAdefFHjlLMmNrTuvVwxXyZS",
        "opCugGtUOkq",
        "forest headers no-headers",
        "pid ppid user group sort format cols width",
        reads="none",
        check=_ps,
    ),
    "pgrep": form(
        "lafnoxcviLAq",
        "dgGPstuUF",
        "list-name list-full full newest oldest exact count inverse",
        "parent user",
        reads="none",
        option_files="-F",
    ),
    "pstree": form("aAcghlnpsStTuUZ", "H", reads="none"),
    "pidof": form("sxz", "o", reads="none"),
    "lscpu": form("abcepxJy", reads="none"),
    "lsmem": form("abJnPr", reads="none"),
    "lspci": form("nvkmDtx", "sd", reads="none"),
    "lsusb": form("vt", "sd", reads="none"),
    "lsmod": form(reads="none"),
    "vmstat": form("afmnsdDwt", reads="none"),
    "mount": form("l", reads="none", most=0),
    "findmnt": form("abCDefhiJlkmnPrsu", "oNtST", reads="none"),
    "env": form("0", "", "null", reads="none", most=0),
    "printenv": form("0", "", "null", reads="none"),
    "read": form("rs", "dnNt", reads="none", check=_read),
    "test": form(),
    "[": form(),
    "printf": form(reads="none"),
    "exit": form(reads="none"),
    "return": form(reads="none"),
    "break": form(reads="none"),
    "continue": form(reads="none"),
    "wait": form("fn", reads="none"),
    "times": form(reads="none", most=0),
    "jobs": form("lnprs", reads="none"),
    "getent": form("i", reads="none", check=_getent),
}
"""Program -> the form in which it only reads."""
