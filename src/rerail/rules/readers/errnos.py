"""System error numbers by name, the same on every platform: a failure is often read on another system than it happened on.

Sources: Linux ``asm-generic/errno*.h``; macOS ``sys/errno.h`` for numbers that mean nothing common on Linux; getaddrinfo(3);
Windows ``winerror.h`` and Winsock.
"""

from __future__ import annotations

_BY_NUMBER = {
    1: "EPERM", 2: "ENOENT", 3: "ESRCH", 4: "EINTR", 5: "EIO", 7: "E2BIG", 9: "EBADF", 10: "ECHILD", 11: "EAGAIN", 12: "ENOMEM",
    13: "EACCES", 16: "EBUSY", 17: "EEXIST", 18: "EXDEV", 20: "ENOTDIR", 21: "EISDIR", 22: "EINVAL", 23: "ENFILE", 24: "EMFILE",
    26: "ETXTBSY", 27: "EFBIG", 28: "ENOSPC", 30: "EROFS", 31: "EMLINK", 32: "EPIPE", 36: "ENAMETOOLONG", 39: "ENOTEMPTY",
    48: "EADDRINUSE", 54: "ECONNRESET", 60: "ETIMEDOUT", 61: "ECONNREFUSED", 65: "EHOSTUNREACH", 69: "EDQUOT",
    95: "EOPNOTSUPP", 98: "EADDRINUSE", 99: "EADDRNOTAVAIL", 100: "ENETDOWN", 101: "ENETUNREACH", 103: "ECONNABORTED",
    104: "ECONNRESET", 105: "ENOBUFS", 110: "ETIMEDOUT", 111: "ECONNREFUSED", 112: "EHOSTDOWN", 113: "EHOSTUNREACH",
    116: "ESTALE", 122: "EDQUOT",
    -2: "ENOTFOUND", -3: "EAI_AGAIN", -4: "EAI_FAIL", -5: "ENOTFOUND",
    11001: "ENOTFOUND", 11002: "EAI_AGAIN", 10013: "EACCES", 10048: "EADDRINUSE", 10051: "ENETUNREACH", 10053: "ECONNABORTED",
    10054: "ECONNRESET", 10060: "ETIMEDOUT", 10061: "ECONNREFUSED", 10065: "EHOSTUNREACH",
}  # fmt: skip
_BY_WIN_ERROR = {
    2: "ENOENT",
    3: "ENOENT",
    5: "EACCES",
    8: "ENOMEM",
    32: "EBUSY",
    33: "EBUSY",
    112: "ENOSPC",
    145: "ENOTEMPTY",
    1455: "ENOMEM",
}
NAMES = frozenset(_BY_NUMBER.values()) | {
    "EAI_NONAME",
    "EAI_NODATA",
    "ENOEXEC",
    "ENOSYS",
    "ENOTSUP",
    "ENOLCK",
    "ENODEV",
    "ELOOP",
    "EPROTO",
}
"""Names that are taken for an error number when they stand in a text as a word."""


def by_number(number: int, *, windows: bool = False) -> str | None:
    """Return the name of a number as ``[Errno 28]`` or ``[WinError 5]`` gives it; None when it has no common meaning.

    Node and libuv give numbers below zero (``errno: -13``); those of getaddrinfo(3) are below zero everywhere.
    """
    if windows:
        return _BY_WIN_ERROR.get(number) or (_BY_NUMBER.get(number) if number > 10_000 else None)
    return _BY_NUMBER.get(number) or (_BY_NUMBER.get(-number) if number < -5 else None)


def by_libuv(number: int) -> str | None:
    """Return the name of a number as Node prints it in an error's ``errno`` property: the system's, below zero."""
    return _BY_NUMBER.get(-number) if number < 0 else _BY_NUMBER.get(number)
