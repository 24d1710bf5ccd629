"""Which hosts a command reaches, by the words of it. (spec, PO-7; case FT-004)

The table was written from the manuals: behind the bar stand the hosts, and `*` where one more may be reached that the
words do not tell.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from interlock.runtime.policy.call import Call, MemoryWorld
from interlock.runtime.policy.facts.effect import effects
from interlock.runtime.policy.programs.address import UNKNOWN_HOST, address_of, addresses_in
from interlock.runtime.policy.rules.builtin import with_built_in
from interlock.runtime.policy.rules.load import load_layer
from interlock.runtime.policy.shell import parse_command
from interlock.runtime.policy.verdict.decide import decide

TABLE = r"""
ssh h.example | h.example
ssh -N -D 1080 h.example | h.example
ssh -N -w 0:0 h.example | h.example
ssh -NL 80:x:80 h.example | h.example x
ssh -L 8080:db.internal:5432 jump.example | jump.example db.internal
ssh -R 9000:localhost:3000 h.example | h.example localhost
ssh -R9000:localhost:3000 h.example | h.example localhost
ssh -W a.example:1 h.example | h.example a.example
ssh -J u@j1.example:22,j2.example h.example | h.example j1.example j2.example
ssh -o ProxyJump=j.example h.example | h.example j.example
ssh -oProxyJump=j.example h.example | h.example j.example
ssh -o HostName=real.example h.example | h.example real.example
ssh -o "Hostname real.example" h.example | h.example real.example
ssh -o StrictHostKeyChecking=no h.example | h.example
ssh -o ProxyCommand='nc j.example 22' h.example | h.example *
ssh -F conf h.example | h.example *
ssh -S ctl h.example | h.example *
ssh -p 2222 u@h.example | h.example
ssh u@h.example -p 2222 uptime | h.example
ssh -4 -i key -l me h.example ls -la | h.example
ssh -b 10.0.0.1 h.example | h.example
ssh -B eth0 h.example | h.example
ssh -D good.example:1080 h.example | h.example
ssh ssh://u@h.example:2222 | h.example
ssh -Q cipher | *
ssh -- h.example ls | h.example
ssh fe80::1 | fe80::1
ssh 'u@[::1]' | ::1
ssh $HOST | *
slogin h.example | h.example
rsh -l me h.example ls | h.example
autossh -M 0 -N -L 1:x:1 h.example | h.example x
mosh u@h.example | h.example
mosh --ssh='ssh -p 2222' h.example | h.example *
scp a.txt h.example:/x | h.example
scp u@h.example:/x . | h.example
scp -P 22 -r src u@h.example: | h.example
scp a.example:x b.example:y | a.example b.example
scp -J j.example a h.example:x | h.example j.example
scp scp://h.example/x . | h.example
scp -o ProxyJump=j.example a h.example:x | h.example j.example
sftp h.example | h.example
sftp -B 1000 h.example | h.example
sftp -P 22 u@h.example:/dir | h.example
sftp -b cmds h.example | h.example *
sftp -J j.example h.example | h.example j.example
rsync -av src/ h.example:dst/ | h.example
rsync -e ssh a.txt u@h.example:/x | h.example ssh *
rsync -a rsync://h.example/mod dst | h.example
rsync -a h.example::mod dst | h.example
rsync --files-from=list a h.example:b | h.example *
rsync --exclude x -z a h.example:b | h.example
rsync --password-file pw a h.example::m | h.example
rsync --address 10.0.0.2 a h.example:b | h.example
ssh-copy-id -i k.pub u@h.example | h.example
ssh-keyscan -t rsa h.example b.example | h.example b.example
sshfs u@h.example:/x mnt | h.example
nc h.example 80 | h.example
nc -w 5 h.example 80 | h.example
nc -vz -w3 h.example 1-1000 | h.example
nc -s good.example h.example 80 | h.example
nc -p 1000 h.example 80 | h.example
nc -x p.example:1080 -X 5 h.example 80 | h.example p.example
nc -X connect -x p.example:3128 h.example 443 | h.example p.example
nc -g r.example h.example 80 | h.example r.example
nc -l 8080 | 8080
nc -e /bin/sh h.example 80 | h.example *
netcat -u h.example 53 | h.example
ncat --proxy p.example:1 --proxy-type http h.example 80 | h.example p.example
ncat --ssl h.example 443 | h.example
ncat --exec /bin/sh h.example 80 | h.example *
nc -Q h.example 80 | h.example 80 *
socat - TCP:h.example:80 | h.example
socat TCP4:h.example:80,retry=3 - | h.example
socat - OPENSSL:h.example:443,verify=0 | h.example
socat - SOCKS4A:p.example:t.example:80,socksport=9050 | p.example t.example
socat - PROXY:p.example:t.example:443 | p.example t.example
socat TCP-LISTEN:80,fork TCP:h.example:80 | h.example
socat - 'UDP6-SENDTO:[2001:db8::1]:53' | 2001:db8::1
socat - 'TCP6:[::1]:80' | ::1
telnet h.example 25 | h.example
telnet -l me h.example | h.example
ftp h.example | h.example
ftp -n -p h.example 21 | h.example *
lftp -u me,pw h.example | h.example
tftp h.example 69 | h.example
smbclient //h.example/share -U me | h.example
smbclient -I 10.0.0.1 //h.example/share | h.example 10.0.0.1
smbclient -L h.example | h.example
ping h.example | h.example
ping -c 3 -W 2 h.example | h.example
ping -I good.example h.example | h.example
ping -c3 -i.2 h.example | h.example
ping6 -c 1 fe80::1%eth0 | fe80::1%eth0
traceroute -m 5 h.example | h.example
traceroute -g r.example h.example 60 | h.example r.example
mtr -r -c 5 h.example | h.example
nmap -sS -p 80 h.example | h.example
nmap 10.0.0.0/24 | 10.0.0.0 *
nmap -iL hosts.txt | *
nmap -D d.example h.example | h.example d.example
nmap -oN out.txt -T4 h.example b.example | h.example b.example
fping -c 1 h.example b.example | h.example b.example
dig h.example | h.example
dig @good.example h.example | good.example h.example
dig @8.8.8.8 h.example MX +short | 8.8.8.8 h.example
dig -t AAAA -p 53 h.example | h.example
dig -x 10.0.0.1 | 10.0.0.1
dig -f list | *
dig -b 10.0.0.2 h.example | h.example
host h.example 8.8.8.8 | h.example 8.8.8.8
host -t mx h.example | h.example
nslookup -type=mx h.example 1.1.1.1 | h.example 1.1.1.1
whois -h w.example h.example | w.example h.example
resolvectl query h.example | h.example
openssl s_client -connect h.example:443 | h.example
openssl s_client -servername good.example -connect h.example:443 | h.example
openssl s_client -proxy p.example:3128 -connect h.example:443 | h.example p.example
openssl s_client -connect '[::1]:443' -showcerts | ::1
openssl s_client -starttls smtp -connect h.example:25 | h.example
openssl ocsp -url http://o.example -issuer i.pem -cert c.pem | o.example
curl http://h.example/a | h.example
curl h.example | h.example
curl -sSL 'https://u:p@h.example:8443/x?y=z' | h.example
curl -x p.example:80 http://h.example | h.example p.example
curl --proxy=socks5://p.example:1080 h.example | h.example p.example
curl --socks5-hostname p.example:1080 http://h.example | h.example p.example
curl --connect-to ::t.example: http://h.example | h.example t.example
curl --connect-to h.example:443:t.example:8443 https://h.example | h.example t.example
curl --resolve h.example:443:10.0.0.9 https://h.example | h.example 10.0.0.9
curl --interface good.example http://h.example | h.example
curl --url h.example -o out | h.example
curl -K conf | *
curl --unix-socket /s http://localhost/x | localhost *
curl -o out -H 'Host: good.example' -X POST -d a=b https://h.example | h.example
curl --doh-url https://d.example/q https://h.example | h.example d.example
curl -T file ftp://h.example/ | h.example
curl --next-unknown h.example | h.example *
curl HTTP://H.EXAMPLE. | h.example
curl http://h.example#@good.example | h.example
curl http://good.example@h.example/ | h.example
curl 'http://good.example\@h.example/' | good.example h.example
curl "http://[2001:db8::1]:80/" | 2001:db8::1
curl "$URL" | *
wget https://h.example/x | h.example
wget -q -O - h.example/x | h.example
wget -i list.txt | *
wget -e https_proxy=p.example https://h.example | h.example https_proxy p.example *
wget --bind-address=good.example h.example | h.example
wget -P dir --header='Host: good.example' http://h.example | h.example
aria2c --all-proxy=http://p.example:1 https://h.example/x | h.example p.example
http GET https://h.example/x a=b | h.example *
psql -h h.example | h.example
psql -h h.example -U me -d db -c 'select 1' | h.example
psql postgresql://me@h.example:5432/db | h.example
psql "host=h.example dbname=x" | h.example
psql "host=a.example,b.example dbname=x" | a.example b.example
psql --host=h.example db me | h.example
psql db | *
psql -h h.example -f x.sql | h.example *
pg_dump -h h.example db -f out.sql | h.example
mysql -h h.example -u me -ppw db | h.example
mysql -uroot -hh.example -e 'select 1' | h.example
mysql --defaults-file=x -h h.example | h.example *
mysql db | *
mysqldump --host h.example db | h.example
redis-cli -h h.example -p 6379 get x | h.example
redis-cli -u redis://me:pw@h.example:6379/0 ping | h.example
redis-cli -h h.example --eval x.lua | h.example *
mongosh mongodb://h.example/db | h.example
mongosh --host h.example --quiet | h.example
mongo h.example:27017/db | h.example
mongodump --uri=mongodb://h.example/db | h.example
sqlcmd -S tcp:h.example,1433 -U me | tcp h.example
docker -H tcp://h.example:2375 ps | h.example
docker --host ssh://me@h.example images | h.example
docker pull registry.example/a/b:1 | registry.example
docker pull alpine | docker.io
kubectl --server https://h.example:6443 get pods | h.example *
kubectl get pods | *
kubectl -s h.example get pods | h.example *
kubectl --kubeconfig k get pods | *
helm install x y | *
ansible -i h.example, all -m ping | h.example all *
ansible all -i inventory -m ping | all inventory *
aws --endpoint-url https://h.example s3 ls | h.example *
aws s3 ls | *
gh pr list | *
gh api --hostname h.example user | h.example *
gcloud compute instances list | *
ldapsearch -H ldap://h.example -x | h.example
ldapsearch -h h.example -b dc=x '(a=b)' | h.example
snmpwalk -v2c -c public h.example 1.3.6 | h.example
ntpdate -q h.example | h.example
mail -s hi me@h.example | h.example
xfreerdp /v:h.example | h.example
npm install x | *
pip install --index-url https://h.example/simple x | h.example *
cargo install x | *
systemctl -H me@h.example status x | h.example
terraform plan | *
"""
ROWS = [row.rpartition(" | ")[::2] for row in TABLE.strip().splitlines()]
NOW = datetime(2026, 1, 10, tzinfo=UTC)
TOOLS = '[[rule]]\nid = "net"\neffect = "allow"\nprogram = ["?*"]\n'
DENY = '[[rule]]\nid = "evil"\neffect = "deny"\nhost = "evil.example"\n'


def hosts_of(command: str) -> set[str]:
    outermost = next(simple for simple in parse_command(command).commands if simple.depth == 0)
    return set(effects(outermost).hosts)


def effect(command: str, rules: str) -> str:
    policy = with_built_in([load_layer(rules, file="t.toml", layer="user")])
    call = Call("bash", {"command": command}, "/w/proj", ("/w/proj",), "/home/u", frozenset(("execute",)))
    return decide(call, policy, MemoryWorld(kinds={"/w/proj": "folder"}), (), NOW).effect


def test_the_table_is_large() -> None:
    assert len(ROWS) >= 150


@pytest.mark.parametrize(("command", "told"), ROWS)
def test_every_host_is_found_and_none_is_made_up(command: str, told: str) -> None:
    assert hosts_of(command) == {UNKNOWN_HOST if host == "*" else host for host in told.split()}


NAMED = [
    re.sub("h.example", "evil.example", command, flags=re.I) for command, told in ROWS if "h.example" in told.split()
]


def test_a_deny_of_a_host_holds_in_every_spelling() -> None:
    assert len(NAMED) > 120
    missed = [command for command in NAMED if effect(command, DENY + TOOLS) != "deny"]
    assert not missed


def test_a_host_that_is_not_known_asks_where_a_rule_speaks_of_hosts() -> None:
    unknown = [command for command, told in ROWS if told == "*"]
    assert len(unknown) > 10
    passed = [command for command in unknown if effect(command, DENY + TOOLS) == "allow"]
    assert not passed


def test_a_rule_for_a_host_and_a_program_asks_as_well_where_the_host_is_not_known() -> None:
    rule = '[[rule]]\nid = "evil"\neffect = "deny"\nhost = "evil.example"\ncommand = "ssh *"\n'
    assert effect("ssh -F conf h.example", rule + TOOLS) == "ask"
    assert effect("ssh h.example", rule + TOOLS) == "allow"
    assert effect("curl -K conf", rule + TOOLS) == "allow"


def test_an_allow_for_a_host_covers_no_other() -> None:
    allow = '[[rule]]\nid = "good"\neffect = "allow"\nprogram = ["?*"]\nhost = "good.example"\n'
    others = [command for command, told in ROWS if told.split() != ["good.example"]]
    assert len(others) > 150
    passed = [command for command in others if effect(command, allow) == "allow"]
    assert not passed
    assert effect("ping -c 1 good.example", allow) == "allow"
    assert effect("ssh -p 22 u@good.example uptime", allow) != "deny"


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("h.example", "h.example"), ("H.Example.", "h.example"), ("u@h.example:22", "h.example"), ("[::1]:80", "::1"),
        ("::1", "::1"), ("fe80::1%eth0", "fe80::1%eth0"), ("https://u:p@h.example/x@y", "h.example"), ("", ""),
        ("$H", UNKNOWN_HOST), ("a b", UNKNOWN_HOST), ("`h`", UNKNOWN_HOST), ("//h.example/share", "h.example"),
        ("bücher.example", "bücher.example"), ("unix:///run/x", ""),
    ],
)  # fmt: skip
def test_an_address_is_taken_apart(text: str, host: str) -> None:
    assert address_of(text) == host


def test_forwards_and_jumps_give_every_host_in_them() -> None:
    assert set(addresses_in("u@a:22,b,[::1]:5")) == {"a", "b", "::1"}
    assert set(addresses_in("127.0.0.1:80:db:5432")) == {"127.0.0.1", "db"}
    assert list(addresses_in("8080:/run/socket")) == []
