"""What a project's own files state for each phase, toolchain by toolchain: real directories, looked at and resolved."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rerail.decisions.model import Effects
from rerail.ladder.look import look
from rerail.ladder.model import Facts, LeftOut, Looks, Runs, Unresolved
from rerail.ladder.resolve import resolve
from rerail.ladder.toolchains import TOOLCHAINS
from rerail.settings import PhaseSettings, VerifySettings, load_settings
from rerail.settings_file import PHASES

if TYPE_CHECKING:
    from pathlib import Path

R = "{report}"
PACKAGE = json.dumps


def written(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def resolved(root: Path, files: dict[str, str], *asked: str) -> dict[str, str]:
    """Return what each phase of a project with these files is: its command, or why there is none."""
    phases = resolve(look(written(root, files)), VerifySettings(), asked)
    told = {}
    for phase in phases:
        match phase:
            case Runs():
                told[phase.name] = f"{' '.join(phase.command)} <- {phase.source}"
            case LeftOut():
                told[phase.name] = f"skipped: {phase.because}"
            case Unresolved():
                told[phase.name] = "?"
            case Looks():
                told[phase.name] = "looks"
    return told


SCRIPTS = {"build": "vite build", "typecheck": "tsc", "lint": "eslint .", "test": "vitest run", "audit": "npm audit"}

STATED: list[tuple[str, dict[str, str], dict[str, str]]] = [
    (
        "npm scripts, without a lockfile",
        {"package.json": PACKAGE({"scripts": SCRIPTS})},
        {
            "build": "npm run build <- package.json scripts.build",
            "types": "npm run typecheck <- package.json scripts.typecheck",
            "lint": "npm run lint <- package.json scripts.lint",
            "tests": "npm run test <- package.json scripts.test",
            "security": "npm run audit <- package.json scripts.audit",
        },
    ),
    (
        "pnpm",
        {"package.json": PACKAGE({"scripts": {"test": "x"}}), "pnpm-lock.yaml": ""},
        {"tests": "pnpm run test <- package.json scripts.test"},
    ),
    (
        "yarn",
        {"package.json": PACKAGE({"scripts": {"test": "x"}}), "yarn.lock": ""},
        {"tests": "yarn run test <- package.json scripts.test"},
    ),
    (
        "bun",
        {"package.json": PACKAGE({"scripts": {"test": "x"}}), "bun.lock": ""},
        {"tests": "bun run test <- package.json scripts.test"},
    ),
    (
        "the manager that package.json names goes before a lockfile",
        {"package.json": PACKAGE({"scripts": {"test": "x"}, "packageManager": "pnpm@9.1.0"}), "yarn.lock": ""},
        {"tests": "pnpm run test <- package.json scripts.test"},
    ),
    (
        "npm's placeholder and scripts that watch state nothing",
        {
            "package.json": PACKAGE(
                {"scripts": {"test": 'echo "Error: no test specified" && exit 1', "build": "tsc --watch", "lint": "  "}}
            )
        },
        {},
    ),
    (
        "a script goes before a tool's own configuration",
        {
            "package.json": PACKAGE({"scripts": {"test": "jest"}, "devDependencies": {"typescript": "5"}}),
            "jest.config.js": "",
            "tsconfig.json": "{}",
        },
        {
            "tests": "npm run test <- package.json scripts.test",
            "types": "npx --no-install tsc --noEmit <- tsconfig.json",
        },
    ),
    (
        "JavaScript tools, where no script names them",
        {"package.json": "{}", "jest.config.ts": "", "eslint.config.mjs": ""},
        {
            "tests": f"npx --no-install jest --json --outputFile={R} --testLocationInResults <- jest.config.ts",
            "lint": f"npx --no-install eslint . --format json --output-file {R} <- eslint.config.mjs",
        },
    ),
    ("a tsconfig.json without TypeScript states nothing", {"package.json": "{}", "tsconfig.json": "{}"}, {}),
    (
        "Deno",
        {"deno.jsonc": '{\n  // ours\n  "tasks": {"build": "deno run build.ts"}\n}'},
        {
            "build": "deno task build <- deno.jsonc tasks.build",
            "types": "deno check . <- deno.jsonc",
            "lint": "deno lint <- deno.jsonc",
            "tests": f"deno test --junit-path={R} <- deno.jsonc",
        },
    ),
    (
        "Python tools in pyproject.toml",
        {"pyproject.toml": "[tool.pytest.ini_options]\n[tool.mypy]\nfiles = ['src']\n[tool.ruff]\n[tool.bandit]\n"},
        {
            "types": "mypy <- pyproject.toml [tool.mypy]",
            "lint": f"ruff check --output-format=json --output-file={R} <- pyproject.toml [tool.ruff]",
            "tests": f"pytest --junit-xml={R} <- pyproject.toml [tool.pytest.ini_options]",
            "security": f"bandit -q -c pyproject.toml -r . -f json -o {R} <- pyproject.toml [tool.bandit]",
        },
    ),
    (
        "Python tools in files of their own",
        {"setup.cfg": "[mypy]\n[tool:pytest]\n[flake8]\n"},
        {
            "types": "mypy . <- setup.cfg [mypy]",
            "lint": "flake8 <- setup.cfg [flake8]",
            "tests": f"pytest --junit-xml={R} <- setup.cfg [tool:pytest]",
        },
    ),
    (
        "uv",
        {"pyproject.toml": "[tool.mypy]\n", "uv.lock": ""},
        {"types": "uv run mypy . <- pyproject.toml [tool.mypy]"},
    ),
    (
        "Poetry",
        {"pyproject.toml": "[tool.pyright]\n", "poetry.lock": ""},
        {"types": "poetry run pyright <- pyproject.toml [tool.pyright]"},
    ),
    ("a virtual environment", {"mypy.ini": "", ".venv/bin/mypy": ""}, {"types": ".venv/bin/mypy . <- mypy.ini"}),
    (
        "pytest by a dependency and a directory of tests",
        {"pyproject.toml": "[dependency-groups]\ntest = ['pytest>=8']\n", "tests/test_a.py": ""},
        {"tests": f"pytest --junit-xml={R} <- pyproject.toml: pytest, and tests"},
    ),
    (
        "pytest by a line of requirements",
        {"requirements-dev.txt": "# tests\npytest==8.0\n", "test/test_a.py": ""},
        {"tests": f"pytest --junit-xml={R} <- requirements-dev.txt: pytest, and test"},
    ),
    ("a plugin of pytest is not pytest", {"requirements.txt": "pytest-httpserver\n", "tests/a.py": ""}, {}),
    ("tests that nothing says are pytest's", {"tests/test_a.py": ""}, {}),
    (
        "Python task tables",
        {
            "pyproject.toml": "[tool.poe.tasks]\ntest = 'pytest'\n[tool.hatch.envs.default.scripts]\nlint = 'ruff check'\n"
        },
        {
            "tests": "poe test <- pyproject.toml [tool.poe.tasks] test",
            "lint": "hatch run lint <- pyproject.toml [tool.hatch.envs.default.scripts] lint",
        },
    ),
    (
        "nox",
        {"noxfile.py": "import nox\n@nox.session\ndef lint(session):\n    ...\n"},
        {"lint": "nox -s lint <- noxfile.py lint"},
    ),
    ("tox", {"tox.ini": "[tox]\nenvlist = py\n"}, {"tests": "tox <- tox.ini [tox]"}),
    (
        "Rust",
        {"Cargo.toml": "[package]\nname = 'a'\n[lints.clippy]\nall = 'deny'\n", "deny.toml": ""},
        {
            "build": "cargo build <- Cargo.toml",
            "types": "skipped: the build checks them",
            "lint": "cargo clippy --all-targets <- Cargo.toml [lints.clippy]",
            "tests": "cargo test <- Cargo.toml",
            "security": "cargo deny check <- deny.toml",
        },
    ),
    (
        "Go",
        {"go.mod": "module a\n", ".golangci.yml": ""},
        {
            "build": "go build ./... <- go.mod",
            "types": "skipped: the build checks them",
            "lint": "golangci-lint run <- .golangci.yml",
            "tests": "go test ./... <- go.mod",
        },
    ),
    (
        "Gradle, by its wrapper",
        {"build.gradle.kts": "", "gradlew": ""},
        {
            "build": "./gradlew assemble <- build.gradle.kts",
            "types": "skipped: the build checks them",
            "tests": "./gradlew test <- build.gradle.kts",
        },
    ),
    (
        "Maven",
        {"pom.xml": "<project/>"},
        {
            "build": "mvn -B compile <- pom.xml",
            "types": "skipped: the build checks them",
            "tests": "mvn -B test <- pom.xml",
        },
    ),
    (
        ".NET, by the one solution",
        {"Shop.sln": "", "a.csproj": ""},
        {
            "build": "dotnet build Shop.sln <- Shop.sln",
            "types": "skipped: the build checks them",
            "tests": "dotnet test Shop.sln <- Shop.sln",
        },
    ),
    (".NET with two solutions: which one is meant nobody says", {"A.sln": "", "B.sln": ""}, {}),
    (
        "CMake presets",
        {
            "CMakePresets.json": PACKAGE(
                {"buildPresets": [{"name": "b"}, {"name": "base", "hidden": True}], "testPresets": [{"name": "t"}]}
            )
        },
        {
            "build": "cmake --build --preset b <- CMakePresets.json buildPresets b",
            "types": "skipped: the build checks them",
            "tests": f"ctest --preset t --output-junit {R} <- CMakePresets.json testPresets t",
        },
    ),
    (
        "CMake presets of which one must be chosen",
        {"CMakePresets.json": PACKAGE({"buildPresets": [{"name": "a"}, {"name": "b"}]})},
        {},
    ),
    ("CMake that nobody has configured", {"CMakeLists.txt": ""}, {}),
    (
        "Swift",
        {"Package.swift": ""},
        {
            "build": "swift build <- Package.swift",
            "types": "skipped: the build checks them",
            "tests": f"swift test --xunit-output={R} <- Package.swift",
        },
    ),
    (
        "Ruby",
        {"Gemfile": "gem 'rspec'\n", "spec/a_spec.rb": "", ".rubocop.yml": "", "sorbet/config": ""},
        {
            "types": "bundle exec srb tc <- sorbet/config",
            "lint": f"bundle exec rubocop --format json --out {R} <- .rubocop.yml",
            "tests": "bundle exec rspec <- Gemfile: rspec, and spec",
        },
    ),
    (
        "Rake",
        {"Gemfile": "", "Rakefile": "Rake::TestTask.new(:test)\ntask :lint do\nend\n"},
        {"tests": "bundle exec rake test <- Rakefile test", "lint": "bundle exec rake lint <- Rakefile lint"},
    ),
    (
        "PHP",
        {"composer.json": PACKAGE({"scripts": {"lint": "phpcs"}}), "phpunit.xml.dist": "", "phpstan.neon": ""},
        {
            "types": "vendor/bin/phpstan analyse --no-progress <- phpstan.neon",
            "lint": "composer run-script lint <- composer.json scripts.lint",
            "tests": f"vendor/bin/phpunit --log-junit {R} <- phpunit.xml.dist",
        },
    ),
    (
        "Elixir",
        {"mix.exs": "{:dialyxir, '~> 1.4'}", ".credo.exs": ""},
        {
            "build": "mix compile <- mix.exs",
            "types": "mix dialyzer <- mix.exs: dialyxir",
            "lint": "mix credo <- .credo.exs",
            "tests": "mix test <- mix.exs",
        },
    ),
    (
        "Make",
        {
            "Makefile": "PY := python\n.PHONY: test lint\n$(READY):\n\tx\ntest lint: $(READY)\n\tpytest\ntypes:: x\n# build: no\n"
        },
        {
            "types": "make types <- Makefile types",
            "lint": "make lint <- Makefile lint",
            "tests": "make test <- Makefile test",
        },
    ),
    (
        "Make's standard target for tests",
        {"Makefile": "all:\ncheck:\n\t./t\n"},
        {"tests": "make check <- Makefile check"},
    ),
    (
        "just",
        {"justfile": "version := '1'\ntest *args: build\n  cargo test\n@lint:\n  x\n"},
        {"tests": "just test <- justfile test", "lint": "just lint <- justfile lint"},
    ),
    (
        "Task",
        {
            "Taskfile.yml": "version: '3'\nvars:\n  build: x\ntasks:\n  test:\n    cmds: [go test]\n  'lint':\n    cmds: []\n"
        },
        {"tests": "task test <- Taskfile.yml test", "lint": "task lint <- Taskfile.yml lint"},
    ),
    ("mise", {"mise.toml": "[tasks.build]\nrun = 'x'\n"}, {"build": "mise run build <- mise.toml [tasks] build"}),
    (
        "pre-commit, where nothing else lints",
        {".pre-commit-config.yaml": ""},
        {"lint": "pre-commit run --all-files <- .pre-commit-config.yaml"},
    ),
    (
        "a language's own linter goes before nothing but a runner's task",
        {"ruff.toml": "", "Makefile": "lint:\n\truff check\n"},
        {"lint": "make lint <- Makefile lint"},
    ),
    (
        "a package script goes before a Makefile of the same language",
        {"package.json": PACKAGE({"scripts": {"test": "x"}}), "Makefile": "test:\n\tnpm test\n"},
        {"tests": "npm run test <- package.json scripts.test"},
    ),
    (
        "in a project of two languages the runner of tasks speaks for both",
        {"package.json": PACKAGE({"scripts": {"test": "x"}}), "go.mod": "", "Makefile": "test:\n\tx\n"},
        {
            "tests": "make test <- Makefile test",
            "build": "go build ./... <- go.mod",
            "types": "skipped: the build checks them",
        },
    ),
    (
        "two languages, and nothing that speaks for both",
        {"pytest.ini": "", "package.json": PACKAGE({"scripts": {"test": "x"}})},
        {},
    ),
    ("nothing at all", {}, {}),
    ("prose that names tools", {"README.md": "run pytest, ruff and mypy; npm run build", "docs/a.md": "make test"}, {}),
]


@pytest.mark.parametrize(("files", "phases"), [case[1:] for case in STATED], ids=[case[0] for case in STATED])
def test_a_phase_is_what_the_projects_files_state_and_nothing_else(
    files: dict[str, str], phases: dict[str, str], tmp_path: Path
) -> None:
    expected = dict.fromkeys(PHASES, "?") | {"diff": "skipped: there is no git repository"} | phases
    assert resolved(tmp_path, files) == expected


def test_phases_come_in_the_ladders_order_whatever_the_order_of_asking(tmp_path: Path) -> None:
    assert list(resolved(tmp_path, {"Cargo.toml": ""}, "tests", "build")) == ["build", "tests"]


def test_the_settings_go_before_every_file(tmp_path: Path) -> None:
    written(tmp_path, {"package.json": PACKAGE({"scripts": SCRIPTS}), ".git/HEAD": ""})
    (tmp_path / "rerail.toml").write_text(
        'packs = ["core"]\n\n[verify.tests]\ncommand = "pytest \'a b\'"\nreport = "out/*.xml"\neffects = "none"\n'
        'timeout_s = 5.0\ncwd = "sub"\n[verify.lint]\nskip = "no linter yet"\n[verify.diff]\nskip = "generated"\n'
    )
    phases = {phase.name: phase for phase in resolve(look(tmp_path), load_settings(tmp_path).verify)}
    assert phases["tests"] == Runs(
        "tests", ("pytest", "a b"), "rerail.toml line 3", "out/*.xml", "", Effects.NONE, 5.0, "sub"
    )
    assert phases["lint"] == LeftOut("lint", "rerail.toml line 9", "no linter yet")
    assert phases["diff"] == LeftOut("diff", "rerail.toml line 11", "generated")
    assert isinstance(phases["build"], Runs)


def test_a_phase_is_wanted_that_is_asked_for_or_required(tmp_path: Path) -> None:
    settings = VerifySettings(required=("security",))
    phases = {phase.name: phase for phase in resolve(look(tmp_path), settings)}
    assert isinstance(phases["security"], Unresolved)
    assert isinstance(phases["build"], Unresolved)
    assert (phases["security"].is_wanted, phases["build"].is_wanted) == (True, False)
    (asked,) = resolve(look(tmp_path), VerifySettings(), ["build"])
    assert isinstance(asked, Unresolved)
    assert asked.is_wanted


def test_what_else_is_stated_is_told(tmp_path: Path) -> None:
    written(tmp_path, {"pyproject.toml": "[tool.mypy]\n[tool.pyright]\n"})
    (types,) = resolve(look(tmp_path), VerifySettings(), ["types"])
    assert isinstance(types, Runs)
    assert types.also == ("pyright (pyproject.toml [tool.pyright])",)


def test_two_languages_that_state_a_phase_are_both_named_in_the_question(tmp_path: Path) -> None:
    written(tmp_path, {"pytest.ini": "", "package.json": PACKAGE({"scripts": {"test": "x"}})})
    (tests,) = resolve(look(tmp_path), VerifySettings(), ["tests"])
    assert isinstance(tests, Unresolved)
    assert "npm run test (package.json scripts.test)" in tests.question
    assert "pytest" in tests.question


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("package.json", "{", "package.json is not JSON"),
        ("package.json", "[]", "package.json is no JSON object"),
        ("package.json", "[" * 100_000, "package.json is nested too deeply"),
        ("pyproject.toml", "[", "pyproject.toml is not TOML"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_and_states_nothing(name: str, text: str, said: str, tmp_path: Path) -> None:
    facts = look(written(tmp_path, {name: text}))
    assert any(fault.startswith(said) for fault in facts.faults)
    assert not [phase for phase in resolve(facts, VerifySettings()) if isinstance(phase, Runs)]


@pytest.mark.parametrize("name", ["-p:PostBuildEvent=x.sln", "-.csproj"])
def test_a_name_that_would_be_an_option_is_no_project(name: str, tmp_path: Path) -> None:
    assert resolved(tmp_path, {name: ""})["build"] == "?"


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "package.json")
    assert look(tmp_path).faults


FILES = sorted({name for chain in TOOLCHAINS for name in chain.reads})


@given(
    texts=st.dictionaries(
        st.sampled_from(FILES),
        st.text(max_size=300)
        | st.sampled_from(["{}", '{"scripts": []}', '{"scripts": {"test": 7}}', "[tool]\n", "[tool.pytest]\n"]),
    )
)
def test_whatever_the_files_hold_every_phase_is_resolved_or_asked_for(texts: dict[str, str]) -> None:
    phases = resolve(
        Facts(frozenset(texts), texts), VerifySettings({"tests": PhaseSettings("rerail.toml line 1", ("x",))})
    )
    assert [phase.name for phase in phases] == list(PHASES)
    assert all(phase.command for phase in phases if isinstance(phase, Runs))


@pytest.mark.parametrize("value", ["1", "true", "[]", '"x"', "{}", "[[1]]"])
def test_tables_of_the_wrong_kind_state_nothing(value: str, tmp_path: Path) -> None:
    keys = ("tool.poe.tasks", "tool.pdm.scripts", "project", "dependency-groups", "tool.poetry", "tool.uv")
    for at, key in enumerate(keys):
        root = tmp_path / str(at)
        root.mkdir()
        written(root, {"pyproject.toml": f"{key} = {value}\n", "tests/a.py": ""})
        assert not [phase for phase in resolve(look(root), VerifySettings()) if isinstance(phase, Runs)]
