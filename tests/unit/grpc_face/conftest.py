"""A running server for each test."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.faces.grpc_face import Face, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@pytest.fixture
async def face() -> AsyncIterator[Face]:
    async with running() as face:
        yield face
