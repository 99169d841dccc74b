"""Exec plugins: programs that print credentials for whoever runs them, as clouds have them.

What is told to the program, what it answers and what is refused are client-go's
(plugin/pkg/client/auth/exec/exec.go, pkg/apis/clientauthentication; KEP-541). Three things are
stricter here, because this runs in a service: the program is never given a terminal, it may not
print without end, and when it is given up all that it has started ends with it.
"""

from __future__ import annotations

import os
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from bailiff.cluster.errors import ConfigError
from bailiff.cluster.subprocesses import ProgramError, output_of

if TYPE_CHECKING:
    from pathlib import Path

_GROUP = "client.authentication.k8s.io"
_VERSIONS = (f"{_GROUP}/v1", f"{_GROUP}/v1beta1")
# Bytes of an answer: a token and a pair of certificates have a hundredth of it.
_MAX_OUTPUT = 2**20


@dataclass(frozen=True, slots=True)
class Credential:
    """What a plugin gave: a token, a certificate with its key, or both.

    Attributes:
        token: a bearer token, or "".
        certificate: in PEM, or None; never without `key`.
        key: in PEM, or None.
        expires_at: when it ends, or None where the plugin does not say.
    """

    token: str = field(default="", repr=False)
    certificate: bytes | None = field(default=None, repr=False)
    key: bytes | None = field(default=None, repr=False)
    expires_at: datetime | None = None


class _Variable(msgspec.Struct, frozen=True):
    name: str
    value: str = ""


class ExecPlugin(msgspec.Struct, frozen=True, rename="camel"):
    """The `exec` section of a user in a kubeconfig (client-go tools/clientcmd/api/v1/types.go).

    `interactive_mode` may be missing, in v1 too, where kubectl demands it: with any value that is
    taken the program gets no terminal.
    """

    api_version: str
    command: str
    args: list[str] | None = None
    env: list[_Variable] | None = None
    install_hint: str | None = None
    provide_cluster_info: bool | None = None
    interactive_mode: Literal["Never", "IfAvailable", "Always"] | None = None

    def __repr__(self) -> str:
        # Arguments and variables may hold secrets.
        return f"ExecPlugin(command={self.command!r})"

    async def run(self, cluster: dict[str, Any], folder: Path) -> Credential:
        """Run it once. Whoever cancels this ends the program and all that it has started.

        Args:
            cluster: what it is told of the cluster, if `provide_cluster_info` says so.
            folder: that a command with a slash, but not at its beginning, is looked for in.

        Raises:
            ConfigError: it cannot be run, failed, or did not print credentials. No message has
                an argument, a variable or a word of the output in it.
        """
        environment = os.environ | {each.name: each.value for each in self.env or ()}
        environment["KUBERNETES_EXEC_INFO"] = self._told(cluster)
        try:
            output = await output_of(self._argv(folder), environment, _MAX_OUTPUT)
        except ProgramError as error:
            raise ConfigError(f"exec plugin {self.command}: {error}") from None
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise ConfigError(f"exec plugin {self.command}: {why}{self._hint()}") from None
        return self._credential(output)

    def _told(self, cluster: dict[str, Any]) -> str:
        spec: dict[str, Any] = {"interactive": False}
        if self.provide_cluster_info:
            spec["cluster"] = cluster
        told = {"kind": "ExecCredential", "apiVersion": self.api_version, "spec": spec}
        return msgspec.json.encode(told).decode()

    def _argv(self, folder: Path) -> list[str]:
        # A command without a slash is looked for in PATH.
        command = str(folder / self.command) if os.sep in self.command else self.command
        return [command, *(self.args or ())]

    def _hint(self) -> str:
        """What the kubeconfig says to people who do not have the program, on one line."""
        words = " ".join((self.install_hint or "").split())
        shown = "".join(each for each in words if unicodedata.category(each) != "Cc")
        return f". {shown}" if shown else ""

    def _credential(self, output: bytes) -> Credential:
        try:
            answer = msgspec.json.decode(output, type=_Answer)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise ConfigError(f"exec plugin {self.command} printed no ExecCredential") from None
        status = answer.status
        if (answer.kind, answer.api_version) != ("ExecCredential", self.api_version):
            raise ConfigError(f"exec plugin {self.command} answered in another version")
        if status is None or not (status.token or status.client_certificate_data):
            raise ConfigError(f"exec plugin {self.command} gave no token and no certificate")
        return status.credential(self.command)


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    token: str | None = None
    client_certificate_data: str | None = None
    client_key_data: str | None = None
    expiration_timestamp: Annotated[datetime, msgspec.Meta(tz=True)] | None = None

    def credential(self, command: str) -> Credential:
        certificate, key = self.client_certificate_data, self.client_key_data
        if bool(certificate) != bool(key):
            raise ConfigError(f"exec plugin {command} gave a certificate or a key, not both")
        return Credential(
            token=self.token or "",
            certificate=certificate.encode() if certificate else None,
            key=key.encode() if key else None,
            expires_at=self.expiration_timestamp,
        )


class _Answer(msgspec.Struct, frozen=True, rename="camel"):
    kind: str = ""
    api_version: str = ""
    status: _Status | None = None


def exec_plugin(section: object) -> ExecPlugin:
    """The plugin that the `exec` section of a kubeconfig describes.

    Raises:
        ConfigError: it lacks something, is of a version that Kubernetes has given up, or is
            `interactiveMode: Always`.
    """
    try:
        plugin = msgspec.convert(section, ExecPlugin)
    except msgspec.ValidationError:
        # Its text may quote the value, which may be a secret.
        raise ConfigError("the exec section is not as Kubernetes defines it") from None
    if plugin.api_version not in _VERSIONS:
        raise ConfigError(f"exec plugin: apiVersion is none of {', '.join(_VERSIONS)}")
    if not plugin.command:
        raise ConfigError("exec plugin: no command")
    if plugin.interactive_mode == "Always":
        raise ConfigError(
            f"exec plugin {plugin.command}: interactiveMode is Always, but there is no terminal"
        )
    return plugin
