"""What names of nodes mean is looked at, and looked up without holding up anybody."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from bailiff.cluster.kubelets.endpoints import Endpoint, endpoint_of
from bailiff.cluster.kubelets.errors import KubeletAddressError, KubeletUnreachableError
from bailiff.cluster.kubelets.names import Names
from bailiff.cluster.kubelets.settings import KubeletSettings
from tests.harness.fake_kubelet import node_at

USUAL = KubeletSettings()


def told(address: str) -> tuple[Any, ...]:
    return socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 10250)


def named(name: str) -> Endpoint:
    return Endpoint(name, 10250, None)


async def test_what_a_name_means_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ["10.0.0.1", "169.254.169.254"]

    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: list(map(told, found)))
    endpoint = endpoint_of(node_at("n1", "n1.example", 10250, "Hostname"), USUAL)
    with pytest.raises(KubeletAddressError, match=r"169\.254\.169\.254"):
        await Names().resolve(endpoint, ())
    found.pop()
    assert await Names().resolve(endpoint, ()) == [ipaddress.ip_address("10.0.0.1")]


async def test_of_a_name_with_many_addresses_the_first_eight_are_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = [f"10.0.0.{number}" for number in range(1, 100)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: list(map(told, found)))
    resolved = await Names().resolve(named("n1.example"), ())
    assert list(map(str, resolved)) == found[:8]


@pytest.mark.parametrize("name", ["localhost", "127.1", "2130706433", "0x7f.1"])
async def test_however_this_machine_is_called_it_is_not_asked(name: str) -> None:
    endpoint = endpoint_of(node_at("n1", name, 10250, "Hostname"), USUAL)
    with pytest.raises((KubeletAddressError, KubeletUnreachableError)):
        await Names().resolve(endpoint, ())


async def test_a_name_that_cannot_be_looked_up_is_said() -> None:
    with pytest.raises(KubeletUnreachableError, match="the name is not known"):
        await Names().resolve(Endpoint("a" * 64 + ".invalid", 10250, None), ())


async def test_names_that_hang_hold_up_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    end, asked = threading.Event(), []

    def hang(host: str, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        end.wait(30)
        return [told("10.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    names = Names(2)
    waiting = [
        asyncio.ensure_future(names.resolve(named(f"n{number}.example"), ()))
        for number in range(50)
    ]
    # The thread that everybody else shares is free, however many names are asked for.
    async with asyncio.timeout(20):
        assert await asyncio.to_thread(lambda: "free") == "free"
    for one in waiting[2:]:
        one.cancel()
    # Who gives up leaves a thread behind, which counts until it ends.
    waiting[0].cancel()
    late = asyncio.ensure_future(names.resolve(named("late.example"), ()))
    await asyncio.sleep(0.05)
    assert sorted(asked) == ["n0.example", "n1.example"]
    end.set()
    for one in (waiting[1], late):
        assert await one == [ipaddress.ip_address("10.0.0.1")]
    assert asked[2:] == ["late.example"]


async def test_where_there_is_no_thread_left_the_next_may_find_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    names = Names(1)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [told("10.0.0.1")])
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(KubeletUnreachableError, match="can't start"):
            await names.resolve(named("n1.example"), ())
    assert await names.resolve(named("n1.example"), ()) == [ipaddress.ip_address("10.0.0.1")]


def test_a_loop_that_has_ended_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    end = threading.Event()
    threads: list[threading.Thread] = []
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: end.wait(30) and [])

    async def give_up() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await Names().resolve(named("n1.example"), ())
        threads.extend(one for one in threading.enumerate() if one.name == "kubelet-name")

    asyncio.run(give_up())
    end.set()
    for one in threads:
        one.join(30)
    assert threads
