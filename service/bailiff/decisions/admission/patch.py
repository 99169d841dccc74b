"""JSON Patches (RFC 6902), as far as hooks need them."""

from __future__ import annotations

from typing import Any

import msgspec

from bailiff.kinds.meta import Value


class PatchOperation(Value, frozen=True):
    """One step of a patch.

    Attributes:
        op: `add`, `replace` or `remove`. `add` replaces a member that is there.
        path: where (RFC 6901), as `/spec/tolerations/-`.
        value: what to put there; unset for `remove`.
    """

    op: str
    path: str
    value: Any = msgspec.UNSET
