"""Programs that read text and print text: what they may be given and still only read.

Promises: read from the manuals of GNU, BSD and busybox; where one of them writes, the option is not listed. `-o`,
`--output`, `--in-place` and options that name a program are never here.
"""

from __future__ import annotations

from collections.abc import Sequence

from interlock.runtime.policy.shell.awk import read_awk
from interlock.runtime.policy.shell.option import Reading
from interlock.runtime.policy.shell.programs.form import Form, form
from interlock.runtime.policy.shell.script import read_sed

_DIGEST = form("btz", "", "binary tag text zero", bad="check ignore-missing quiet status strict warn")
_GREP = form(
    "EFGPivywxcLlqsbHhnTUZzaIrou",
    "efmABCdD",
    "extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match word-regexp line-regexp "
    "count color colour files-without-match files-with-matches only-matching quiet silent no-messages byte-offset "
    "with-filename no-filename line-number initial-tab null text recursive line-buffered binary "
    "null-data unix-byte-offsets",
    "regexp file max-count after-context before-context context label binary-files devices directories exclude exclude-from "
    "exclude-dir include",
    "dereference-recursive",
    reads="first",
    option_files="-f --file --exclude-from",
    numbers=True,
    default=".",
)


def _sed(reading: Reading, args: Sequence[str]) -> str:
    sources = [o.value or "" for o in reading.options if o.name in ("-e", "--expression")]
    if not sources:
        if not reading.operands:
            return "a script is missing"
        sources = [args[reading.operands[0]]]
    script = read_sed("\n".join(sources))
    return "" if script.plain else "the sed script writes, reads files or runs commands"


def _awk(reading: Reading, args: Sequence[str]) -> str:
    if not reading.operands:
        return "a program is missing"
    script = read_awk(args[reading.operands[0]])
    if any("=" in args[i] for i in reading.operands[1:]):
        return "an operand sets a variable"
    return "" if script.plain else "the awk program may write files or run commands"


def _response(reading: Reading, args: Sequence[str]) -> str:
    """Programs of binutils read more words from a file that is named behind `@`."""
    return "it reads options from a file" if any(word.startswith("@") for word in args) else ""


def _diff(reading: Reading, args: Sequence[str]) -> str:
    """Below a folder it compares what links lead to, which may lie anywhere."""
    if reading.has("-r", "--recursive") and not reading.has("--no-dereference"):
        return "it goes through links, which may lead out of the workspace"
    return ""


def _xml(reading: Reading, args: Sequence[str]) -> str:
    return "it would fetch a document" if any("://" in args[i] for i in reading.operands) else ""


def _date(reading: Reading, args: Sequence[str]) -> str:
    return "" if all(args[i].startswith("+") for i in reading.operands) else "a time is set"


def _jq(reading: Reading, args: Sequence[str]) -> str:
    source = args[reading.operands[0]] if reading.operands else "."
    risky = (
        "env",
        "$ENV",
        "input_filename",
        "modulemeta",
        "get_search_list",
        "import",
        "include",
        "debug",
        "stderr",
        "$__",
    )
    return "the filter reads more than its input" if any(word in source for word in risky) else ""


def _no_operand(reading: Reading, args: Sequence[str]) -> str:
    return "an operand changes something" if reading.operands else ""


TEXT: dict[str, Form] = {
    "cat": form("AbeEnstTuv", "", "show-all number-nonblank show-ends number squeeze-blank show-tabs show-nonprinting"),
    "tac": form("br", "s", "before regex", "separator"),
    "head": form("qvz", "cn", "quiet silent verbose zero-terminated", "bytes lines", numbers=True),
    "tail": form(
        "qvzr",
        "cn",
        "quiet silent verbose zero-terminated",
        "bytes lines",
        "follow retry pid sleep-interval max-unchanged-stats",
        numbers=True,
    ),
    "wc": form("clmLw", "", "bytes chars lines max-line-length words debug", "total", "files0-from"),
    "nl": form(
        "p",
        "bdfhilnsvw",
        "no-renumber",
        "body-numbering section-delimiter footer-numbering header-numbering "
        "line-increment join-blank-lines number-format number-separator starting-line-number number-width",
    ),
    "sort": form(
        "bdfgiMhnRrVcCmsuz",
        "ktSN",
        "ignore-leading-blanks dictionary-order ignore-case general-numeric-sort ignore-nonprinting month-sort "
        "human-numeric-sort numeric-sort random-sort reverse version-sort check merge stable unique zero-terminated debug",
        "key field-separator buffer-size parallel batch-size sort",
        "output temporary-directory compress-program files0-from random-source",
        globs=False,
    ),
    "uniq": form(
        "cdDiuz",
        "fsw",
        "count repeated all-repeated ignore-case unique zero-terminated group",
        "skip-fields skip-chars check-chars",
        most=1,
    ),
    "cut": form(
        "nsz", "bcdf", "complement only-delimited zero-terminated", "bytes characters delimiter fields output-delimiter"
    ),
    "tr": form("cCdst", "", "complement delete squeeze-repeats truncate-set1", reads="none"),
    "paste": form("sz", "d", "serial zero-terminated", "delimiters"),
    "join": form("iz", "aeojt12v", "ignore-case check-order nocheck-order header zero-terminated"),
    "comm": form("123iz", "", "check-order nocheck-order output-delimiter total zero-terminated"),
    "fold": form("bs", "w", "bytes spaces", "width", numbers=True),
    "fmt": form(
        "cstu", "wgp", "crown-margin split-only tagged-paragraph uniform-spacing", "width prefix goal", numbers=True
    ),
    "expand": form("i", "t", "initial", "tabs"),
    "unexpand": form("a", "t", "all first-only", "tabs"),
    "column": form(
        "teJRxdE",
        "cosNTHOrip",
        "table json fillrows table-empty-lines table-noextreme keep-empty-lines table-noheadings",
        "output-width separator output-separator table-columns table-name table-order table-hide table-right "
        "table-truncate table-wrap tree tree-id tree-parent",
    ),
    "rev": form("0", "", "zero"),
    "od": form(
        "abcdfilosxhBDHOeFXvw",
        "AjNSt",
        "traditional output-duplicates strings width",
        "address-radix skip-bytes read-bytes endian format",
        attached="w",
    ),
    "hexdump": form(
        "bcCdovxX",
        "ens",
        "canonical one-byte-octal one-byte-char two-bytes-decimal two-bytes-octal two-bytes-hex no-squeezing color",
        "format length skip",
    ),
    "hd": form("bcCdovx", "ens"),
    "xxd": form(
        "abCdeEirupPv",
        "cglosnR",
        "autoskip bits capitalize little-endian include plain postscript ps revert uppercase cols groupsize len offset seek",
        most=1,
        single=True,
    ),
    "strings": form(
        "afwdho",
        "nteTsU",
        "all print-file-name include-all-whitespace data",
        "bytes radix encoding target output-separator unicode",
        numbers=True,
        check=_response,
    ),
    "grep": _GREP,
    "egrep": _GREP,
    "fgrep": _GREP,
    "zgrep": form("EFGivwxclLqshHno", "emABC", reads="first"),
    "rg": form(
        "aFiIlcnNoPpqsSUuvwxHh0.V",
        "ABCeEfgjmMrtTd",
        "text fixed-strings ignore-case files-with-matches files-without-match count count-matches line-number no-line-number "
        "only-matching pcre2 pretty quiet case-sensitive smart-case multiline unrestricted invert-match word-regexp line-regexp "
        "with-filename no-filename null hidden no-hidden no-ignore no-ignore-vcs no-ignore-parent no-ignore-global "
        "no-ignore-dot no-ignore-exclude no-config json stats trim vimgrep heading no-heading column no-column byte-offset "
        "crlf files type-list no-messages one-file-system passthru passthrough debug trace multiline-dotall null-data "
        "include-zero auto-hybrid-regex block-buffered line-buffered no-mmap mmap no-unicode binary no-binary "
        "glob-case-insensitive no-require-git pcre2-version no-follow no-pre require-git ignore",
        "after-context before-context context regexp file glob iglob max-count max-columns replace type type-not max-depth "
        "threads color colors sort sortr encoding engine max-filesize path-separator field-match-separator "
        "field-context-separator context-separator dfa-size-limit regex-size-limit type-add type-clear ignore-file maxdepth",
        "follow pre pre-glob hostname-bin search-zip hyperlink-format generate",
        reads="first",
        option_files="-f --file --ignore-file",
        globs=False,
        default=".",
    ),
    "ag": form("cilLnQsSvwaHuUof0", "ABCGmWp", reads="first", globs=False, default="."),
    "ack": form("cilLnQsvwhHof", "ABCm", reads="first", globs=False, default="."),
    "sed": form(
        "nErszlu",
        "el",
        "quiet silent regexp-extended separate null-data posix sandbox unbuffered debug",
        "expression line-length",
        "in-place file follow-symlinks binary zero-terminated",
        reads="first",
        check=_sed,
        globs=False,
    ),
    "awk": form("", "Fv", reads="first", check=_awk, globs=False),
    "gawk": form(
        "",
        "Fv",
        "sandbox posix traditional",
        "field-separator assign",
        "file source exec include load dump-variables debug profile pretty-print bignum",
        reads="first",
        check=_awk,
        globs=False,
    ),
    "mawk": form("", "Fv", reads="first", check=_awk, globs=False),
    "jq": form(
        "CMRSacejnrs",
        "",
        "compact-output null-input raw-input raw-output join-output ascii-output sort-keys slurp "
        "color-output monochrome-output exit-status arg argjson tab raw-output0 seq stream unbuffered",
        "indent",
        "args slurpfile rawfile jsonargs from-file run-tests library-path",
        reads="first",
        pairs=("--arg", "--argjson"),
        check=_jq,
    ),
    "diff": form(
        "abBcdeEinNpqrstTuwyZ",
        "CFIUWxXDLS",
        "normal brief report-identical-files context unified ed rcs side-by-side show-c-function recursive new-file ignore-case "
        "ignore-tab-expansion ignore-trailing-space ignore-space-change ignore-all-space ignore-blank-lines text "
        "strip-trailing-cr minimal speed-large-files suppress-common-lines left-column expand-tabs initial-tab color "
        "no-dereference unidirectional-new-file ignore-file-name-case no-ignore-file-name-case",
        "label width show-function-line exclude exclude-from starting-file ignore-matching-lines tabsize horizon-lines ifdef "
        "from-file to-file palette",
        option_files="--from-file --to-file -X --exclude-from",
        check=_diff,
    ),
    "diff3": form("aAeEimTxX3", "L"),
    "sdiff": form("abBdEilstWZ", "Iw", bad="output"),
    "cmp": form("bls", "in", "print-bytes verbose quiet silent", "ignore-initial bytes"),
    "colordiff": form("abBcdeilnNpqrstuwy", "CUW"),
    "cksum": form("wz", "al", "tag untagged base64 raw zero debug", "algorithm length", "check"),
    "md5sum": _DIGEST,
    "sha1sum": _DIGEST,
    "sha224sum": _DIGEST,
    "sha256sum": _DIGEST,
    "sha384sum": _DIGEST,
    "sha512sum": _DIGEST,
    "b2sum": _DIGEST,
    "shasum": form("btU0", "a", "binary text tag", "algorithm", "check quiet status warn strict ignore-missing"),
    "md5": form("qrn", "s"),
    "sum": form("rs", "", "sysv"),
    "crc32": form(),
    "base64": form("di", "w", "decode ignore-garbage", "wrap", most=1),
    "base32": form("di", "w", "decode ignore-garbage", "wrap", most=1),
    "basenc": form(
        "di",
        "w",
        "decode ignore-garbage base64 base64url base32 base32hex base16 base2msbf base2lsbf z85",
        "wrap",
        most=1,
    ),
    "bc": form("lqsw", "", "mathlib quiet standard warn"),
    "c++filt": form("_npit", "s", reads="none", check=_response),
    "diffstat": form("bclmqrstvhk", "fnNpw"),
    "dircolors": form("bcp", "", "sh bourne-shell csh c-shell print-database print-ls-colors"),
    "hostid": form(reads="none", most=0),
    "xmllint": form(
        "",
        "",
        "noout format nonet recover huge html xmlout pretty quiet stream nowarning noblanks",
        "xpath encode",
        bad="output shell valid noent xinclude load-trace catalogs schema relaxng dtdvalid loaddtd path",
        single=True,
        check=_xml,
    ),
    "yes": form(reads="none"),
    "tsort": form(),
    "ptx": form("ACGr", "", most=1),
    "look": form("adf", "t", reads="first"),
    "echo": form("neE", "", reads="none"),
    "seq": form("w", "fs", "equal-width", "format separator", reads="none"),
    "expr": form(reads="none"),
    "factor": form("h", reads="none"),
    "numfmt": form(
        "z",
        "d",
        "debug header zero-terminated invalid",
        "delimiter field format from from-unit to to-unit padding round suffix grouping",
        reads="none",
    ),
    "basename": form("az", "s", "multiple zero", "suffix", reads="none"),
    "dirname": form("z", "", "zero", reads="none"),
    "true": form(reads="none"),
    "false": form(reads="none"),
    ":": form(reads="none"),
    "sleep": form(reads="none"),
    "date": form(
        "uRI",
        "dr",
        "utc universal rfc-email iso-8601 rfc-3339 debug",
        "date reference",
        "set file",
        reads="none",
        check=_date,
        option_files="-r --reference",
    ),
    "cal": form("13jmsywhNC", "AB", reads="none"),
    "ncal": form("13jmsywhNC", "AB", reads="none"),
    "zcat": form("fv"),
    "gzcat": form("fv"),
    "bzcat": form("s"),
    "xzcat": form("q"),
    "zstdcat": form("q"),
    "lz4cat": form(),
    "nm": form("aACDgnoprSsuvP", "tfe", check=_response),
    "size": form("ABGtodx", check=_response),
    "readelf": form("aehlSsrudVDnWgtIcA", "xpR", "all headers", check=_response),
    "objdump": form("afhprtTxdDSsCgwz", "jMbm", "all-headers disassemble full-contents syms"),
    "cloc": form(bad="out report-file"),
    "tokei": form("fs", "et"),
    "scc": form("c", "f", bad="output"),
    "pwgen": form("0", reads="none", most=0),
    "logname": form(reads="none", check=_no_operand),
    "tty": form("s", reads="none"),
}
"""Program -> the form in which it only reads."""

for _unsure in ("ptx", "cloc", "tokei", "scc", "pwgen", "ag", "ack", "zgrep", "colordiff", "objdump", "zcat", "gzcat"):
    # wrappers around other programs, readers of configuration, or manuals that differ too much between systems
    del TEXT[_unsure]
