"""Sessions: which proxy they go by, and that a request starts no thread."""

import asyncio
import ssl
import threading

import pytest
import yaml
from aiohttp import web

from bailiff.cluster import Request, connect
from bailiff.cluster.tls import Tls
from tests.harness.kube.tls import make_tls
from tests.harness.kube.tunnel import Tunnel
from tests.harness.scripted_server import kubeconfig, serving

VARIABLES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


@pytest.fixture
def environment(monkeypatch):
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    return monkeypatch


async def test_a_request_goes_by_the_environments_proxy(environment, tmp_path):
    asked = []

    async def proxy(request):
        asked.append(request.path_qs if request.url.host is None else str(request.url))
        return web.json_response({})

    async with serving(proxy) as port:
        environment.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
        path = kubeconfig(tmp_path, 8001)
        path.write_text(path.read_text().replace("127.0.0.1", "kube.example"))
        async with await connect(path) as cluster:
            assert await cluster.send(Request("GET", "/version")) == b"{}"
            running = asyncio.all_tasks()
        # The client's own, which keeps the login fresh, has ended with it.
        assert asyncio.all_tasks() < running
    assert asked == ["http://kube.example:8001/version"]


async def test_a_request_starts_no_thread(environment, tmp_path):
    async def answer(_request):
        return web.json_response({})

    async with serving(answer) as port, await connect(kubeconfig(tmp_path, port)) as cluster:
        before = threading.active_count()
        await cluster.send(Request("GET", "/version"))
        assert threading.active_count() == before


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_request_goes_by_the_proxy_of_the_kubeconfig(tmp_path, scheme):
    """Inside the proxy's connection TLS is the API server's own, checked by the name we want."""

    async def answer(_request):
        return web.json_response({})

    tls = make_tls(tmp_path)
    own = tls if scheme == "https" else None
    async with serving(answer, tls) as port, Tunnel(port, own) as proxy:
        path = kubeconfig(tmp_path, port, ca=tls.ca)
        content = yaml.safe_load(path.read_text())
        content["clusters"][0]["cluster"] |= {
            "server": f"https://kube.example:{port}",
            "proxy-url": f"{scheme}://me:secret@127.0.0.1:{proxy.port}",
            "tls-server-name": "localhost",
        }
        path.write_text(yaml.safe_dump(content))
        async with await connect(path) as cluster:
            assert await cluster.send(Request("GET", "/version")) == b"{}"
    assert proxy.asked == [(f"kube.example:{port}", "Basic bWU6c2VjcmV0")]


@pytest.mark.parametrize(("verify", "mode"), [(True, ssl.CERT_REQUIRED), (False, ssl.CERT_NONE)])
def test_a_server_is_verified_unless_the_kubeconfig_says_otherwise(verify, mode):
    context = Tls(verify=verify).context()
    assert (context.verify_mode, context.check_hostname) == (mode, verify)
