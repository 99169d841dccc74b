"""What all settings of the environment have: values are checked, and errors name the variable."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict


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
