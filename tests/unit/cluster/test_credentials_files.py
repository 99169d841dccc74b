"""What a login was read from is read again when it has changed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bailiff.cluster import ConfigError
from bailiff.cluster.login import FilesRead, Login
from tests.harness.logins import at, login, seconds, started, token

__all__ = ["started"]

pytestmark = pytest.mark.looptime(start=0)


def put(file: Path, content: str) -> None:
    file.write_text(content)


def put_behind_link(file: Path, content: str) -> None:
    target = file.with_name(content)
    target.write_text(content)
    file.unlink()
    file.symlink_to(target)


class TestFiles:
    """What comes from files is read again when they have changed."""

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        path = tmp_path / "token"
        path.write_text("one")
        return path

    @pytest.fixture
    def read(self, file: Path) -> Callable[[], Awaitable[Login]]:
        """A reader that notes when it is used in `self.began`."""
        self.began: list[float] = []

        async def read() -> Login:
            self.began.append(seconds())
            files = FilesRead()
            return login(files.read(file).decode(), files=files)

        return read

    async def test_within_a_minute(self, started, file: Path, read) -> None:
        credentials = await started(read)
        await at(1)
        put(file, "two")
        await at(59)
        assert await token(credentials) == "one"
        await at(60)
        assert await token(credentials) == "two"

    async def test_only_when_they_changed(self, started, read) -> None:
        await started(read)
        await at(3600)
        assert self.began == [0]

    async def test_a_link_that_points_to_another_file_is_a_change(
        self, started, file: Path, read
    ) -> None:
        """So does the kubelet replace what is mounted into a pod."""
        put_behind_link(file, "one")
        credentials = await started(read)
        put_behind_link(file, "two")
        await at(60)
        assert await token(credentials) == "two"

    async def test_a_change_while_they_are_read_is_seen_a_minute_later(
        self, started, file: Path
    ) -> None:
        writes = ["two", "three"]

        async def read() -> Login:
            files = FilesRead()
            found = files.read(file).decode()
            if writes:
                put(file, writes.pop(0))
            return login(found, files=files)

        credentials = await started(read)
        await at(60)
        assert await token(credentials) == "two"
        await at(120)
        assert await token(credentials) == "three"

    async def test_a_file_without_end_is_refused(self, file: Path) -> None:
        with file.open("wb") as sparse:
            sparse.truncate(2**32)
        with pytest.raises(ConfigError, match="more than"):
            FilesRead().read(file)
