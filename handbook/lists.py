"""Lists as GitHub reads them, written as mkdocs wants them.

What belongs to a point of a list is indented to the point's first letter on GitHub: two columns
after a bullet, three after a number. Python's Markdown wants four columns for each level, and ends
the list otherwise, so that steps are counted from 1 again.
"""

from __future__ import annotations

import re

_POINT = re.compile(r"( *)([-*+]|\d+[.)]) +(?=\S)")
_LEVEL = 4


def widened(markdown: str) -> str:
    """The same text with four columns for each level of its lists."""
    lists = _Lists()
    return "\n".join(map(lists.widen, markdown.split("\n")))


class _Lists:
    """The lists that are open at a line, and the fence of code, within which nothing is a list."""

    def __init__(self) -> None:
        # The columns at which the text of each open point begins, as they are on GitHub.
        self._columns: list[int] = []
        # That of the fence; None: there is none.
        self._fence: int | None = None

    def widen(self, line: str) -> str:
        """The next line."""
        text = line.lstrip(" ")
        indent = len(line) - len(text)
        if not text:
            return line
        if self._fence is not None:
            return self._in_fence(indent, text)
        while self._columns and indent < self._columns[-1]:
            self._columns.pop()
        if text.startswith("```"):
            self._fence = indent
            return self._in_fence(indent, text, opens=True)
        beyond = indent - self._columns[-1] if self._columns else indent
        # A few columns too many are nothing to GitHub within a list.
        widened = self._margin() + " " * (beyond if beyond >= _LEVEL else 0) + text
        if point := _POINT.match(line):
            self._columns.append(point.end())
        return widened

    def _in_fence(self, indent: int, text: str, *, opens: bool = False) -> str:
        begins = self._fence or 0
        if text.startswith("```") and not opens:
            self._fence = None
        return self._margin() + " " * max(0, indent - begins) + text

    def _margin(self) -> str:
        return " " * (_LEVEL * len(self._columns))
