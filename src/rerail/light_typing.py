"""What the way of a hook needs of `typing` at run time, for a tenth of its cost. Type checkers see `typing` itself.

A hook runs at every tool call. Importing `typing` costs it as much as starting Python does, and ``typing.NamedTuple`` compiles
every annotation once more. So whatever a hook imports takes these names from here, and what else it says of `typing` under
``if TYPE_CHECKING``; ``tests/cli/test_start.py`` keeps it so.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CodeType, FunctionType
    from typing import Any, NoReturn
    from typing import Generic as Generic
    from typing import NamedTuple as NamedTuple
    from typing import NewType as NewType
    from typing import ParamSpec as ParamSpec
    from typing import Protocol as Protocol
    from typing import TypeVar as TypeVar
    from typing import assert_never as assert_never
    from typing import cast as cast
else:
    try:
        from _collections import _tuplegetter as field_at  # what `collections` itself reads a field with
    except ImportError:
        from typing import NamedTuple
    else:

        class _Maker(type):
            """Makes a tuple with names of the class that is written with fields, as `typing` does."""

            def __new__(cls, name: str, _bases: tuple[type, ...], written: dict[str, Any]) -> type:
                fields = tuple(written.get("__annotations__", ()))
                defaults = {field: written[field] for field in fields if field in written}
                if fields[len(fields) - len(defaults) :] != tuple(defaults):
                    raise TypeError(f"{name}: a field without a default follows one with a default")
                own = {
                    "_fields": fields,
                    "_field_defaults": defaults,
                    "__match_args__": fields,
                    "__new__": _constructor(fields, tuple(defaults.values())),
                }
                getters = {field: field_at(place, f"Field {place}.") for place, field in enumerate(fields)}
                return type(name, (tuple,), {**_SHARED, **own, **written, **getters})

        class _Bases:
            """Stands among the bases that are written, and leaves the making of the class to the maker."""

            def __mro_entries__(self, _bases: tuple[object, ...]) -> tuple[type]:
                return (_BASE,)

        _BASE = type.__new__(_Maker, "NamedTuple", (), {})
        NamedTuple = _Bases()

        _CODES: dict[int, CodeType] = {}
        """The code of a constructor by the number of its fields: compiling it for each class costs more than all the rest."""

        def _constructor(fields: tuple[str, ...], defaults: tuple[object, ...]) -> FunctionType:
            code = _CODES.get(len(fields))
            if code is None:
                names = "".join(f"field_{place}, " for place in range(len(fields)))
                code = _CODES[len(fields)] = eval(f"lambda cls, {names}: new(cls, ({names}))").__code__  # noqa: S307
            return type(_constructor)(
                code.replace(co_varnames=("_cls", *fields)), {"new": tuple.__new__}, "__new__", defaults
            )

        def _make(cls: type, values: Iterable[object]) -> tuple[object, ...]:
            """Return one made of as many values as there are fields."""
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"expected {len(cls._fields)} values, got {len(made)}")
            return made

        def _replace(self: Any, /, **changes: object) -> Any:
            """Return one with other values for some fields."""
            made = self._make(map(changes.pop, self._fields, self))
            if changes:
                raise ValueError(f"got unexpected field names: {list(changes)!r}")
            return made

        def _asdict(self: Any) -> dict[str, object]:
            """Return the values by the names of their fields."""
            return dict(zip(self._fields, self, strict=True))

        def _repr(self: Any) -> str:
            shown = [f"{field}={value!r}" for field, value in zip(self._fields, self, strict=True)]
            return f"{type(self).__name__}({', '.join(shown)})"

        def _values(self: Any) -> tuple[object, ...]:
            return tuple(self)

        _SHARED = {
            "__slots__": (),
            "__repr__": _repr,
            "__getnewargs__": _values,
            "_make": classmethod(_make),
            "_replace": _replace,
            "_asdict": _asdict,
        }

    class Protocol:
        """What an object must be like, which only checkers ask."""

    class Generic:
        """A class that has parameters, which only checkers fill in."""

        def __class_getitem__(cls, _parameters: object) -> type:
            return cls

    def TypeVar(name: str, **_of: object) -> str:  # noqa: N802  here and below: the name that checkers know
        """Return nothing of use."""
        return name

    ParamSpec = TypeVar

    def NewType(_name: str, of: Callable[[Any], Any]) -> Callable[[Any], Any]:  # noqa: N802
        """Return the type itself: which values are which only checkers can tell."""
        return of

    def cast(_kind: object, value: object) -> object:
        """Return the value itself."""
        return value

    def assert_never(value: object) -> NoReturn:
        """Raise `AssertionError`: the checker took this for impossible."""
        raise AssertionError(f"Expected code to be unreachable, but got: {value!r:.100}")
