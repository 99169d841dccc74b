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
    """The lists that are open at a line."""

    def __init__(self) -> None:
        # The columns at which the text of each open point begins, as they are on GitHub.
        self._columns: list[int] = []
        self._in_fence = False

    def widen(self, line: str) -> str:
        """The next line."""
        text = line.lstrip(" ")
        if not text:
            return line
        # What looks like a list within a fence is code.
        is_code = self._in_fence
        if text.startswith("```"):
            self._in_fence = not self._in_fence
            is_code = is_code or self._in_fence
        indent = len(line) - len(text)
        if not (is_code and self._in_fence and not text.startswith("```")):
            while self._columns and indent < self._columns[-1]:
                self._columns.pop()
        widened = self._indent(indent) + text
        if not is_code and (point := _POINT.match(line)):
            self._columns.append(point.end())
        return widened

    def _indent(self, indent: int) -> str:
        column = self._columns[-1] if self._columns else 0
        return " " * max(0, _LEVEL * len(self._columns) + indent - column)
