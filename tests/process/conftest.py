"""One `bailiff up` for all transcripts, in any order: what they find stays as it is. The README's
evict for good, and have one of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.transcripts import Up, settled_up

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="package")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with settled_up(tmp_path_factory.mktemp("up")) as started:
        yield started
