"""Words for generated commands: values of every kind that an option or an operand may have.

Promises: depends on the generator of random numbers alone; every value is one shell word, quoted as it needs to be.
`@ROOT@` stands for the fixture's folder.
"""

from __future__ import annotations

from random import Random

_FILES = (
    "a.txt b.txt notes.md data.json data.csv list.txt src/main.py docs/one.md 'with blank.txt' ./-dash.txt -dash.txt "
    ".hidden link-in link-out docs/link-up ../out/secret.txt @ROOT@/out/secret.txt ~/notes.txt $HOME/notes.txt missing.txt "
    "src/../a.txt ./a.txt docs//one.md broken link-dir/p.txt hard.txt *.txt docs/*.md s*c/*.py {a,b}.txt ?.txt [ab].txt "
    "a.t\"x\"t with\\ blank.txt src/deep/x.txt @ROOT@/ws/b.txt ../ws/a.txt \"$PWD/a.txt\" docs/* ../out/*.txt * ./*.txt -* "
    "../out/dir/q.txt .git/config -"
)
_SPLIT: dict[str, list[str]] = {}

POOLS: dict[str, str] = {
    "FILE": _FILES,
    "IN": "a.txt b.txt notes.md docs/one.md src/main.py link-in link-out ../out/secret.txt ~/notes.txt 'with blank.txt' list.txt @ROOT@/out/secret.txt",
    "DIR": "src docs . .. empty link-dir ../out src/deep ~ @ROOT@/out/dir new-dir ./src/ docs/.. ../out/dir s* ./link-dir/ link-dir/ src/deep/..",
    "OUT": "new.txt src/new.txt ../out/new.txt b.txt link-out 'new file.txt' ~/new.txt a.txt empty/new.txt @ROOT@/out/new.txt broken "
    "docs/link-up -new.txt ./-new.txt new-dir/x.txt /tmp/new.txt .git/hooks/pre-commit",
    "N": "1 2 3 10 0 5",
    "SIZE": "1 2 10 1K 3b 0 1M",
    "TEXT": "alpha foo x 'two words' a.txt '' src '*.txt' -x beta",
    "WORD": "alpha beta x foo one",
    "CHAR": ", : ' ' x '|' '\\t'",
    "LIST": "1 2 1-2 2- 1,3 -2",
    "KEY": "1 2 1,2 2n 1r 1.2",
    "MODE": "644 755 u+x a-w 600 go= +x u=rw,g=r 0",
    "RANGE": "1,2 1p 2",
    "RE": "alpha a.*a '^b' . 'x y' -e 'a\\|b' '' src",
    "GLOB": "'*.txt' '*.md' '*' 'a*' src docs 'x?*'",
    "PROG": "cat gzip ./bin/tool bin/tool rm touch 'sh -c \"touch by-prog.txt\"' @ROOT@/out/script.sh ./script.sh true missing-prog",
    "CMD": "cat rm 'head -n1' ls 'cp -t docs' touch 'sh -c \"cat ../out/secret.txt\"' wc ./bin/tool 'grep alpha' 'sort -o' echo 'xargs -n1 cat' 'mv -t empty' 'tee' "
    "'env cat' 'nice cat' 'ls -R' 'rm -rf' 'chmod 600' 'ln -s' stat 'sed -i s/a/b/' 'tar cf x.tar'",
    "ARGS0": "list0 - ../out/list0",
    "NAMES": "list.txt - args missing.txt",
    "TAR": "archive.tar archive.tgz sub.tar new.tar ../out/new.tar - a.txt",
    "ZIP": "archive.zip new.zip ../out/new.zip archive missing.zip",
    "GZ": "note.gz a.txt docs missing.gz note link-out b.txt archive.tgz",
    "MEMBER": "a.txt packed packed/one.txt '*' 'packed/*' ../a.txt",
    "DATE": "2024-01-01 now '1 day ago' @0 yesterday 202401010000",
    "STAMP": "202401010000 01010000 202401010000.30",
    "FORMAT": "%s %n '%a %n' %y '%d\\n' '%H:%M'",
    "SEP": ", : '\\n' '' '--'",
    "NAME": "new alpha x made link-in a.txt",
    "OWNER": "u :u 1000 1000:1000 +1000",
    "SUFFIX": ".bak ~ .orig x",
    "SIGNAL": "TERM KILL 9 INT",
    "SECONDS": "1 0.1 2s",
    "URL": "http://127.0.0.2:8080/a.txt http://alpha.test:8080/a.txt http://beta.test:8080/ alpha.test:8080/a.txt 127.0.0.3:8080 file://@ROOT@/out/secret.txt "
    "http://u:p@alpha.test:8080/a.txt 'http://alpha.test:8080/{a,b}.txt' http://localhost:8080/src/ HTTP://ALPHA.TEST:8080/b.txt ftp://beta.test:8080/x http://127.1:8080/ "
    "http://2130706434:8080/a.txt http://[::1]:8080/ http://alpha.test:8080/missing",
    "HOST": "alpha.test beta.test 127.0.0.2 u@alpha.test alias localhost u@127.0.0.3 ssh://beta.test",
    "HOSTPORT": "alpha.test:8080 127.0.0.3:8080 http://beta.test:8080 socks5://127.0.0.2:8080 alpha.test",
    "HOSTPATH": "alpha.test:x u@beta.test:x 127.0.0.2:~/x alias:a.txt",
    "PORT": "8080 9 80",
    "HEADER": "'A: b' @a.txt @../out/secret.txt",
    "DATA": "x=1 @a.txt @../out/secret.txt 'x@y' @- x@a.txt x=@a.txt",
    "FORM": "x=1 f=@a.txt f=@../out/secret.txt 'f=<b.txt' 'f=@a.txt;type=text/plain' 'f=@\"a.txt\"'",
    "CURLRC": "curlrc - missing",
    "REV": "HEAD HEAD~1 topic v1 main HEAD:a.txt origin/main :a.txt main:docs @ HEAD^ missing HEAD~1..HEAD",
    "BRANCH": "topic new-branch main v1 HEAD made",
    "PATHSPEC": "a.txt src '*.md' ':(top)docs' ':!src' ':/docs' ':(glob)**/*.txt' docs/one.md . notes.md 'docs/*' *.txt ':(icase)A.TXT' ':(exclude)a.txt' missing.txt "
    "./src ../ws/a.txt link-out @ROOT@/ws/a.txt",
    "REMOTE": "origin ../out/remote.git @ROOT@/out/remote.git http://alpha.test:8080/x.git ssh://beta.test/x u@alpha.test:x file://@ROOT@/out/remote.git missing . ext::cat",
    "REPO": "../out/remote.git . ../ws @ROOT@/out/remote.git ../out",
    "REFSPEC": "main main:made HEAD:refs/heads/made +topic :topic --all",
    "CONFIG": "core.pager=cat core.editor=true alias.x=status core.sshCommand=true diff.external=./bin/tool core.hooksPath=../out core.fsmonitor=./bin/tool a.b=c user.name=x",
    "CONFKEY": "user.name core.pager alias.x a.b core.hooksPath remote.origin.url",
    "PRETTY": "oneline short %H format:%s '%h %s'",
    "MSG": "message 'two words' x",
    "PATCH": "fix.patch new.patch missing.patch ../out/x.patch - a.txt",
    "AWK": "'{print}' '{print $1 > \"w.txt\"}' '{print >> \"../out/w.txt\"}' '{print | \"cat > p.txt\"}' '{system(\"touch s.txt\")}' '{getline x < \"../out/secret.txt\"; print x}' "
    "'BEGIN{\"cat b.txt\" | getline x; print x}' 'NR==1' '{print > FILENAME \".w\"}' 'BEGIN{ARGV[1]=\"b.txt\"} {print}' '{printf \"%s\", $1}' 'BEGIN{while((getline l < \"b.txt\")>0) print l}' "
    "'{print > \"/dev/stderr\"}' '/alpha/' '{f=\"v.txt\"; print > f}' 'END{close(\"x\")}' '{print $1 > $1 \".txt\"}'",
    "ASSIGN": "x=1 FILENAME=b.txt OFS=, y=a.txt",
    "SED": "s/alpha/x/ p 2q '1d' 's/a/b/w w.txt' 'w ../out/w.txt' 'r b.txt' 'r ../out/secret.txt' '1e touch e.txt' 's/alpha/touch e2.txt/e' 'R b.txt' '$!N;P;D' 'W w2.txt' "
    "'/alpha/w w3.txt' 'y/abc/xyz/' '1,2!d' 'a text' '1i\\x' 'F' 's|a|b|g;w w4.txt' 'n;d' '{p;r b.txt\n}' '='",
    "JQ": ". .a '.a[]' keys 'input_filename' '$__loc__' 'input' 'env.HOME' '\"a\"' '.f' 'include \"m\"; .' 'import \"m\" as m; .' '$x' 'inputs'",
    "SQL": "'select * from t' .tables .schema '.output o.txt' '.read query.sql' 'attach \"x.db\" as x; create table x.y(a)' '.shell touch s.txt' '.dump' '.backup b.db' '.import data.csv q' "
    "'.once o2.txt' \"select writefile('w.txt', 'x')\" \"select readfile('../out/secret.txt')\" '.system touch s2.txt' 'insert into t values(2,3)' 'vacuum into \"v.db\"' '.clone c.db' "
    "'.save s.db' '.open o.db' '.excel' '.log l.txt' '.cd ../out' '.restore db.sqlite' '.archive -c -f x.a a.txt' '.load ./x' '.edit'",
    "DB": "db.sqlite new.db ../out/new.db :memory: 'file:db.sqlite?mode=ro' missing/x.db",
    "FINDTEST": "-name|'*.txt' -type|f -type|d -newer|a.txt -newer|../out/secret.txt -maxdepth|1 -empty -size|+0 -path|'*/deep/*' -mtime|-1 -perm|644 -samefile|b.txt -follow -L -regex|'.*x' -not|-name|x "
    "-newermt|2024-01-01 -anewer|b.txt -links|2 -prune -depth -xdev -lname|'*out*' -readable -user|u -iname|'A*' -mindepth|1 -quit -true -o",
    "FINDACT": "-print -print0 -delete -ls -exec|cat|{}|';' -exec|rm|{}|+ -exec|cp|{}|../out|';' -ok|cat|{}|';' -execdir|cat|{}|';' -fprint|f.txt -fls|../out/f.txt -fprintf|f2.txt|%p -fprint0|f3.txt "
    "-exec|grep|-l|alpha|{}|+ -exec|sh|-c|'touch x.\"$(basename \"$1\")\"'|_|{}|';' -exec|sed|-i|s/a/b/|{}|+ -exec|mv|{}|{}.bak|';' -printf|%p -exec|tee|{}.copy|';' -exec|./bin/tool|{}|';' "
    "-exec|cat|../out/secret.txt|';' -files0-from|list0 -execdir|touch|made|';' -exec|env|cat|{}|+ -exec|chmod|600|{}|+",
    "TARGET": "all made.txt clean show missing -s -n other",
    "MAKEVAR": "X=1 SHELL=./bin/tool CC=cat .SHELLFLAGS=-ec",
    "MAKEFILE": "Makefile other.mk ../out/inc.mk missing.mk -",
    "CODE": "'1' 'print(1)' '' ",
    "PYCODE": "'print(1)' 'open(\"py.txt\",\"w\")' 'import os; os.system(\"touch s.txt\")'",
    "PERLCODE": "print 1 'print' 's/a/b/' 'open F, \">pl.txt\"' 'system \"touch s.txt\"' '$_ = uc'",
    "SHCODE": "'cat a.txt' 'echo x > sh.txt' 'cat \"$0\" \"$1\"' 'rm -f b.txt; cat ../out/secret.txt' 'cd docs && cat one.md' '. ./script.sh' 'exec cat a.txt'",
    "SSHOPT": "ProxyCommand='cat a.txt' IdentityFile=../out/secret.txt UserKnownHostsFile=kh ProxyJump=beta.test HostName=127.0.0.3 ConnectTimeout=1 BatchMode=yes 'LocalCommand touch l.txt' PermitLocalCommand=yes "
    "ControlPath=./sock ControlMaster=yes Include=../out/secret.txt StrictHostKeyChecking=no KnownHostsCommand='/bin/cat ../out/secret.txt' 'ProxyCommand touch pc.txt'",
    "FORWARD": "8081:alpha.test:80 8082:127.0.0.3:80 ./sock:alpha.test:80 8083 8084:../out/sock",
    "SPEC": "a:b 2:3 1",
    "EXPR": "1+1 'a + b' -f ",
    "PERCENT": "'%s\\n' %d '%s %s\\n'",
    "ENV": "A=1 PATH=./bin:/usr/bin HOME=../out GIT_DIR=../out/remote.git LC_ALL=C PAGER=./bin/tool GIT_PAGER=cat TMPDIR=. EDITOR=./bin/tool LESSOPEN='|cat ../out/secret.txt' GIT_SSH_COMMAND=true",
    "COLOR": "auto never always",
    "ZONE": "UTC Europe/Paris",
    "FD": "1 2 0",
}  # fmt: skip


def words_of(kind: str) -> list[str]:
    """Every value of a kind, split as a shell splits words but with the quotes left on."""
    if kind not in _SPLIT:
        _SPLIT[kind] = _split(POOLS[kind])
    return _SPLIT[kind]


def pick(kind: str, rng: Random) -> str:
    """One value of a kind."""
    return rng.choice(words_of(kind))


def _split(text: str) -> list[str]:
    words: list[str] = []
    word, quote, skip = "", "", False
    for c in text + " ":
        if skip:
            word, skip = word + c, False
        elif c == "\\" and quote != "'":
            word, skip = word + c, True
        elif quote:
            word, quote = word + c, "" if c == quote else quote
        elif c in "'\"":
            word, quote = word + c, c
        elif c == " ":
            words += [word] if word else []
            word = ""
        else:
            word += c
    return words
