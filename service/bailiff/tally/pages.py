"""The ConfigMap that holds the book: read, and written over the version that was read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bailiff.cluster import (
    CONFIG_MAPS,
    Cluster,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PatchType,
)
from bailiff.decisions.policies import EMPTY_BOOK, Book, Store, read_book, write_book

if TYPE_CHECKING:
    from bailiff.kinds import ConfigMap

_FIELD_MANAGER = "bailiff"


class Page(NamedTuple):
    """The book as it was read.

    Attributes:
        book: what it says.
        found: the ConfigMap; None: there is none yet.
    """

    book: Book = EMPTY_BOOK
    found: ConfigMap | None = None


class Pages:
    """One ConfigMap of a cluster. Every method raises ClusterError or BookError."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    async def read(self, store: Store) -> Page:
        """The book as it is now."""
        try:
            return _page(await self._cluster.get(CONFIG_MAPS, store.name, store.namespace))
        except NotFoundError as error:
            if not error.is_about("", CONFIG_MAPS.plural, store.name):
                # No API server, which would have said what there is none of.
                raise
            return Page()

    async def write(self, store: Store, page: Page, book: Book) -> Page:
        """Put another book in its place; ConflictError if it is no longer as it was read."""
        data = write_book(book)
        if page.found is None:
            return await self._create(store, data)
        metadata = page.found.metadata
        # null takes a key away (RFC 7396); what stays as it is need not be sent.
        changed: dict[str, str | None] = dict.fromkeys(page.found.data.keys() - data.keys())
        changed |= {k: text for k, text in data.items() if page.found.data.get(k) != text}
        seen = {"uid": metadata.uid, "resourceVersion": metadata.resource_version}
        body = {"metadata": seen, "data": changed}
        to = (CONFIG_MAPS, store.name, store.namespace, body)
        try:
            written = await self._cluster.patch(
                *to, patch_type=PatchType.MERGE, field_manager=_FIELD_MANAGER
            )
        except NotFoundError as error:
            # It was there a moment ago.
            raise ConflictError(error.message, status=error.status) from error
        return Page(book, written)

    async def _create(self, store: Store, data: dict[str, str]) -> Page:
        metadata = {"name": store.name, "namespace": store.namespace}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}
        try:
            created = await self._cluster.create(
                CONFIG_MAPS, body, store.namespace, field_manager=_FIELD_MANAGER
            )
        except ForbiddenError as error:
            # RBAC grants no create by name: somebody has deleted what was granted.
            how = f"kubectl create configmap {store.name} -n {store.namespace}"
            why = (
                f"it is not there, and Bailiff may not create it: run `{how}`, which an install "
                f"by helm takes over with --take-ownership ({error.message})"
            )
            raise ForbiddenError(why, status=error.status) from error
        return _page(created)


def _page(found: ConfigMap) -> Page:
    return Page(read_book(found.data), found)
