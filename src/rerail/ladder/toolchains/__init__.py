"""Every toolchain that is known: one table. What each states is in the modules beside it."""

from rerail.ladder.toolchains.compiled import CMAKE, DOTNET, GO, GRADLE, MAVEN, RUST, SWIFT
from rerail.ladder.toolchains.javascript import DENO, JAVASCRIPT
from rerail.ladder.toolchains.model import Toolchain
from rerail.ladder.toolchains.python import PYTHON
from rerail.ladder.toolchains.scripting import ELIXIR, PHP, RUBY
from rerail.ladder.toolchains.tasks import TASKS

TOOLCHAINS = (TASKS, JAVASCRIPT, DENO, PYTHON, RUST, GO, GRADLE, MAVEN, DOTNET, SWIFT, CMAKE, RUBY, PHP, ELIXIR)

__all__ = ["TOOLCHAINS", "Toolchain"]
