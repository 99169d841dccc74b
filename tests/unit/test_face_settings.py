"""Settings of a face from arguments and the environment."""

import contextlib

import pytest
from pydantic import ValidationError

from bailiff.face_settings import FaceSettings, SettingsError
from bailiff.grpc_api import GrpcSettings
from bailiff.rest_api import RestSettings

KINDS: dict[str, type[RestSettings] | type[GrpcSettings]] = {
    "BAILIFF_REST": RestSettings,
    "BAILIFF_GRPC": GrpcSettings,
}


def test_what_is_given_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAILIFF_REST_PORT", "7000")
    monkeypatch.setenv("BAILIFF_REST_MAX_THREADS", "7")
    settings = RestSettings.read(port=8000)
    assert (settings.port, settings.max_threads) == (8000, 7)
    assert RestSettings.read().port == 7000


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("BAILIFF_REST_PORT", "tcp://10.0.0.1:80", "valid integer"),
        ("BAILIFF_REST_PORT", "70000", "65535"),
        ("BAILIFF_REST_MAX_THREADS", "0", "greater than 0"),
        ("BAILIFF_REST_BODY_TIMEOUT_SECONDS", "soon", "valid number"),
        ("BAILIFF_GRPC_PORT", "70000", "65535"),
        ("BAILIFF_GRPC_MAX_LONG_MESSAGES", "-1", "greater than or equal to 0"),
        ("BAILIFF_GRPC_MAX_CONNECTION_AGE_SECONDS", "0", "greater than 0"),
    ],
)
def test_an_error_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, why: str
) -> None:
    monkeypatch.setenv(name, text)
    with pytest.raises(SettingsError, match=rf"^{name}: .*{why}"):
        KINDS[name[: len("BAILIFF_REST")]].read()


@pytest.mark.parametrize("kind", KINDS.values())
def test_no_number_may_be_negative(kind: type[FaceSettings]) -> None:
    numbers = [name for name, value in kind() if type(value) in (int, float)]
    assert numbers
    assert [name for name in numbers if not _is_refused(kind, name, -1)] == []


def _is_refused(kind: type[FaceSettings], name: str, value: int) -> bool:
    with contextlib.suppress(SettingsError):
        kind.read(**{name: value})
        return False
    return True


def test_a_setting_that_there_is_not_is_an_error() -> None:
    with pytest.raises(SettingsError, match="BAILIFF_REST_MAX_INFLIGHT"):
        RestSettings.read(max_inflight=7)


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError):
        RestSettings().port = 7
