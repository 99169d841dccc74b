"""Settings that cannot be: each is told by its name, when they are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bailiff.client import (
    AsyncGrpcClient,
    AsyncRestClient,
    ClientSettings,
    GrpcClient,
    RestClient,
    Retries,
    Tls,
    UnauthenticatedError,
)
from bailiff.client.tokens import Bearer

ADDRESSES: dict[Callable[..., Any], str] = {
    RestClient: "http://127.0.0.1:1",
    AsyncRestClient: "http://127.0.0.1:1",
    GrpcClient: "127.0.0.1:1",
    AsyncGrpcClient: "127.0.0.1:1",
}


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: Retries(attempts=0), "attempts must be 1 or more"),
        (lambda: Retries(budget=-1), "budget must be 0 or more"),
        (lambda: Retries(first_pause=-1.0), "first_pause must be 0 or more"),
        (lambda: Retries(first_pause=9.0), "not above longest_pause"),
        (lambda: Retries(longest_pause=86_401.0), "longest_pause is at most 86400 s"),
        (lambda: ClientSettings(timeout=0.0), "^timeout must be above 0 s"),
        (lambda: ClientSettings(timeout=float("nan")), "^timeout is at most 86400 s"),
        (lambda: ClientSettings(attempt_timeout=-1.0), "attempt_timeout must be above 0 s"),
        (lambda: ClientSettings(keepalive_timeout=0.0), "keepalive_timeout must be above 0 s"),
        (lambda: ClientSettings(keepalive=9.9), "keepalive must be 10 s or more"),
        (lambda: ClientSettings(max_connections=0), "max_connections must be 1 or more"),
        (lambda: ClientSettings(token="a", token_file="b"), "token or token_file, not both"),
        (lambda: Tls(key_file="b"), "certificate_file, which is missing"),
    ],
)
def test_settings_that_cannot_be(make: Callable[[], object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        make()


@pytest.mark.parametrize(
    ("make", "words", "told"),
    [
        (ClientSettings, {"timeout": "5"}, "timeout is a number of seconds, not str"),
        (ClientSettings, {"keepalive": None}, "keepalive is a number of seconds, not NoneType"),
        (ClientSettings, {"token": 5}, "token is a text, or a function"),
        (ClientSettings, {"max_connections": 1.5}, "max_connections is a whole number, not float"),
        (ClientSettings, {"retries": 5}, "retries are Retries, not int"),
        (ClientSettings, {"tls": {"ca_file": "x"}}, "tls is a Tls, not dict"),
        (Retries, {"attempts": "5"}, "attempts is a whole number, not str"),
        (Retries, {"first_pause": "1"}, "first_pause is a number of seconds, not str"),
    ],
)
def test_settings_of_another_type(make: Any, words: dict[str, Any], told: str) -> None:
    with pytest.raises(TypeError, match=told):
        make(**words)


@pytest.mark.parametrize("token", [b"x", None, 5])
def test_a_source_that_returns_no_text_is_no_token(token: Any) -> None:
    bearer = Bearer(ClientSettings(token=lambda: token), host="127.0.0.1", secure=False)
    with pytest.raises(UnauthenticatedError) as raised:
        bearer.headers()
    assert raised.value.code == "no_token"


@pytest.mark.parametrize(("make", "address"), ADDRESSES.items())
@pytest.mark.parametrize("wrong", [{}, {"timeout": 5}, 5, Retries()], ids=repr)
def test_settings_are_settings(make: Callable[..., Any], address: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match="settings are ClientSettings, not "):
        make(address, wrong)
