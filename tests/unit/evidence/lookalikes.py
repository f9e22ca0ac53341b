"""Exceptions and responses built like those of SDKs, which the tests must not need.

Class names, modules and attributes were read off exceptions that openai 3.57, anthropic 2.14, google-genai 3.6, litellm 1.110,
mcp 2.3, botocore 1.44, httpx 0.28, httpx2 2.16, requests 2.34, urllib3 2.8, aiohttp 3.14 and tenacity 9.2 raised against a
loopback server in November 2026; plumbum, GitPython, invoke, grpc and azure-core follow their documentation.
"""

from __future__ import annotations

from typing import Any


def class_like(qualified: str, *bases: type, **namespace: object) -> type[Any]:
    """Return a class that calls itself *qualified*."""
    module, _, name = qualified.rpartition(".")
    return type(name, bases or (Exception,), {"__module__": module, "__qualname__": name, **namespace})


def error_like(qualified: str, message: str, *bases: type, **attributes: object) -> Any:
    """Return an exception of such a class, with these instance attributes."""
    error = class_like(qualified, *bases)(message)
    vars(error).update(attributes)
    return error


class Headers:
    """A case-insensitive mapping that is no dict, as every HTTP library has one."""

    def __init__(self, **values: str) -> None:
        self._values = {name.replace("_", "-"): value for name, value in values.items()}

    def items(self) -> list[tuple[str, str]]:
        return list(self._values.items())

    def get(self, name: str) -> str | None:
        return self._values.get(name)


class UnreadResponse:
    """httpx: a streamed response whose body was not fetched; touching it would be network I/O."""

    def __init__(self, status_code: int, headers: Headers) -> None:
        self.status_code = status_code
        self.headers = headers

    @property
    def content(self) -> bytes:
        raise RuntimeError("the body was fetched")

    text = json = body = data = content


class ReadResponse(UnreadResponse):
    """httpx and requests: once read, the body lies in ``_content``."""

    def __init__(self, status_code: int, headers: Headers, content: bytes) -> None:
        super().__init__(status_code, headers)
        self._content = content


class Namespace:
    """An object with attributes: a request, a JSON-RPC error, a result."""

    def __init__(self, **values: object) -> None:
        vars(self).update(values)
