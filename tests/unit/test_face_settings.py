"""Settings of a face from arguments and the environment."""

import contextlib
import math
from typing import Any

import pytest
from pydantic import ValidationError

from bailiff.access.settings import AccessSettings
from bailiff.face_settings import EnvironmentSettings, FaceSettings, SettingsError
from bailiff.grpc_api import GrpcSettings
from bailiff.rest_api import RestSettings
from bailiff.serving import EdgeSettings
from tests.harness.faces.grpc_face import running

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


ALL: tuple[type[EnvironmentSettings], ...] = (
    GrpcSettings,
    RestSettings,
    AccessSettings,
    EdgeSettings,
)
NUMBERS = [(kind, name) for kind in ALL for name, value in kind() if type(value) in (int, float)]
ODD = ["inf", "-inf", "nan", "1e12", str(10**12), str(2**31 - 1), str(2**31), "99999999999", "1e-9"]


def longest(kind: type[EnvironmentSettings], name: str) -> Any:
    """The greatest value that is allowed."""
    field: Any = kind.model_fields[name]
    bounds = [*field.metadata, *(one for arg in _parts(field.annotation) for one in arg)]
    (found,) = (one.le for one in bounds if hasattr(one, "le"))
    return found


def _parts(annotation: Any) -> list[Any]:
    """What is said of the parts of an optional type."""
    found = [getattr(one, "__metadata__", ()) for one in getattr(annotation, "__args__", ())]
    return [one.metadata for parts in found for one in parts if hasattr(one, "metadata")]


def in_32_bits(settings: GrpcSettings) -> bool:
    return all(-(2**31) <= value < 2**31 for _, value in settings.channel_arguments())


@pytest.mark.parametrize(("kind", "name"), NUMBERS)
def test_an_odd_number_is_refused_by_name_or_is_one_that_works(
    monkeypatch: pytest.MonkeyPatch, kind: type[EnvironmentSettings], name: str
) -> None:
    variable = f"{kind.model_config['env_prefix']}{name}".upper()
    for odd in ODD:
        monkeypatch.setenv(variable, odd)
        try:
            settings = kind.read()
        except SettingsError as error:
            assert str(error).startswith(f"{variable}: ")  # noqa: PT017 - or none is raised
            continue
        value = getattr(settings, name)
        assert math.isfinite(value)
        assert value <= longest(kind, name)
        assert not isinstance(settings, GrpcSettings) or in_32_bits(settings)


@pytest.mark.parametrize(("kind", "name"), NUMBERS)
def test_no_time_is_without_an_end(kind: type[EnvironmentSettings], name: str) -> None:
    if name.endswith("_seconds") and not name.endswith("_per_second"):
        assert longest(kind, name) <= 1_000_000


async def test_a_server_comes_up_with_the_greatest_of_all_numbers() -> None:
    most = {name: longest(GrpcSettings, name) for kind, name in NUMBERS if kind is GrpcSettings}
    settings = GrpcSettings(**{**most, "port": 0})
    assert in_32_bits(settings)
    async with running(settings):
        pass
