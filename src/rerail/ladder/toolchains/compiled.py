"""Languages whose build checks the types: Rust, Go, the JVM's, .NET's, Swift, C and C++.

Sources: the documentation of Cargo, Clippy, cargo-deny, cargo-audit, go, golangci-lint, Gradle, Maven, dotnet, SwiftPM, SwiftLint
and CMake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rerail.ladder.model import REPORT, Stated
from rerail.ladder.toolchains.model import Toolchain, first_of, is_there, json_object, nothing, toml

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rerail.ladder.model import Facts


def _rust(facts: Facts) -> Iterator[Stated]:
    if "Cargo.toml" not in facts.names:
        return
    manifest = toml(facts, "Cargo.toml")
    yield Stated("build", ("cargo", "build"), "Cargo.toml")
    yield Stated("tests", ("cargo", "test"), "Cargo.toml")
    if source := first_of(facts, "clippy.toml", ".clippy.toml"):
        yield Stated("lint", ("cargo", "clippy", "--all-targets"), source)
    for path in (("lints", "clippy"), ("workspace", "lints", "clippy")):
        if is_there(manifest, *path):
            yield Stated("lint", ("cargo", "clippy", "--all-targets"), f"Cargo.toml [{'.'.join(path)}]")
    if source := first_of(facts, "rustfmt.toml", ".rustfmt.toml"):
        yield Stated("lint", ("cargo", "fmt", "--check"), source)
    if "deny.toml" in facts.names:
        yield Stated("security", ("cargo", "deny", "check"), "deny.toml")
    if source := first_of(facts, ".cargo/audit.toml", "audit.toml"):
        yield Stated("security", ("cargo", "audit"), source)


def _go(facts: Facts) -> Iterator[Stated]:
    if source := first_of(facts, "go.mod"):
        yield Stated("build", ("go", "build", "./..."), source)
        yield Stated("tests", ("go", "test", "./..."), source)
    if source := first_of(facts, *(f".golangci.{ending}" for ending in ("yml", "yaml", "toml", "json"))):
        yield Stated("lint", ("golangci-lint", "run"), source)


def _gradle(facts: Facts) -> Iterator[Stated]:
    source = first_of(facts, "build.gradle.kts", "build.gradle", "settings.gradle.kts", "settings.gradle")
    if source:
        gradle = "./gradlew" if "gradlew" in facts.names else "gradle"
        yield Stated("build", (gradle, "assemble"), source)
        yield Stated("tests", (gradle, "test"), source, "**/build/test-results/**/*.xml")


def _maven(facts: Facts) -> Iterator[Stated]:
    if "pom.xml" in facts.names:
        maven = "./mvnw" if "mvnw" in facts.names else "mvn"
        yield Stated("build", (maven, "-B", "compile"), "pom.xml")
        yield Stated("tests", (maven, "-B", "test"), "pom.xml", "**/target/surefire-reports/*.xml")


def _dotnet(facts: Facts) -> Iterator[Stated]:
    here = sorted(name for name in facts.names if "/" not in name and not name.startswith("-"))
    solutions = [name for name in here if name.endswith((".sln", ".slnx"))]
    projects = [name for name in here if name.endswith((".csproj", ".fsproj", ".vbproj"))]
    found = solutions or projects
    if len(found) == 1:
        yield Stated("build", ("dotnet", "build", found[0]), found[0])
        yield Stated("tests", ("dotnet", "test", found[0]), found[0])


def _swift(facts: Facts) -> Iterator[Stated]:
    if "Package.swift" in facts.names:
        yield Stated("build", ("swift", "build"), "Package.swift")
        yield Stated("tests", ("swift", "test", f"--xunit-output={REPORT}"), "Package.swift", REPORT)
    if source := first_of(facts, ".swiftlint.yml", ".swiftlint.yaml"):
        yield Stated("lint", ("swiftlint", "lint", "--strict"), source)


def _cmake(facts: Facts) -> Iterator[Stated]:
    presets = json_object(facts, "CMakePresets.json")
    if name := _only(presets.get("buildPresets")):
        yield Stated("build", ("cmake", "--build", "--preset", name), f"CMakePresets.json buildPresets {name}")
    if name := _only(presets.get("testPresets")):
        words = ("ctest", "--preset", name, "--output-junit", REPORT)
        yield Stated("tests", words, f"CMakePresets.json testPresets {name}", REPORT)
    if "CMakeLists.txt" in facts.names and "build/CMakeCache.txt" in facts.names:
        yield Stated("build", ("cmake", "--build", "build"), "CMakeLists.txt, configured in build")
        words = ("ctest", "--test-dir", "build", "--output-junit", REPORT)
        yield Stated("tests", words, "CMakeLists.txt, configured in build", REPORT)


def _only(presets: Any) -> str:
    """Return the name of the one preset that is not hidden; ``""`` where there are more, for which one is meant nobody says."""
    rows = presets if isinstance(presets, list) else []
    names = [
        row["name"]
        for row in rows
        if isinstance(row, dict) and isinstance(row.get("name"), str) and not row.get("hidden")
    ]
    return names[0] if len(names) == 1 and not names[0].startswith("-") else ""


RUST = Toolchain("Rust", ("Cargo.toml",), nothing, _rust, asks=(".cargo/audit.toml",), build_checks_types=True)
GO = Toolchain("Go", (), nothing, _go, build_checks_types=True)
GRADLE = Toolchain("Gradle", (), nothing, _gradle, build_checks_types=True)
MAVEN = Toolchain("Maven", (), nothing, _maven, build_checks_types=True)
DOTNET = Toolchain(".NET", (), nothing, _dotnet, build_checks_types=True)
SWIFT = Toolchain("Swift", (), nothing, _swift, build_checks_types=True)
CMAKE = Toolchain(
    "CMake", ("CMakePresets.json",), nothing, _cmake, asks=("build/CMakeCache.txt",), build_checks_types=True
)
