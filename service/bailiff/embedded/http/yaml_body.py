"""Bodies of server-side apply: YAML, which JSON is too."""

from __future__ import annotations

from typing import Any

import msgspec
import yaml

from bailiff.embedded import errors
from bailiff.embedded.http.request import parse
from bailiff.embedded.objects import JsonObject, without_nulls

# Our YAML parser is slow, and others wait for it; JSON may be as long as any body.
MAX_YAML_BYTES = 64 * 1024


class _Loader(yaml.SafeLoader):
    """Plain values only: no aliases, which grow without bound, and times stay text."""

    def compose_node(self, parent: Any, index: Any) -> Any:  # noqa: ANN401 - PyYAML's
        """See Composer."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not understood")
        return super().compose_node(parent, index)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, form) for tag, form in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def parse_yaml(raw: bytes) -> JsonObject:
    """An object, without nulls.

    Raises:
        ApiError: 400, malformed or no object; 413, too long for YAML.
    """
    value = _value(raw)
    if not isinstance(value, dict):
        raise errors.bad_request("error decoding YAML: the request body must be an object")
    present: JsonObject = without_nulls(value)
    return present


def _value(raw: bytes) -> Any:  # noqa: ANN401 - any JSON value
    if raw.lstrip()[:1] == b"{" and _is_json(raw):
        return parse(raw)
    if len(raw) > MAX_YAML_BYTES:
        raise errors.too_large(MAX_YAML_BYTES)
    try:
        loaded = yaml.load(raw, _Loader)  # noqa: S506 - a safe loader, made safer
        # What YAML knows and JSON does not, such as keys that are no text, is refused here.
        return parse(msgspec.json.encode(loaded))
    except (yaml.YAMLError, UnicodeDecodeError, TypeError, ValueError, RecursionError) as error:
        raise errors.bad_request(f"error decoding YAML: {error}") from error


def _is_json(raw: bytes) -> bool:
    try:
        msgspec.json.decode(raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return False
    return True
