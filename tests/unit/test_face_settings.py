"""Settings of a face from arguments and the environment."""

import pytest
from pydantic import ValidationError

from bailiff.face_settings import SettingsError
from bailiff.rest_api import RestSettings


def test_what_is_given_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAILIFF_REST_PORT", "7000")
    monkeypatch.setenv("BAILIFF_REST_MAX_IN_FLIGHT", "7")
    settings = RestSettings.read(port=8000)
    assert (settings.port, settings.max_in_flight) == (8000, 7)
    assert RestSettings.read().port == 7000


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("BAILIFF_REST_PORT", "tcp://10.0.0.1:80", "valid integer"),
        ("BAILIFF_REST_PORT", "70000", "65535"),
        ("BAILIFF_REST_MAX_IN_FLIGHT", "0", "greater than 0"),
        ("BAILIFF_REST_BODY_TIMEOUT_SECONDS", "soon", "valid number"),
    ],
)
def test_an_error_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, why: str
) -> None:
    monkeypatch.setenv(name, text)
    with pytest.raises(SettingsError, match=rf"^{name}: .*{why}"):
        RestSettings.read()


def test_a_setting_that_there_is_not_is_an_error() -> None:
    with pytest.raises(SettingsError, match="BAILIFF_REST_MAX_INFLIGHT"):
        RestSettings.read(max_inflight=7)


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError):
        RestSettings().port = 7
