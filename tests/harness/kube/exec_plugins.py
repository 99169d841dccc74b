"""Exec plugins for tests: small Python programs, and the kubeconfig's section that names them."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

V1 = "client.authentication.k8s.io/v1"


def plugin(folder: Path, body: str, version: str = V1, **more: Any) -> dict[str, Any]:
    """A user of a kubeconfig whose plugin runs these lines of Python."""
    script = folder / "plugin.py"
    script.write_text(body)
    # Without `site` it starts in half the time.
    own = {"apiVersion": version, "command": sys.executable, "args": ["-S", str(script)]}
    return {"exec": own | {"interactiveMode": "Never"} | more}


def says(version: str = V1, **status: str) -> str:
    """The line of a plugin that answers with this status."""
    answer = {"apiVersion": version, "kind": "ExecCredential", "status": status}
    return f"print({json.dumps(answer)!r})"
