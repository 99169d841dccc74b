"""Bodies that are as hard as they can be: sizes, nulls, lengths and nesting, up to every limit."""

from __future__ import annotations

from typing import NamedTuple

import hypothesis.strategies as st

MIB = 1024 * 1024


class Asked(NamedTuple):
    """A body for one path, and what it is in words."""

    path: str
    body: bytes
    words: str


def _repeat(item: bytes, size: int) -> bytes:
    """A list of as many of an item as fit into so many bytes."""
    return b"[" + b",".join([item] * max(1, size // (len(item) + 1))) + b"]"


def _numbered(item: bytes, size: int) -> bytes:
    """A list of as many items as fit, each with its number in it twice."""
    number = max(1, size // (len(item) + 10))
    return b"[" + b",".join(item % (i, i) for i in range(number)) + b"]"


def _nested(size: int, opening: bytes, closing: bytes) -> bytes:
    depth = max(1, size // (len(opening) + len(closing)))
    return opening * depth + b"0" + closing * depth


_NULLS = b'{"metadata":{"labels":{"a":null}},"spec":null}'
_DEVICES = b'"pods":%b,"deviceTaints":{"resourceClaims":%b,"resourceSlices":%b}}'
_RULE = b'{"rule":{"spec":{"deviceSelector":{},"taint":{"key":"k","effect":"NoExecute"}}},'
# What a field may be filled with, by its length in bytes.
FILLINGS = {
    "empty objects": lambda size: _repeat(b"{}", size),
    "nulls": lambda size: _repeat(b"null", size),
    "empty lists": lambda size: _repeat(b"[]", size),
    "numbers": lambda size: _repeat(b"7", size),
    "long numbers": lambda size: _repeat(b"9" * 4000, size),
    "one number": lambda size: b"9" * max(1, size),
    "one string": lambda size: b'"' + b"a" * size + b'"',
    "escapes": lambda size: b'"' + b"\\u0001" * (size // 6) + b'"',
    "commas in a string": lambda size: b'"' + b",{[" * (size // 3) + b'"',
    "nested lists": lambda size: _nested(size, b"[", b"]"),
    "nested objects": lambda size: _nested(size, b'{"a":', b"}"),
    "ninety levels": lambda size: _repeat(b"[" * 90 + b"]" * 90, size),
    "taints": lambda size: _repeat(b'{"effect":"NoExecute"}', size),
    "tolerations": lambda size: _repeat(b'{"operator":"Exists","tolerationSeconds":9}', size),
    "pods": lambda size: _repeat(b'{"metadata":{"name":"p"}}', size),
    "pods with nulls": lambda size: _repeat(
        b'{"metadata":{"labels":{"a":null}},"spec":null}', size
    ),
    "claims": lambda size: _repeat(
        b'{"status":{"allocation":{"devices":{"results":[{"device":"d"}]}}}}', size
    ),
    "slices of one device": lambda size: (
        b"["
        + b",".join(
            b'{"metadata":{"name":"s%d"},"spec":{"devices":[{"name":"d","taints":'
            b'[{"key":"k","effect":"NoExecute","timeAdded":"2026-01-01T00:00:00Z"}]}]}}' % i
            for i in range(max(1, size // 150))
        )
        + b"]"
    ),
    "users of one claim": lambda size: (
        b"["
        + b",".join(
            b'{"metadata":{"name":"p%d"},"spec":{"nodeName":"n","resourceClaims":'
            b'[{"name":"x","resourceClaimName":"c"}]}}' % i
            for i in range(max(1, size // 100))
        )
        + b"]"
    ),
    "nodes, each of its own kind": lambda size: _numbered(
        b'{"metadata":{"name":"n%d"},"spec":{"taints":[{"key":"k%d","effect":"NoExecute"}]}}', size
    ),
    "nodes that are alike": lambda size: _numbered(b'{"metadata":{"name":"%d-%d"}}', size),
    "maintenances": lambda size: _numbered(
        b'{"nodes":["n0","n1"],"startsAt":"2026-01-01T00:00:00Z","reason":"%d %d"}', size
    ),
    "long keys": lambda size: _repeat(b'{"effect":"NoExecute","key":"%b"}' % (b"k" * 317), size),
}
PLACES = {
    "/v1/decisions": (
        b'{"pod":%b,"node":{"spec":{"taints":[{"key":"a","effect":"NoExecute"}]}}}',
        b'{"pod":{"spec":{"tolerations":%b}},"node":{"spec":{"taints":%b}}}',
        b'{"pod":{"spec":null},"node":{},"x":%b}',
        b'{"pod":{},"node":{},"nodeTaints":{"firstObserved":%b}}',
        b'{"pod":{"spec":{"resourceClaims":%b}},"deviceTaints":{"resourceClaims":%b}}',
        b"%b",
    ),
    "/v1/decisions/batch": (
        b'{"pods":%b,"node":{"spec":{"taints":%b}}}',
        b'{"pods":%b,"node":{"spec":{"taints":%b}},"options":{"explain":true}}',
        b'{"pods":[{"spec":{"tolerations":%b}}],"node":{"spec":{"taints":%b}}}',
        b"{" + _DEVICES,
        b'{"options":{"explain":true},' + _DEVICES,
        b'{"pods":[],"node":null,"x":%b}',
    ),
    "/v1/previews/taint-change": (
        b'{"pods":%b,"node":{"spec":{"taints":%b}},"addTaints":%b,"removeTaints":[{"key":"a"}]}',
        b'{"pods":[{}],"node":{"spec":{"taints":%b}},"addTaints":%b}',
    ),
    "/v1/previews/device-taint-rule": (
        _RULE + _DEVICES,
        b'{"rule":%b}',
    ),
    "/v1/scheduling/nodes": (
        b'{"pod":{"spec":{"tolerations":%b}},"nodes":%b}',
        b'{"pod":{},"nodes":[{"metadata":{"name":"n"},"spec":{"taints":%b}}]}',
        b'{"pod":{"spec":{"tolerations":%b}},"nodes":%b,"maintenance":%b}',
        b'{"pod":{"metadata":{"name":"p"}},"nodes":%b,"deviceTaints":{"resourceClaims":%b}}',
    ),
    "/scheduler/extender/v1/filter": (
        b'{"Pod":{"spec":{"tolerations":%b}},"Nodes":{"items":%b}}',
        b'{"Pod":{},"NodeNames":%b}',
    ),
    "/scheduler/extender/v1/preempt": (b'{"Pod":{},"NodeNameToVictims":{"n":{"Pods":%b}}}',),
}
SIZES = {"/v1/decisions": 1 * MIB}
LARGEST = 16 * MIB


def _made(path: str, place: bytes, fillings: list[str], sizes: list[float]) -> Asked:
    number = place.count(b"%b")
    limit = SIZES.get(path, LARGEST) - 200
    shares = [share / sum(sizes[:number]) * sizes[-1] for share in sizes[:number]]
    parts = [
        FILLINGS[name](int(limit * share)) for name, share in zip(fillings, shares, strict=False)
    ]
    body = place % tuple(parts)
    words = place.decode()
    for filling in fillings[:number]:
        words = words.replace("%b", f"<{filling}>", 1)
    return Asked(path, body, f"{words} ({', '.join(f'{len(p):,}' for p in parts)} bytes)")


def bodies() -> st.SearchStrategy[Asked]:
    """Any filling in any place, at any length up to the limit and a little beyond."""
    share = st.floats(0.001, 1)
    return st.sampled_from(sorted(PLACES)).flatmap(
        lambda path: st.builds(
            _made,
            st.just(path),
            st.sampled_from(PLACES[path]),
            st.lists(st.sampled_from(sorted(FILLINGS)), min_size=3, max_size=3),
            st.tuples(share, share, share, st.floats(0.001, 1.02)).map(list),
        )
    )
