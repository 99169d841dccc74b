"""What all settings of the environment have: values are checked, and errors name the variable."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

# Whatever is larger than these is a mistake, and the libraries below count in 32 bits: bytes twice
# over, seconds as milliseconds. A million seconds are eleven days; no time is without a bound.
MOST, _MOST_BYTES = 1_000_000, 1_000_000_000
# What a process may hold, and a caller send, is no matter of 32 bits.
_MOST_IN_ALL = 10**12

Seconds = Annotated[float, Field(gt=0, le=MOST, allow_inf_nan=False)]
Count = Annotated[int, Field(gt=0, le=MOST)]
Bytes = Annotated[int, Field(gt=0, le=_MOST_BYTES)]
Total = Annotated[int, Field(gt=0, le=_MOST_IN_ALL)]
Rate = Annotated[float, Field(gt=0, le=_MOST_IN_ALL, allow_inf_nan=False)]


class SettingsError(ValueError):
    """A setting cannot be what it is; the message names the environment variable, and says why."""


class EnvironmentSettings(BaseSettings):
    """What is not given is read from the environment: a prefix and the name in capitals.

    Raises:
        pydantic.ValidationError: a value is of another type, or out of its bounds.
    """

    model_config = SettingsConfigDict(frozen=True, extra="forbid")

    @classmethod
    def read(cls, **given: Any) -> Self:  # noqa: ANN401 - as many types as there are settings
        """The settings that are given, and for the rest those of the environment.

        Raises:
            SettingsError: a value is of another type, or out of its bounds.
        """
        try:
            return cls(**given)
        except ValidationError as error:
            prefix = cls.model_config.get("env_prefix", "")
            wrong = (
                f"{prefix}{'_'.join(map(str, one['loc'])).upper()}: {one['msg']}"
                for one in error.errors()
            )
            raise SettingsError("; ".join(wrong)) from error


class FaceSettings(EnvironmentSettings):
    """Where a face listens. What it bears stands in the settings of each.

    The prefix is that of the face, as in `BAILIFF_REST_MAX_CONNECTIONS`.

    Attributes:
        host: address to listen on. Default: this machine only, so that trying it out exposes
            nothing; a container sets 0.0.0.0.
        port: TCP port; 0 takes a free one.
    """

    host: str = "127.0.0.1"
    port: int = Field(default=0, ge=0, le=65535)
