"""From which files a program takes orders without being told. Data alone, beside the policy's catalogue of programs.

What runs code is the catalogue's to say; here stands what it does not tell yet: the files a program looks for by itself.
Nothing but `follow`, `command` and `repository` reads these tables, so that they can move there.
"""

from __future__ import annotations

from itertools import product

from interlock.runtime.policy.programs import program_of

_MORE = (
    "asdf bc chroot dbus-run-session direnv doas eval exec find ltrace nohup "
    "nsenter nvm parallel perf pyenv ssh-agent strace sudo unshare valgrind xvfb-run"
)
RUNNING = frozenset(_MORE.split())
"""Programs that run, or change by, what a file says, though the catalogue does not call it code. Those of the catalogue that
may run code, and those that it does not know, are taken for such anyway."""
_STARTERS = "npm npx yarn pnpm pnpx bun bunx uv uvx poetry pdm hatch pipenv bundle composer corepack"
STARTING = frozenset(_STARTERS.split())
"""Programs that put the project's own folders of programs in front of PATH."""
OWN_PROGRAMS = ("node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin", "bin")
"""Those folders."""
_OWN_RULES = (
    "cargo go gradle gradlew mvn ant dotnet swift bazel sbt stack cabal mix lein zig java scala groovy terraform docker podman "
    "docker-compose pytest py.test unittest nose2 nosetests coverage tox nox mypy pyright pylint jest vitest mocha ava eslint "
    "tsc webpack vite rollup gulp grunt playwright cypress phpunit rspec rake cmake meson scons ansible-playbook"
)
WHOLE = frozenset(f"{_OWN_RULES} {_STARTERS}".split())
"""Programs, and modules of Python, that read a project by their own rules: all of its code is held."""
PLAIN_ENDS: dict[str, str] = {
    **dict.fromkeys(("node", "nodejs", "bun", "deno", "tsx", "ts-node"), ".js .cjs .mjs .ts .json /index.js"),
    "ruby": ".rb",
    "perl": ".pl .pm",
    "lua": ".lua",
    "php": ".php",
    "java": ".java .class",
    "make": ".mk",
}
"""What a program puts behind a word that stands without its end."""
_HOOK_TOOLS = (
    "lefthook.yml .lefthook.yml lefthook.yaml lefthook-local.yml .pre-commit-config.yaml .lintstagedrc .lintstagedrc.json "
    "lint-staged.config.js .commitlintrc commitlint.config.js package.json"
)
HOOK_FILES = tuple(_HOOK_TOOLS.split())
"""Files that what people install as git hooks takes its orders from."""


def _each(names: str, files: str) -> dict[str, str]:
    return dict(product(names.split(), (files,)))


_PYTHON = "__main__.py .python-version pyvenv.cfg sitecustomize.py usercustomize.py"
_PACKAGE = (
    "package.json package-lock.json yarn.lock pnpm-lock.yaml .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs .pnp.cjs bunfig.toml "
    ".nvmrc .node-version"
)
_PROJECT = "pyproject.toml setup.py setup.cfg tox.ini noxfile.py"
_TESTS = f"{_PROJECT} conftest.py pytest.ini .coveragerc"
_COMPOSE = "compose.yaml compose.yml docker-compose.yml docker-compose.yaml docker-compose.override.yml Dockerfile .env"
IMPLICIT: dict[str, str] = (
    _each("make gmake bmake", "GNUmakefile makefile Makefile BSDmakefile")
    | _each("just", "justfile Justfile .justfile .env")
    | _each("task", "Taskfile.yml Taskfile.yaml taskfile.yml")
    | _each("npm npx yarn pnpm pnpx bunx corepack", _PACKAGE)
    | _each("node nodejs", f"{_PACKAGE} index.js")
    | _each("bun tsx ts-node deno tsc", f"{_PACKAGE} tsconfig.json deno.json deno.jsonc")
    | _each(
        "jest", f"{_PACKAGE} jest.config.js jest.config.ts jest.config.cjs jest.config.mjs babel.config.js .babelrc"
    )
    | _each("vitest vite", f"{_PACKAGE} vite.config.ts vite.config.js vitest.config.ts vitest.config.js")
    | _each("mocha", f"{_PACKAGE} .mocharc.js .mocharc.cjs .mocharc.json .mocharc.yml")
    | _each(
        "eslint", f"{_PACKAGE} eslint.config.js eslint.config.mjs eslint.config.ts .eslintrc.js .eslintrc.cjs .eslintrc"
    )
    | _each("prettier", f"{_PACKAGE} .prettierrc .prettierrc.js prettier.config.js")
    | _each("webpack rollup gulp grunt", f"{_PACKAGE} webpack.config.js rollup.config.js gulpfile.js Gruntfile.js")
    | _each("playwright cypress", f"{_PACKAGE} playwright.config.ts playwright.config.js cypress.config.js")
    | _each("pytest py.test nosetests coverage", _TESTS)
    | _each("tox nox invoke fab doit", f"{_PROJECT} tasks.py fabfile.py dodo.py")
    | _each(
        "pip pip3 pipx uv uvx poetry pdm hatch pipenv conda", f"{_PROJECT} uv.toml uv.lock Pipfile poetry.lock .env"
    )
    | _each("mypy pyright pylint flake8 ruff black", f"{_PROJECT} mypy.ini .pylintrc .flake8 ruff.toml .ruff.toml")
    | _each("sphinx-build", "conf.py docs/conf.py")
    | _each("python pypy", _PYTHON)
    | _each(
        "cargo", "Cargo.toml Cargo.lock build.rs .cargo/config.toml .cargo/config rust-toolchain.toml rust-toolchain"
    )
    | _each("go", "go.mod go.sum go.work")
    | _each("cmake", "CMakeLists.txt CMakePresets.json CMakeUserPresets.json CMakeCache.txt")
    | _each("ninja", "build.ninja")
    | _each("meson", "meson.build meson_options.txt")
    | _each("ant", "build.xml")
    | _each("mvn", "pom.xml .mvn/jvm.config .mvn/maven.config .mvn/extensions.xml")
    | _each(
        "gradle gradlew",
        "build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties init.gradle",
    )
    | _each("rake", "Rakefile rakefile Rakefile.rb")
    | _each("bundle gem ruby rspec", "Gemfile Gemfile.lock .ruby-version .rspec .bundle/config")
    | _each("composer php phpunit", "composer.json composer.lock phpunit.xml phpunit.xml.dist php.ini")
    | _each("bazel", "WORKSPACE MODULE.bazel .bazelrc BUILD BUILD.bazel")
    | _each("scons", "SConstruct")
    | _each("docker docker-compose podman", _COMPOSE)
    | _each("vagrant", "Vagrantfile")
    | _each("terraform", "main.tf terraform.tfvars .terraformrc")
    | _each("ansible-playbook", "ansible.cfg")
    | _each("pre-commit", ".pre-commit-config.yaml")
    | _each("direnv", ".envrc")
    | _each("gdb", ".gdbinit")
    | _each("vim nvim ex", ".exrc .vimrc .nvimrc")
    | _each("dotnet", "Directory.Build.props Directory.Build.targets global.json nuget.config")
    | _each("mix", "mix.exs")
    | _each("sbt", "build.sbt")
    | _each("zig", "build.zig")
    | _each("lein", "project.clj")
    | _each("hg", ".hg/hgrc")
    | _each("asdf mise rtx nvm pyenv", ".tool-versions mise.toml .mise.toml .nvmrc .python-version .envrc")
)
"""Files, by their names in the folder where it runs and in those above, that a program takes orders from unasked."""
AT_HOME: dict[str, str] = (
    _each("curl", ".curlrc")
    | _each("wget", ".wgetrc")
    | _each("sqlite3", ".sqliterc")
    | _each("ssh scp sftp rsync", ".ssh/config")
    | _each("npm npx", ".npmrc")
    | _each("cargo", ".cargo/config.toml")
    | _each("git", ".gitconfig .config/git/config .config/git/attributes")
    | _each("hg", ".hgrc")
    | _each("psql", ".psqlrc")
    | _each("gdb", ".gdbinit")
)
"""The same in the user's home."""
CODE_ENDS = (
    ".sh", ".bash", ".py", ".js", ".cjs", ".mjs", ".ts", ".mk", ".pl", ".pm", ".rb", ".php", ".lua", ".awk", ".sed", ".sql",
    ".c", ".h", ".cc", ".cpp", ".hpp", ".rs", ".go", ".java",
    ".cmake", ".gradle", ".toml", ".yml", ".yaml", ".json", ".ps1", ".tcl", ".R", ".jl",
)  # fmt: skip
"""Ends of names that, standing in a file that is followed, are looked at even where there is no such file."""
_SCRIPT_ENDS: tuple[str, ...] = (".js", ".cjs", ".mjs", ".ts", ".tsx", ".json", "/index.js", "/index.ts")
TRIED_ENDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys((".js", ".cjs", ".mjs", ".ts", ".tsx", ".jsx"), _SCRIPT_ENDS),
    **{end: (end,) for end in (".rb", ".lua", ".php", ".pm")},
    ".pl": (".pl", ".pm"),
}
"""What a language puts behind a name that stands without its end."""


_KEYS = {*IMPLICIT, *WHOLE, *PLAIN_ENDS}


def plain_name(program: str) -> str:
    """The name that these tables know a program by: no folder, no version (`python3.12`, `perl5.36`)."""
    name = program.rpartition("/")[2]
    bare = name.rstrip("0123456789.")
    return bare if bare in _KEYS and name not in _KEYS else name


def runs_files(program: str) -> bool:
    """Whether a program may run, or change by, what is in a file that it is given or looks for."""
    name = program.rpartition("/")[2]
    entry = program_of(name)
    return entry is None or entry.may_run_code or name in RUNNING
