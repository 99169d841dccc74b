"""Functions made from text, one for each type, as dataclasses and attrs make theirs.

A loop over the fields of a type, with a call for each, would take half as long again for every pod;
what is made here is what one would write by hand. No text of a caller ever gets in: names come from
types, all else is handed over as a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Function:
    """A function under construction; it returns one expression."""

    def __init__(self, name: str, *arguments: str) -> None:
        """Begin; the name is what tracebacks show."""
        self._name = name
        self._arguments = ", ".join(arguments)
        self._names: dict[str, Any] = {}

    def name_of(self, value: object) -> str:
        """A name by which the function's text can refer to a value."""
        name = f"_{len(self._names)}"
        self._names[name] = value
        return name

    def returning(self, expression: str) -> Callable[..., Any]:
        """The function, which returns this."""
        text = f"def {self._name}({self._arguments}):\n    return {expression}\n"
        exec(compile(text, f"<{self._name}>", "exec"), self._names)  # noqa: S102 - see the module
        made: Callable[..., Any] = self._names[self._name]
        return made
