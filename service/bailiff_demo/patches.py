"""The three patch languages: JSON patch, merge patch and strategic merge patch.

Apply, the fourth, is in apply.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from bailiff_demo import errors
from bailiff_demo.errors import ApiError
from bailiff_demo.objects import clone

if TYPE_CHECKING:
    from bailiff_demo.objects import JsonObject

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
PATCH_TYPES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH)
# As kube-apiserver's: a longer list is an attack, not a patch.
MAX_OPERATIONS = 10_000
# Copies of copies double with each operation.
MAX_COPIED_BYTES = 3 * 1024 * 1024

# Lists of objects that merge by the value of a key, in patches and in apply: from the patchStrategy
# and listType tags of k8s.io/api's types. Others, such as taints and tolerations, are replaced.
MERGE_KEYS: dict[str, str] = {
    "addresses": "type",
    "conditions": "type",
    "containers": "name",
    "env": "name",
    "initContainers": "name",
    "ownerReferences": "uid",
    "ports": "containerPort",
    "reservedFor": "uid",
    "resourceClaimStatuses": "name",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "volumeMounts": "mountPath",
    "volumes": "name",
}


def apply_patch(media_type: str, obj: JsonObject, patch: Any) -> JsonObject:  # noqa: ANN401 - any JSON value
    """The object with a patch applied; neither argument is changed.

    Args:
        media_type: one of PATCH_TYPES.
        obj: the object as it is.
        patch: the parsed body.

    Raises:
        ApiError: 400, no such patch; 413, too long; 422, it does not fit the object.
    """
    if media_type == JSON_PATCH:
        patched = _apply_json_patch(obj, patch)
    elif not isinstance(patch, dict):
        raise errors.bad_request("the patch must be a JSON object")
    else:
        patched = _merge(obj, patch, strategic=media_type == STRATEGIC_PATCH)
    if not isinstance(patched, dict) or not isinstance(patched.get("metadata"), dict):
        raise errors.bad_request("the patched object has no metadata")
    return patched


def _merge(target: Any, patch: Any, *, strategic: bool) -> Any:  # noqa: ANN401 - any JSON value
    """Null deletes, objects merge (RFC 7386); strategic ones merge lists by their keys, too.

    Of strategicpatch/patch.go's directives these are obeyed: `$patch: replace` and
    `$patch: delete`. Others tell of an order, or of values that are gone, and are skipped.
    """
    if not isinstance(patch, dict):
        return clone(patch)
    directive = patch.get("$patch") if strategic else None
    if directive not in (None, "merge", "replace", "delete"):
        raise errors.bad_request(f"Unknown patch type found: {directive}")
    merged = clone(target) if isinstance(target, dict) and directive in (None, "merge") else {}
    for key, value in patch.items() if directive != "delete" else ():
        if value is None:
            merged.pop(key, None)
        elif strategic and key in MERGE_KEYS and isinstance(value, list):
            merged[key] = _merge_list(merged.get(key), value, MERGE_KEYS[key])
        elif not strategic or not key.startswith("$"):
            merged[key] = _merge(merged.get(key), value, strategic=strategic)
    return merged


def _merge_list(present: Any, changes: list[Any], key: str) -> list[Any]:  # noqa: ANN401 - any JSON value
    items = present if isinstance(present, list) else []
    if any(isinstance(item, dict) and item.get("$patch") == "replace" for item in changes):
        items = []
    merged = {_identity(item, key): item for item in items}
    for change in changes:
        if isinstance(change, dict) and change.keys() == {"$patch"}:
            continue
        identity = _identity(change, key)
        if change.get("$patch") == "delete":
            merged.pop(identity, None)
        else:
            merged[identity] = _merge(merged.get(identity), change, strategic=True)
    return list(merged.values())


def _identity(item: Any, key: str) -> str:  # noqa: ANN401 - any JSON value
    if not isinstance(item, dict) or key not in item:
        raise errors.bad_request(f"map: {item} does not contain declared merge key: {key}")
    return repr(item[key])


def _apply_json_patch(obj: JsonObject, patch: Any) -> Any:  # noqa: ANN401 - any JSON value
    """RFC 6902, with the refusals of evanphx/json-patch that kube-apiserver passes on."""
    if not isinstance(patch, list) or not all(isinstance(step, dict) for step in patch):
        raise errors.bad_request("the JSON patch must be a list of operations")
    if len(patch) > MAX_OPERATIONS:
        message = f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}"
        raise ApiError(413, "RequestEntityTooLarge", message)
    document, copied = {"": clone(obj)}, 0
    for step in patch:
        if step.get("op") == "copy":
            copied += len(msgspec.json.encode(_get(document, _pointer(step, "from"))))
        if copied > MAX_COPIED_BYTES:
            message = f"copy operations make more than {MAX_COPIED_BYTES} bytes"
            raise ApiError(413, "RequestEntityTooLarge", message)
        _operate(document, step)
    return document[""]


def _operate(document: JsonObject, step: JsonObject) -> None:
    operation, path = step.get("op"), _pointer(step, "path")
    match operation:
        case "add" | "replace" | "remove":
            if operation != "add":
                _get(document, path)
            value = None if operation == "remove" else clone(_value(step))
            _set(document, path, value, grow=operation == "add", remove=operation == "remove")
        case "move" | "copy":
            source = _pointer(step, "from")
            if operation == "move" and path[: len(source)] == source and path != source:
                raise _fails(f"cannot move {step['from']} into itself")
            value = clone(_get(document, source))
            if operation == "move":
                _set(document, source, remove=True)
            _set(document, path, value, grow=True)
        case "test":
            if _get(document, path, missing=_value(step) is None) != step["value"]:
                raise _fails(f"testing value {'/'.join(path)} failed")
        case _:
            raise errors.bad_request(f"Unexpected kind: {operation}")


def _value(step: JsonObject) -> Any:  # noqa: ANN401 - any JSON value
    if "value" not in step:
        raise errors.bad_request(f"the operation {step.get('op')} needs a value")
    return step["value"]


def _pointer(step: JsonObject, name: str) -> list[str]:
    text = step.get(name)
    if not isinstance(text, str) or (text and not text.startswith("/")):
        raise errors.bad_request(f"the operation's {name} must be a JSON pointer")
    return [token.replace("~1", "/").replace("~0", "~") for token in text.split("/")]


def _get(document: JsonObject, path: list[str], *, missing: bool = False) -> Any:  # noqa: ANN401 - any JSON value
    """The value at a path; None where there is none and that may be."""
    found: Any = document
    for token in path:
        if isinstance(found, dict) and token in found:
            found = found[token]
        elif isinstance(found, list) and (index := _index(token)) in range(len(found)):
            found = found[index]
        elif missing:
            return None
        else:
            raise _fails(f"the path {'/'.join(path)} does not exist in the object: missing value")
    return found


def _index(token: str) -> int:
    """The place in a list; -1 for what is no place."""
    is_place = token.isascii() and token.isdigit() and str(int(token[:9])) == token
    return int(token) if is_place else -1


def _set(
    document: JsonObject,
    path: list[str],
    value: object = None,
    *,
    grow: bool = False,
    remove: bool = False,
) -> None:
    parent, token = _get(document, path[:-1]), path[-1]
    if isinstance(parent, list):
        index = len(parent) if grow and token == "-" else _index(token)  # noqa: S105 - a part of a path
        if index not in range(len(parent) + grow):
            raise _fails(f"the path {'/'.join(path)} is outside of the list")
        parent[index : index + (not grow)] = [] if remove else [value]
    elif not isinstance(parent, dict):
        raise _fails(f"the path {'/'.join(path)} does not exist in the object: missing value")
    elif remove and len(path) == 1:
        raise _fails("the whole object cannot be removed")
    elif remove:
        del parent[token]
    else:
        parent[token] = value


def _fails(why: str) -> ApiError:
    message = f"the server rejected our request due to an error in our request: {why}"
    return ApiError(422, "Invalid", message)
