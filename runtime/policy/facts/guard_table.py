"""Which paths are guarded, and why: what starts programs later, whose rules change, what holds credentials.

Promises: data and its reading, no judgement. One line a reason: the reason, `:`, then words. A word is a component of a
path, or several in a row joined by `/`; `*` and `?` stand for parts of a component; it means what is below it too, and with
a `/` at its end only that. All in lower case, since some file systems take `.GIT` for `.git`. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

_AGENTS = """
Claude Code: .claude .claude.json claude.md claude.local.md
Codex: .codex
Gemini CLI: .gemini gemini.md .geminiignore
Cursor: .cursor .cursorrules .cursorignore .cursorindexingignore
Windsurf: .windsurf .windsurfrules .codeium .codeiumignore
VS Code: .vscode *.code-workspace
JetBrains IDEs: .idea .fleet *.iws
Zed: .zed .rules .config/zed
Visual Studio: .vs
Helix: .helix .config/helix
Sublime Text: *.sublime-project
MCP clients: .mcp.json mcp.json .mcp mcp_config.json mcp_settings.json
opencode: opencode.json opencode.jsonc .opencode .config/opencode
agents that read .agents: .agents .agent
Aider: .aider.conf.yml .aiderignore
Cline: .clinerules .clineignore
Roo Code: .roo .roorules .roomodes .rooignore
Kilo Code: .kilocode .kilocodemodes
Continue: .continue .continuerc.json .continuerules
Amazon Q: .amazonq
Kiro: .kiro
Qwen Code: .qwen qwen.md
Kimi: .kimi
iFlow: .iflow iflow.md
Crush: .crush crush.json .crush.json crush.md
Goose: .goose .goosehints .config/goose
Junie: .junie
Trae: .trae
Augment: .augment .augment-guidelines
Factory: .factory
Warp: .warp warp.md
OpenHands: .openhands
Amp: .amp agent.md
Antigravity: .antigravity
GitHub Copilot: copilot-instructions.md .github/copilot* .github/instructions .github/prompts .github/chatmodes .github/agents .copilot
every agent that reads AGENTS.md: agents.md agents.override.md
Interlock: interlock.toml interlock-policy.toml .interlock .config/interlock application?support/interlock state/interlock
"""  # noqa: E501
_STARTS = """
version control runs what stands here: .git *.git/ .hg .svn .jj .bzr .gitconfig .gitmodules .gitattributes .lfsconfig .hgrc .arcconfig .config/git .config/jj
hooks of version control are set here: .husky .huskyrc* lefthook.y*ml lefthook.toml lefthook.json* .lefthook.y*ml .lefthook.toml .lefthook.json* lefthook-local.y*ml lefthook-local.toml lefthook-local.json* .lefthook-local.y*ml .lefthook-local.toml .lefthook-local.json* .lefthook .lefthook-local .pre-commit-config.y*ml .pre-commit-hooks.y*ml prek.toml .overcommit.yml .git-hooks .githooks simple-git-hooks.* .simple-git-hooks.* .lintstagedrc* lint-staged.config.* captainhook.json .captainhook.json grumphp.y*ml grumphp.y*ml.dist hk.pkl .config/hk.pkl .rusty-hook.toml
a tool runs or chooses programs by it: .envrc .envrc.* .direnvrc .config/direnv .autoenv .autoenv.* .shadowenv.d .tool-versions .tool-versions.* .asdfrc mise.toml mise.*.toml .mise.toml .mise.*.toml .mise .mise-tasks mise-tasks .config/mise* .rtx.toml .prototools .sdkmanrc .nvmrc .node-version .python-version .ruby-version .java-version .go-version .php-version .terraform-version devbox.json devenv.nix devenv.yaml devenv.local.nix .flox rust-toolchain rust-toolchain.toml .bazeliskrc .bazelversion
an editor or a development environment runs what stands here: .devcontainer .devcontainer.json devcontainer.json .gitpod.yml .gitpod .gitpod.dockerfile .replit replit.nix .idx .codesandbox .stackblitzrc .theia .dir-locals.el .dir-locals-2.el .ycm_extra_conf.py .nvim.lua .nvimrc .exrc .lvimrc .local.vimrc .vimrc _vimrc .vim .config/nvim .config/vim .emacs .emacs.d .kakrc
a package manager or a build tool runs or trusts what stands here: .npmrc .yarnrc .yarnrc.y*ml .yarn .pnp.cjs .pnp.loader.mjs .pnpmfile.cjs .pnpmfile.mjs bunfig.toml .bunfig.toml pip.conf pip.ini .pip .config/pip .pypirc .pydistutils.cfg uv.toml .config/uv poetry.toml .condarc .mambarc .cargo/config .cargo/config.toml .gemrc .bundle nuget.config .mvn gradle-wrapper.properties maven-wrapper.properties .gradle/init.d init.gradle init.gradle.kts .sbtopts .jvmopts .bazelrc .buckconfig .buckconfig.local .terraformrc terraform.rc ansible.cfg .ansible.cfg .m2/settings.xml
a shell or program of yours runs it when it starts: .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login .inputrc .xprofile .xinitrc .xsession .xsessionrc .pam_environment .tmux.conf .gdbinit .lldbinit .pdbrc .pythonrc .pythonstartup sitecustomize.py usercustomize.py *.pth .irbrc .pryrc .rprofile .renviron .julia/config .ghci .ocamlinit .sqliterc .psqlrc .mongorc.js .mongoshrc.js .wgetrc .curlrc .screenrc .mailcap .config/fish .config/environment.d .config/autostart .config/systemd etc/profile.d .local/bin library/launchagents library/launchdaemons etc/cron.d etc/cron* var/spool
continuous integration runs what stands here: .github/workflows .github/actions .github/dependabot.y*ml .gitlab-ci.y*ml .gitlab .circleci jenkinsfile .ci .travis.y*ml azure-pipelines.y*ml .azure-pipelines bitbucket-pipelines.y*ml .buildkite .drone.y*ml .woodpecker .woodpecker.y*ml appveyor.y*ml .appveyor.y*ml .forgejo/workflows .gitea/workflows .teamcity cloudbuild.y*ml .cirrus.y*ml .semaphore codemagic.yaml renovate.json renovate.json5 .renovaterc*
"""  # noqa: E501
_CREDENTIALS = """
credentials: .env .env.* .env-* .env_* *.env .ssh .aws .gnupg .kube .netrc _netrc .npmrc .pypirc .git-credentials .pgpass .my.cnf .azure .boto .s3cfg .vault-token .terraformrc .terraform.d .password-store .htpasswd .authinfo .authinfo.gpg credentials.json .credentials.json credentials.y*ml credentials.toml service-account*.json service_account*.json *-service-account.json client_secret*.json *-credentials.json oauth_creds.json auth.json secrets.y*ml secrets.toml secrets.json secrets.env keyring keyrings .mozilla .bitcoin .dockercfg .databrickscfg .snowsql .oci .doppler .fly .kaggle .pulumi/credentials.json .config/gh .config/hub .config/glab-cli .config/gcloud .config/op .config/rclone .config/git .config/doctl .config/heroku .config/stripe .config/containers .config/sops .docker/config.json .cargo/credentials .cargo/credentials.toml .gem/credentials .bundle/config .composer/auth.json .nuget/nuget.config .m2/settings.xml .m2/settings-security.xml .gradle/gradle.properties .huggingface huggingface/token etc/shadow etc/gshadow etc/sudoers etc/sudoers.d library/keychains .local/keyrings share/keyrings google-chrome/default .bash_history .zsh_history .python_history .node_repl_history .psql_history .mysql_history .sqlite_history .rediscli_history .lesshst
a private key: id_rsa* id_dsa* id_ecdsa* id_ed25519* id_xmss* *.pem *.key *.p12 *.pfx *.pkcs12 *.jks *.keystore *.kdbx *.kdb *.ppk *.p8 *.age
"""  # noqa: E501
_NO_CREDENTIALS = """
holds no secret: *.pub .env.example .env.*.example .env.sample .env.*.sample .env.template .env.*.template .env.dist .env.*.dist .env.defaults .env.*.defaults .env.schema .env-example .env-sample .env_example .env_sample .env.tpl example.env sample.env template.env *.example.env *.sample.env cert*.pem *-cert.pem *_cert.pem *.cert.pem *.crt.pem ca.pem ca-*.pem *-ca.pem ca_*.pem cacert*.pem *chain*.pem *bundle*.pem public*.pem *-public.pem *_public.pem *.public.pem *-pub.pem *_pub.pem pub.pem *root*.pem *.pub.key public.key *_public.key *-public.key
"""  # noqa: E501
"""A name of the table above that is known to be a sample or the public half."""
_OWN_FILES = frozenset(("interlock.toml", "interlock-policy.toml", ".interlock"))
WORKTREES = frozenset(("worktrees", "worktree"))
"""Folders in which agents keep linked worktrees of the project: what is below is ordinary but for its own guards."""
_ALL = re.compile(r"[*?]")
_MOST_KNOWN = 4_000


@dataclass
class GuardTable:
    """Words with their reasons, looked up by component."""

    names: dict[str, str] = field(default_factory=dict)
    """Component -> reason."""
    shapes: list[tuple[re.Pattern[str], str]] = field(default_factory=list)
    """All shapes of one reason as one expression."""
    runs: dict[str, list[tuple[tuple[re.Pattern[str], ...], str]]] = field(default_factory=dict)
    """First component -> what has to follow."""
    _known: dict[str, str] = field(default_factory=dict)
    """What was found for a component before: folders come up in path after path."""

    def reason(self, parts: Sequence[str]) -> str:
        """Why a path with these components, in lower case, is in the table; "" when it is not."""
        return next((found for at in range(len(parts)) if (found := self.reason_at(parts, at))), "")

    def reason_at(self, parts: Sequence[str], at: int) -> str:
        """The same for words that begin at one component."""
        part = parts[at]
        if (found := self.names.get(part)) is not None:
            return found
        for rest, why in self.runs.get(part, ()):
            behind = parts[at + 1 : at + 1 + len(rest)]
            if len(behind) == len(rest) and all(shape.fullmatch(p) for shape, p in zip(rest, behind, strict=True)):
                return why
        return self._by_shape(part + "/" * (at + 1 < len(parts))) if self.shapes else ""

    def last_of_runs(self) -> frozenset[str]:
        """The last component of every word of several; those with a sign for any part are not among them."""
        return frozenset(rest[-1].pattern.replace("\\", "") for runs in self.runs.values() for rest, _ in runs)

    def _by_shape(self, part: str) -> str:
        found = self._known.get(part)
        if found is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            found = next((why for shape, why in self.shapes if shape.fullmatch(part)), "")
            self._known[part] = found
        return found


def _words(text: str) -> Iterator[tuple[str, list[str]]]:
    for row in text.strip().splitlines():
        reason, _, words = row.partition(": ")
        yield reason, words.split()


def _shape(word: str) -> str:
    return "".join("[^/]*" if c == "*" else "[^/]" if c == "?" else re.escape(c) for c in word)


def _read(rows: Mapping[str, list[str]]) -> GuardTable:
    table = GuardTable()
    for reason, words in rows.items():
        shapes: list[str] = []
        for word in words:
            first, slash, rest = word.partition("/")
            if rest:
                expressions = tuple(re.compile(_shape(part)) for part in rest.split("/"))
                table.runs.setdefault(first.replace("?", " "), []).append((expressions, reason))
            elif slash or _ALL.search(word):
                shapes.append(_shape(first) + ("/" if slash else "/?"))
            else:
                table.names[word] = reason
        if shapes:
            table.shapes.append((re.compile("|".join(shapes)), reason))
    return table


@cache
def writes() -> GuardTable:
    """What may not be written without a person."""
    rows = dict(_words(_STARTS))
    return _read(rows | {f"changes the rules of {agent}": words for agent, words in _words(_AGENTS)})


@cache
def credentials() -> GuardTable:
    """What may not be read either."""
    return _read(dict(_words(_CREDENTIALS)))


@cache
def samples() -> GuardTable:
    """What looks like credentials and holds none."""
    return _read(dict(_words(_NO_CREDENTIALS)))


def agent_folders() -> frozenset[str]:
    """Every hidden name that belongs to an agent."""
    return frozenset(word for _, words in _words(_AGENTS) for word in words if word.startswith(".") and "/" not in word)


def is_own_file(part: str) -> bool:
    """Whether a component in lower case holds a project's rules for Interlock."""
    return part in _OWN_FILES
