"""What a login was read from is read again when it has changed."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from bailiff.cluster import ConfigError
from bailiff.cluster.kubeconfig import kubeconfig_namespace, kubeconfig_reader
from bailiff.cluster.login import FilesRead, Login
from bailiff.cluster.service_account import in_cluster_reader, service_account_namespace
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


class TestFifos:
    """Nobody need ever write to one: a process that waited for it would not even end when told."""

    @pytest.fixture
    def fifo(self, tmp_path: Path) -> Path:
        path = tmp_path / "fifo"
        os.mkfifo(path)
        return path

    async def test_as_a_kubeconfig(self, fifo: Path) -> None:
        with pytest.raises(ConfigError, match="not a regular file"):
            await kubeconfig_reader(fifo, None)()
        with pytest.raises(ConfigError, match="cannot be read"):
            kubeconfig_namespace(fifo, None)

    async def test_as_the_file_of_a_token(self, fifo: Path) -> None:
        user = {"name": "u", "user": {"tokenFile": fifo.name}}
        content = {
            "current-context": "c",
            "clusters": [{"name": "k", "cluster": {"server": "https://k"}}],
            "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}],
            "users": [user],
        }
        path = fifo.with_name("config")
        path.write_text(json.dumps(content))
        with pytest.raises(ConfigError, match="not a regular file"):
            await kubeconfig_reader(path, None)()

    async def test_as_the_token_of_a_service_account(
        self, fifo: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "k")
        monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
        os.mkfifo(fifo.with_name("token"))
        with pytest.raises(ConfigError, match="not a regular file"):
            await in_cluster_reader(fifo.parent)()

    def test_as_the_namespace_of_a_service_account(self, fifo: Path) -> None:
        os.mkfifo(fifo.with_name("namespace"))
        with pytest.raises(ConfigError, match="not a regular file"):
            service_account_namespace(fifo.parent)
