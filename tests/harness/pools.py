"""Where pools of nodes are asked: on the event loop, or in a thread."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from bailiff.decisions.scheduling import NodePool


def where_asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """`loop` or `thread`, for each time that a pool is asked from now on."""
    seen: list[str] = []
    as_ever = NodePool.at

    def at(pool: NodePool, *asked: Any) -> Any:
        loop = threading.current_thread() is threading.main_thread()
        seen.append("loop" if loop else "thread")
        return as_ever(pool, *asked)

    monkeypatch.setattr(NodePool, "at", at)
    return seen
