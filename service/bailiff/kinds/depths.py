"""JSON that nests too deep, made shallow without being decoded.

The API server keeps objects of 10,000 levels (Go's encoding/json, maxNestingDepth), such as a pod
whose own author wrote its managedFields, or a claim with a driver's own parameters. Python's
decoders give up long before. Nothing that a rule reads lies that deep, so what does is left out.
"""

from __future__ import annotations

import re

# A string, which may hold braces and escaped quotes, or a brace outside of all strings. A string
# without an end is one to the end of the text; nothing is looked at twice, so time grows with size.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[\]{}]', re.DOTALL)


def without_depths(data: bytes, levels: int) -> bytes:
    """The same JSON with empty arrays and objects at the last level that is kept.

    What is no JSON stays none, unless only what is left out was wrong.

    Args:
        data: UTF-8 JSON of any depth.
        levels: how many arrays and objects may enclose a value; at least 1.
    """
    kept: list[bytes] = []
    depth = begin = 0
    for token in _TOKEN.finditer(data):
        match token[0]:
            case b"{" | b"[":
                depth += 1
                if depth == levels + 1:
                    kept.append(data[begin : token.end()])
            case b"}" | b"]":
                depth -= 1
                if depth == levels:
                    begin = token.start()
            case _:
                pass
    # Where the end is missing too deep, it stays missing.
    return b"".join(kept) + (data[begin:] if depth <= levels else b"")
