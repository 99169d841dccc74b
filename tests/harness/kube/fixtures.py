"""The session's one real API server, as a fixture for any conftest that imports it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.kube.apiserver import KubeApiserver
from tests.harness.kube.programs import WHY_NOT, assets

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def kube_apiserver() -> Iterator[KubeApiserver]:
    """A kube-apiserver for all tests of the session; they keep apart by namespace."""
    if assets() is None:
        pytest.skip(WHY_NOT)
    with KubeApiserver() as server:
        yield server
