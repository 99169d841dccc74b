"""What may be set about all HTTP ports of a process together."""

from __future__ import annotations

import ipaddress
from functools import cached_property
from typing import TYPE_CHECKING

from pydantic import field_validator
from pydantic_settings import SettingsConfigDict

from bailiff.face_settings import EnvironmentSettings, Total
from bailiff.serving.byte_budget import DEFAULT_BYTES

if TYPE_CHECKING:
    from ipaddress import IPv4Network, IPv6Network


class EdgeSettings(EnvironmentSettings):
    """Read from the environment: `BAILIFF_` and the name in capitals.

    Attributes:
        max_bytes_under_way: bytes of bodies and answers that clients may make this process hold.
        allowed_hosts: names that requests may bear in Host, separated by commas; `*.example.com`
            for all below it, `*` for any. Addresses, localhost and what the port listens on are
            allowed anyway.
        trusted_proxies: addresses or networks, separated by commas, whose X-Forwarded-For and
            X-Forwarded-Proto are believed, and whose connections are bounded only in all.

    Raises:
        pydantic.ValidationError: a value is of another type, or out of its bounds.
    """

    model_config = SettingsConfigDict(env_prefix="BAILIFF_", frozen=True, extra="forbid")

    max_bytes_under_way: Total = DEFAULT_BYTES
    allowed_hosts: str = ""
    trusted_proxies: str = ""

    @field_validator("trusted_proxies")
    @classmethod
    def _are_networks(cls, given: str) -> str:
        for one in split(given):
            ipaddress.ip_network(one)
        return given

    @cached_property
    def networks(self) -> tuple[IPv4Network | IPv6Network, ...]:
        """Of the trusted proxies."""
        return tuple(ipaddress.ip_network(one) for one in split(self.trusted_proxies))


def split(text: str) -> list[str]:
    """What is separated by commas."""
    return [one.strip() for one in text.split(",") if one.strip()]
