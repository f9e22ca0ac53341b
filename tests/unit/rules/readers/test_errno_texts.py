"""What the C library says of an error in other languages."""

from __future__ import annotations

import pytest

from rerail.rules.readers.errno_texts import error_said


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("cat: nofile.txt: Datei oder Verzeichnis nicht gefunden", "ENOENT"),
        ("make[2]: *** /w/build: Datei oder Verzeichnis nicht gefunden.  Schluss.", "ENOENT"),
        ("cat: nofile.txt: Aucun fichier ou dossier de ce type", "ENOENT"),
        ("touch: no se puede efectuar `touch' sobre 'x': Permiso denegado", "EACCES"),
        ("无法创建 'x'：权限不够", "EACCES"),  # noqa: RUF001
        ("cp: 'a' kann nicht geschrieben werden: Auf dem Gerät ist kein Speicherplatz mehr verfügbar", "ENOSPC"),
    ],
)  # fmt: skip
def test_the_text_that_ends_a_line_tells_the_error(line: str, name: str) -> None:
    assert error_said(line) == name


@pytest.mark.parametrize(
    "line", ["Permiso denegado", "cat: x: No such file or directory", "note: Permiso denegado por la jefa", ""]
)
def test_other_words_and_other_places_tell_none(line: str) -> None:
    assert error_said(line) is None
