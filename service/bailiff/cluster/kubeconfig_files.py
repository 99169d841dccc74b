"""The files of a kubeconfig, merged as client-go does (tools/clientcmd/loader.go)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from bailiff.cluster.errors import ConfigError

if TYPE_CHECKING:
    from bailiff.cluster.login import FilesRead


@dataclass(frozen=True, slots=True)
class Entry:
    """One cluster, context or user of a kubeconfig.

    Attributes:
        value: what it says. It may hold secrets.
        folder: where its file is; relative names of files are meant from there.
    """

    value: dict[str, Any]
    folder: Path

    def text(self, key: str) -> str | None:
        """A value that is a text; None where there is none.

        Raises:
            ConfigError: it is something else.
        """
        value = self.value.get(key)
        if value is not None and not isinstance(value, str):
            raise ConfigError(f"{key} is not a text")
        return value

    def flag(self, key: str) -> bool:
        """A value that is true or false; False where there is none.

        Raises:
            ConfigError: it is something else.
        """
        value = self.value.get(key) or False
        if not isinstance(value, bool):
            raise ConfigError(f"{key} is neither true nor false")
        return value


class KubeconfigFiles:
    """What several files say together: of two entries of one name the first counts.

    Attributes:
        current_context: the name that the first file to give one gives; or "".
    """

    def __init__(self, names: str, read: FilesRead) -> None:
        """Read them.

        Args:
            names: one or more paths, as $KUBECONFIG has them; those that do not exist are skipped.
            read: is told of each of them.

        Raises:
            ConfigError: none exists, one is too large, or is no kubeconfig.
            OSError: one cannot be read.
            yaml.YAMLError: one is no YAML; do not show it, it quotes the file.
        """
        self.current_context = ""
        # By "clusters", "contexts" or "users", and by name.
        self._entries: dict[tuple[str, str], Entry] = {}
        paths = [Path(each).expanduser() for each in names.split(os.pathsep) if each]
        for path in paths:
            read.note(path)
        present = [path for path in paths if path.exists()]
        if not present:
            raise ConfigError("there is no such file")
        for path in present:
            self._add(yaml.safe_load(read.read(path)), path.absolute().parent)

    def cluster(self, name: str | None) -> Entry:
        """One cluster; ConfigError if there is none of that name."""
        return self._entry("clusters", name)

    def context(self, name: str) -> Entry:
        """One context; ConfigError if there is none of that name."""
        return self._entry("contexts", name)

    def user(self, name: str) -> Entry:
        """One user; ConfigError if there is none of that name."""
        return self._entry("users", name)

    def _entry(self, section: str, name: str | None) -> Entry:
        found = self._entries.get((section, name)) if name else None
        if found is None:
            raise ConfigError(f"{section} has none of the name {name!r}")
        return found

    def _add(self, content: object, folder: Path) -> None:
        if not isinstance(content, dict):
            raise ConfigError("a file of it is no kubeconfig")
        current = content.get("current-context")
        self.current_context = self.current_context or (current if isinstance(current, str) else "")
        for section in ("clusters", "contexts", "users"):
            for one in content.get(section) or ():
                value = one.get(section.removesuffix("s")) or {}
                if not isinstance(value, dict):
                    raise ConfigError(f"an entry of {section} says nothing that can be read")
                self._entries.setdefault((section, str(one["name"])), Entry(value, folder))
