"""JSON patch (RFC 6902), with the refusals of evanphx/json-patch that kube-apiserver passes on."""

from __future__ import annotations

from typing import Any

from bailiff_demo import errors
from bailiff_demo.errors import ApiError
from bailiff_demo.objects import JsonObject, clone

# As kube-apiserver's: a longer list is an attack, not a patch.
MAX_OPERATIONS = 10_000


def apply_json_patch(obj: JsonObject, patch: Any) -> Any:  # noqa: ANN401 - any JSON value
    """The object after all operations.

    Raises:
        ApiError: 400, no JSON patch; 413, too long; 422, an operation fails.
    """
    if not isinstance(patch, list) or not all(isinstance(step, dict) for step in patch):
        raise errors.bad_request("the JSON patch must be a list of operations")
    if len(patch) > MAX_OPERATIONS:
        message = (
            f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(patch)}"
        )
        raise ApiError(413, "RequestEntityTooLarge", message)
    document = {"": clone(obj)}
    for step in patch:
        _apply(document, step)
    return document[""]


def _apply(document: JsonObject, step: JsonObject) -> None:
    path = _pointer(step, "path")
    match step.get("op"):
        case "add":
            _add(document, path, _value(step))
        case "remove":
            _remove(document, path)
        case "replace":
            _replace(document, path, _value(step))
        case "move":
            source = _pointer(step, "from")
            if path[: len(source)] == source and path != source:
                raise _fails(f"cannot move {step['from']} into itself")
            _add(document, path, _remove(document, source))
        case "copy":
            _add(document, path, clone(_get(document, _pointer(step, "from"))))
        case "test":
            _test(document, path, step)
        case other:
            raise errors.bad_request(f"Unexpected kind: {other}")


def _pointer(step: JsonObject, name: str) -> list[str]:
    text = step.get(name)
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise errors.bad_request(f"the operation's {name} must be a JSON pointer")
    return [token.replace("~1", "/").replace("~0", "~") for token in text.split("/")]


def _value(step: JsonObject) -> Any:  # noqa: ANN401 - any JSON value
    if "value" not in step:
        raise errors.bad_request(f"the operation {step.get('op')} needs a value")
    return clone(step["value"])


def _get(document: JsonObject, path: list[str]) -> Any:  # noqa: ANN401 - any JSON value
    found: Any = document
    for token in path:
        found = _child(found, token, path)
    return found


def _child(parent: Any, token: str, path: list[str]) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(parent, dict) and token in parent:
        return parent[token]
    if isinstance(parent, list):
        return parent[_index(parent, token, path)]
    raise _missing(path)


def _index(parent: list[Any], token: str, path: list[str], *, grow: bool = False) -> int:
    if grow and token == "-":  # noqa: S105 - a part of a path
        return len(parent)
    if not token.isascii() or not token.isdigit() or (len(token) > 1 and token[0] == "0"):
        raise _missing(path)
    index = int(token) if len(token) < 10 else len(parent) + 1
    if index >= len(parent) + grow:
        raise _missing(path)
    return index


def _add(document: JsonObject, path: list[str], value: Any) -> None:  # noqa: ANN401 - any JSON value
    parent = _get(document, path[:-1])
    if isinstance(parent, list):
        parent.insert(_index(parent, path[-1], path, grow=True), value)
    elif isinstance(parent, dict):
        parent[path[-1]] = value
    else:
        raise _missing(path)


def _remove(document: JsonObject, path: list[str]) -> Any:  # noqa: ANN401 - any JSON value
    parent = _get(document, path[:-1])
    found = _child(parent, path[-1], path)
    if isinstance(parent, list):
        del parent[_index(parent, path[-1], path)]
    else:
        del parent[path[-1]]
    return found


def _replace(document: JsonObject, path: list[str], value: Any) -> None:  # noqa: ANN401 - any JSON value
    parent = _get(document, path[:-1])
    _child(parent, path[-1], path)
    parent[_index(parent, path[-1], path) if isinstance(parent, list) else path[-1]] = value


def _test(document: JsonObject, path: list[str], step: JsonObject) -> None:
    try:
        found = _get(document, path)
    except ApiError:
        # A test for null holds where there is nothing.
        found = None
    if found != step.get("value"):
        raise _fails(f"testing value {'/'.join(path)} failed")


def _missing(path: list[str]) -> ApiError:
    return _fails(f"the path {'/'.join(path)} does not exist in the object: missing value")


def _fails(why: str) -> ApiError:
    return ApiError(
        422, "Invalid", f"the server rejected our request due to an error in our request: {why}"
    )
