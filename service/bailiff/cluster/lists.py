"""Reading whole collections: in pages, in one consistent state, whatever cannot be decoded told."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import aclosing
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from bailiff import kinds
from bailiff.cluster import request as requests
from bailiff.cluster.answers import decode_answer
from bailiff.cluster.errors import ExpiredError, ResponseError, TooLongError
from bailiff.cluster.listing import ListHead, Listing, Page, decode_page
from bailiff.cluster.page_limit import PageLimit
from bailiff.cluster.request import Request, Selection

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterable

    from bailiff.cluster.resource import Resource
    from bailiff.cluster.settings import ClusterSettings
    from bailiff.cluster.unreadable import Unreadable

T = TypeVar("T")


class Lists(ABC):
    """Who can send a request can read lists; every method raises ClusterError.

    Attributes:
        settings: the size of a page, seconds for it, and how often to begin again.
    """

    def __init__(self, settings: ClusterSettings) -> None:
        self.settings = settings

    @abstractmethod
    async def send(self, request: Request, within: float | None = None) -> bytes:
        """Any request; the body of its 2xx answer, undecoded. `within` as in Transport.send."""

    async def list(
        self,
        resource: Resource[T],
        *,
        namespace: str = "",
        field_selector: str = "",
        label_selector: str = "",
    ) -> Listing[T]:
        """All objects that match, in one consistent state of the cluster.

        Read in pages; when the server forgets that state half way (410), from the beginning.
        """
        selection = Selection(
            namespace=namespace, field_selector=field_selector, label_selector=label_selector
        )
        return await self.list_selected(resource, selection)

    async def list_selected(
        self, resource: Resource[T], selection: Selection, each: Callable[[T], T] | None = None
    ) -> Listing[T]:
        """As `list`; `each` is applied to every object as soon as its page is decoded."""
        listing = await self.list_readable(resource, selection, each)
        _check_readable(resource, listing.unreadable)
        return listing

    async def list_first(
        self,
        resource: Resource[T],
        selection: Selection,
        most: int,
        each: Callable[[T], T] | None = None,
    ) -> tuple[T, ...]:
        """The first objects of a list.

        Args:
            resource: their kind.
            selection: which of them.
            most: so many, where there are so many; no page is read beyond that.
            each: as of `list_selected`.
        """
        found: list[T] = []
        async with aclosing(self.pages(resource, selection)) as pages:
            async for page in pages:
                _check_readable(resource, page.unreadable)
                found += page.items if each is None else map(each, page.items)
                if len(found) >= most:
                    break
        return tuple(found[:most])

    async def list_readable(
        self, resource: Resource[T], selection: Selection, each: Callable[[T], T] | None = None
    ) -> Listing[T]:
        """As `list_selected`, for who can do without objects that cannot be decoded."""
        for _ in range(self.settings.max_list_restarts):
            try:
                return await self._list_once(resource, selection, each)
            except ExpiredError:
                continue
        return await self._list_once(resource, selection, each)

    async def _list_once(
        self, resource: Resource[T], selection: Selection, each: Callable[[T], T] | None
    ) -> Listing[T]:
        items: list[T] = []
        unreadable: list[Unreadable] = []
        version = ""
        async with aclosing(self.pages(resource, selection)) as pages:
            async for page in pages:
                items += page.items if each is None else map(each, page.items)
                unreadable += page.unreadable
                version = page.metadata.resource_version
        return Listing(tuple(items), version, tuple(unreadable))

    async def pages(
        self, resource: Resource[T], selection: Selection
    ) -> AsyncGenerator[Page[T], None]:
        """The pages of a list, decoded one by one so that never two are held as bytes."""
        token, limit = "", PageLimit(self.settings.page_size, self.settings.max_response_bytes)
        while True:
            page = await self._page(resource, selection, limit, token)
            yield page
            following = page.metadata.continue_
            if not following:
                return
            if following == token:
                # Asked again it would say the same; and what follows is not known.
                what = requests.page(resource, selection, limit.objects).what
                raise ResponseError(f"{what}: the same continue token twice")
            token = following

    async def _page(
        self, resource: Resource[T], selection: Selection, limit: PageLimit, token: str
    ) -> Page[T]:
        """The page at a token; one that is too long is asked for again with fewer objects."""
        while True:
            asked = requests.page(resource, selection, limit.objects, token)
            try:
                body = await self.send(asked, self.settings.list_timeout)
            except TooLongError:
                if not limit.shrink():
                    raise
            else:
                limit.fitted(len(body))
                return _decoded(asked, body, partial(decode_page, kind=resource.kind))

    async def current_version(self, resource: Resource[Any], selection: Selection) -> str:
        """The version that a resource is at now, never older than one that anybody has seen."""
        head = await self._fetch(requests.page(resource, selection, 1), ListHead)
        return head.metadata.resource_version

    async def _fetch(self, request: Request, kind: type[T], within: float | None = None) -> T:
        body = await self.send(request, within)
        return _decoded(request, body, partial(decode_answer, kind=kind))


def _check_readable(resource: Resource[Any], unreadable: Iterable[Unreadable]) -> None:
    """Raises ResponseError where there is any that is not."""
    for one in unreadable:
        name = f"{one.metadata.namespace}/{one.metadata.name}"
        raise ResponseError(f"{resource.plural} {name}: {one.reason}")


def _decoded(request: Request, body: bytes, decode: Callable[[bytes], T]) -> T:
    try:
        return decode(body)
    except kinds.DecodeError as error:
        raise ResponseError(f"{request.what}: {error}") from error
