"""One `bailiff up` for all transcripts, in any order: pods that one of them evicts for good are in
no other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.harness.transcripts import Up, running_up, settle

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="package")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with running_up(tmp_path_factory.mktemp("up")) as started:
        settle(started.kubeconfig)
        yield started
