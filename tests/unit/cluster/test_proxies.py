"""Which servers are reached by a proxy: the answers are those of Go's httpproxy."""

from __future__ import annotations

import pytest

from bailiff.cluster import ConfigError
from bailiff.cluster.proxies import environment_proxy

PROXY = "http://proxy:3128"


@pytest.mark.parametrize(
    ("environ", "url", "proxy"),
    [
        ({}, "https://kube.example", None),
        ({"HTTPS_PROXY": PROXY}, "https://kube.example:6443/path", PROXY),
        ({"https_proxy": PROXY}, "https://kube.example", PROXY),
        # Upper case comes first, and an empty variable is none.
        ({"HTTPS_PROXY": PROXY, "https_proxy": "http://other"}, "https://kube.example", PROXY),
        ({"HTTPS_PROXY": "", "https_proxy": PROXY}, "https://kube.example", PROXY),
        # Each scheme has its own, and there is none for all.
        ({"HTTPS_PROXY": PROXY}, "http://kube.example", None),
        ({"HTTP_PROXY": PROXY}, "http://kube.example", PROXY),
        ({"HTTP_PROXY": PROXY}, "https://kube.example", None),
        ({"ALL_PROXY": PROXY, "all_proxy": PROXY}, "https://kube.example", None),
        # In a CGI program HTTP_PROXY is what a stranger sent; HTTPS_PROXY cannot be.
        ({"HTTPS_PROXY": PROXY, "REQUEST_METHOD": "GET"}, "https://kube.example", PROXY),
        # Without a scheme it is http.
        ({"HTTPS_PROXY": "proxy:3128"}, "https://kube.example", PROXY),
        ({"HTTPS_PROXY": "http://me:secret@proxy"}, "https://k.example", "http://me:secret@proxy"),
        ({"HTTPS_PROXY": "https://proxy:3128"}, "https://kube.example", "https://proxy:3128"),
        # This machine is never asked for by a proxy.
        ({"HTTPS_PROXY": PROXY}, "https://localhost:6443", None),
        ({"HTTPS_PROXY": PROXY}, "https://127.8.9.1:6443", None),
        ({"HTTPS_PROXY": PROXY}, "https://[::1]:6443", None),
        ({"HTTPS_PROXY": PROXY}, "https://[::ffff:127.0.0.1]:6443", None),
        ({"HTTPS_PROXY": PROXY}, "https://10.0.0.1", PROXY),
    ],
)
def test_the_environments_proxy(environ: dict[str, str], url: str, proxy: str | None) -> None:
    assert environment_proxy(url, environ) == proxy


@pytest.mark.parametrize(
    ("no_proxy", "host", "direct"),
    [
        ("*", "kube.example", True),
        ("other, *", "kube.example", True),
        ("*", "10.0.0.1", True),
        # A name means itself and what is below it.
        ("kube.example", "kube.example", True),
        ("example", "kube.example", True),
        ("KUBE.Example", "kube.example", True),
        ("kube.example", "KUBE.EXAMPLE", True),
        ("be.example", "kube.example", False),
        ("kube.example", "example", False),
        # With a dot, or a star and a dot, only what is below it.
        (".example", "kube.example", True),
        (".kube.example", "kube.example", False),
        ("*.example", "kube.example", True),
        ("*.kube.example", "kube.example", False),
        ("*example", "kube.example", False),
        # Several; blanks and empty parts do not matter.
        (" a.b ,, kube.example ", "kube.example", True),
        ("a.b;kube.example", "kube.example", False),
        ("a.b kube.example", "kube.example", False),
        # Ports.
        ("kube.example:6443", "kube.example:6443", True),
        ("kube.example:6443", "kube.example:443", False),
        ("kube.example:443", "kube.example", True),
        (".example:443", "kube.example", True),
        (":443", "kube.example", False),
        ("kube.example:", "kube.example:6443", True),
        # Addresses, with ports.
        ("10.0.0.1", "10.0.0.1:6443", True),
        ("10.0.0.1", "10.0.0.10", False),
        ("10.0.0.1:6443", "10.0.0.1:6443", True),
        ("10.0.0.1:6443", "10.0.0.1", False),
        ("0.0.1", "10.0.0.1", False),
        (".1", "10.0.0.1", False),
        ("10.0.0.1", "10.0.0.1.example", False),
        ("fd00::1", "[fd00::1]:6443", True),
        ("FD00:0::1", "[fd00::1]:6443", True),
        ("[fd00::1]:6443", "[fd00::1]:6443", True),
        ("[fd00::1]:6443", "[fd00::1]", False),
        ("[fd00::1]", "[fd00::1]", False),
        ("::ffff:10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "[::ffff:10.0.0.1]", True),
        # Networks.
        ("10.0.0.0/8", "10.96.0.1", True),
        ("10.96.0.1/8", "10.0.0.1", True),
        ("10.0.0.0/8", "11.0.0.1", False),
        ("10.0.0.0/32", "10.0.0.0", True),
        ("0.0.0.0/0", "10.0.0.1", True),
        ("0.0.0.0/0", "[fd00::1]", False),
        ("fd00::/8", "[fd00:1:2::3]:6443", True),
        ("fd00::/8", "[fe80::1]", False),
        ("::/0", "10.0.0.1", False),
        ("::ffff:10.0.0.0/104", "10.0.0.1", True),
        ("10.0.0.0/8", "[::ffff:10.0.0.1]", True),
        ("10.0.0.0/8", "10.example", False),
        ("10.0.0.0/255.0.0.0", "10.0.0.1", False),
        ("10.0.0.0/33", "10.0.0.1", False),
        ("10.0.0/8", "10.0.0.1", False),
        ("010.0.0.0/8", "10.0.0.1", False),
        ("10.0.0.0/8:443", "10.0.0.1", False),
    ],
)
def test_what_goes_without_a_proxy(no_proxy: str, host: str, *, direct: bool) -> None:
    environ = {"HTTPS_PROXY": PROXY, "NO_PROXY": no_proxy}
    assert environment_proxy(f"https://{host}", environ) == (None if direct else PROXY)


@pytest.mark.parametrize(
    ("environ", "url", "said"),
    [
        ({"HTTP_PROXY": PROXY, "REQUEST_METHOD": "GET"}, "http://kube.example", "not trusted"),
        ({"HTTPS_PROXY": "socks5://proxy"}, "https://kube.example", "socks5 are not supported"),
        ({"HTTPS_PROXY": "http://me:secret@:80"}, "https://kube.example", "not the URL of a"),
        ({"HTTPS_PROXY": "http://me:secret@p:x"}, "https://kube.example", "not the URL of a"),
    ],
)
def test_a_proxy_that_we_cannot_go_by(environ: dict[str, str], url: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said) as caught:
        environment_proxy(url, environ)
    assert "secret" not in str(caught.value)


def test_a_proxy_that_is_not_needed_may_be_of_any_kind() -> None:
    environ = {"HTTPS_PROXY": "socks5://proxy", "NO_PROXY": "kube.example"}
    assert environment_proxy("https://kube.example", environ) is None
