"""JavaScript and TypeScript: the scripts of package.json, run by the package manager whose lockfile is there; and Deno.

Sources: the documentation of npm, pnpm, Yarn, Bun, Deno, TypeScript, Jest, Vitest, Mocha, ESLint and Biome.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rerail.ladder.model import REPORT, Stated
from rerail.ladder.toolchains.model import Toolchain, first_of, json_object, named, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rerail.ladder.model import Facts

_PACKAGE = "package.json"
_LOCKFILES = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
)
_EXECUTING = {"npm": ("npx", "--no-install"), "pnpm": ("pnpm", "exec"), "yarn": ("yarn", "run"), "bun": ("bun", "x")}
_PLACEHOLDER = re.compile(r"no test specified")
_WATCHES = re.compile(r"(?:^|\s)(?:--watch(?:All)?(?!=false)|-w)(?=\s|$)|(?:^|\s)watch(?=\s|$)")
_ENDINGS = ("js", "cjs", "mjs", "ts", "cts", "mts")


def _manager(facts: Facts) -> str:
    wished = str(json_object(facts, _PACKAGE).get("packageManager", "")).partition("@")[0]
    if wished in _EXECUTING:
        return wished
    return next((manager for lockfile, manager in _LOCKFILES if lockfile in facts.names), "npm")


def _scripts(facts: Facts) -> Iterator[Stated]:
    scripts = table(json_object(facts, _PACKAGE), "scripts")
    usable = [name for name, script in scripts.items() if isinstance(script, str) and _says_something(script)]
    for phase, name in named(usable):
        yield Stated(phase, (_manager(facts), "run", name), f"{_PACKAGE} scripts.{name}")


def _says_something(script: str) -> bool:
    """Tell whether a script checks something and ends: not npm's placeholder, and nothing that watches."""
    return bool(script.strip()) and not _PLACEHOLDER.search(script) and not _WATCHES.search(script)


def _tools(facts: Facts) -> Iterator[Stated]:
    package = json_object(facts, _PACKAGE)
    if _PACKAGE not in facts.names:
        return
    execute = _EXECUTING[_manager(facts)]
    depends = table(package, "devDependencies") | table(package, "dependencies")
    if "tsconfig.json" in facts.names and "typescript" in depends:
        yield Stated("types", (*execute, "tsc", "--noEmit"), "tsconfig.json")
    vitest = _config(facts, "vitest.config")
    if vitest:
        yield Stated("tests", (*execute, "vitest", "run"), vitest)
    if source := _config(facts, "jest.config", "jest.config.json") or (f"{_PACKAGE} jest" if "jest" in package else ""):
        words = ("jest", "--json", f"--outputFile={REPORT}", "--testLocationInResults")
        yield Stated("tests", (*execute, *words), source, REPORT)
    if source := first_of(facts, ".mocharc.json", ".mocharc.yml", ".mocharc.yaml", ".mocharc.js", ".mocharc.cjs"):
        yield Stated("tests", (*execute, "mocha"), source)
    legacy = first_of(
        facts, ".eslintrc.json", ".eslintrc.js", ".eslintrc.cjs", ".eslintrc.yml", ".eslintrc.yaml", ".eslintrc"
    )
    if source := _config(facts, "eslint.config") or legacy:
        eslint = ("eslint", ".", "--format", "json", "--output-file", REPORT)
        yield Stated("lint", (*execute, *eslint), source, REPORT)
    if source := first_of(facts, "biome.json", "biome.jsonc"):
        yield Stated("lint", (*execute, "biome", "check"), source)


def _config(facts: Facts, stem: str, *more: str) -> str:
    return first_of(facts, *(f"{stem}.{ending}" for ending in _ENDINGS), *more)


def _deno_tasks(facts: Facts) -> Iterator[Stated]:
    for file in ("deno.json", "deno.jsonc"):
        for phase, name in named(table(json_object(facts, file), "tasks")):
            yield Stated(phase, ("deno", "task", name), f"{file} tasks.{name}")


def _deno_tools(facts: Facts) -> Iterator[Stated]:
    if source := first_of(facts, "deno.json", "deno.jsonc"):
        yield Stated("types", ("deno", "check", "."), source)
        yield Stated("lint", ("deno", "lint"), source)
        yield Stated("tests", ("deno", "test", f"--junit-path={REPORT}"), source, REPORT)


JAVASCRIPT = Toolchain("JavaScript", (_PACKAGE,), _scripts, _tools)
DENO = Toolchain("Deno", ("deno.json", "deno.jsonc"), _deno_tasks, _deno_tools)
