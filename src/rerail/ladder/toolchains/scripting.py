"""Ruby, PHP and Elixir.

Sources: the documentation of Bundler, Rake, RSpec, RuboCop, Sorbet, Brakeman, Composer, PHPUnit, PHPStan, Psalm, PHP_CodeSniffer,
Mix, Credo, Dialyxir and Sobelow.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rerail.ladder.model import REPORT, Stated
from rerail.ladder.toolchains.model import Toolchain, first_of, json_object, named, nothing, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rerail.ladder.model import Facts

_RAKE_TASK = re.compile(
    r"^\s*(?:task|Rake::TestTask\.new|RSpec::Core::RakeTask\.new|RuboCop::RakeTask\.new)[ (]+:?[\"']?([\w:]{1,60})",
    re.MULTILINE,
)


def _rake(facts: Facts) -> Iterator[Stated]:
    prefix = _bundled(facts)
    for phase, name in named(_RAKE_TASK.findall(facts.texts.get("Rakefile", ""))):
        yield Stated(phase, (*prefix, "rake", name), f"Rakefile {name}")


def _ruby(facts: Facts) -> Iterator[Stated]:
    prefix = _bundled(facts)
    if ".rspec" in facts.names:
        yield Stated("tests", (*prefix, "rspec"), ".rspec")
    elif "spec" in facts.names and re.search(
        r"(?m)^\s*gem\s+[\"']rspec(?:-rails)?[\"']", facts.texts.get("Gemfile", "")
    ):
        yield Stated("tests", (*prefix, "rspec"), "Gemfile: rspec, and spec")
    if ".rubocop.yml" in facts.names:
        yield Stated("lint", (*prefix, "rubocop", "--format", "json", "--out", REPORT), ".rubocop.yml", REPORT)
    if "sorbet/config" in facts.names:
        yield Stated("types", (*prefix, "srb", "tc"), "sorbet/config")
    if "config/brakeman.yml" in facts.names:
        yield Stated("security", (*prefix, "brakeman", "--no-pager"), "config/brakeman.yml")


def _bundled(facts: Facts) -> tuple[str, ...]:
    return ("bundle", "exec") if "Gemfile" in facts.names else ()


def _composer(facts: Facts) -> Iterator[Stated]:
    for phase, name in named(table(json_object(facts, "composer.json"), "scripts")):
        yield Stated(phase, ("composer", "run-script", name), f"composer.json scripts.{name}")


def _php(facts: Facts) -> Iterator[Stated]:
    if source := first_of(facts, "phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"):
        yield Stated("tests", ("vendor/bin/phpunit", "--log-junit", REPORT), source, REPORT)
    if source := first_of(facts, "phpstan.neon", "phpstan.neon.dist", "phpstan.dist.neon"):
        yield Stated("types", ("vendor/bin/phpstan", "analyse", "--no-progress"), source)
    if source := first_of(facts, "psalm.xml", "psalm.xml.dist"):
        yield Stated("types", ("vendor/bin/psalm", "--no-progress"), source)
    if source := first_of(facts, "phpcs.xml", "phpcs.xml.dist", ".phpcs.xml", ".phpcs.xml.dist"):
        words = ("vendor/bin/phpcs", "--report-checkstyle=" + REPORT, "--report-full")
        yield Stated("lint", words, source, REPORT)


def _mix(facts: Facts) -> Iterator[Stated]:
    if "mix.exs" not in facts.names:
        return
    manifest = facts.texts.get("mix.exs", "")
    yield Stated("build", ("mix", "compile"), "mix.exs")
    yield Stated("tests", ("mix", "test"), "mix.exs")
    if ":dialyxir" in manifest:
        yield Stated("types", ("mix", "dialyzer"), "mix.exs: dialyxir")
    if source := first_of(facts, ".credo.exs"):
        yield Stated("lint", ("mix", "credo"), source)
    elif source := first_of(facts, ".formatter.exs"):
        yield Stated("lint", ("mix", "format", "--check-formatted"), source)
    if source := first_of(facts, ".sobelow-conf"):
        yield Stated("security", ("mix", "sobelow", "--config"), source)


RUBY = Toolchain("Ruby", ("Rakefile", "Gemfile"), _rake, _ruby, asks=("sorbet/config", "config/brakeman.yml"))
PHP = Toolchain("PHP", ("composer.json",), _composer, _php)
ELIXIR = Toolchain("Elixir", ("mix.exs",), nothing, _mix)
