"""The guard around every method of every service, those of libraries included.

So what a later library brings is closed until the table of rules names it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bailiff.access import AccessError, Asked, caller_of_peer
from bailiff.grpc_api.errors import NotLetInError

if TYPE_CHECKING:
    from bailiff.access import Account, Caller, Guard, Rules
    from bailiff.grpc_api.doorman import Doorman
    from bailiff.grpc_api.interceptors import Behaviour, Context


class Access:
    """Lets calls of one service in, or raises NotLetInError."""

    def __init__(self, guard: Guard, rules: Rules, doorman: Doorman, service: str) -> None:
        """Prepare.

        Args:
            guard: lets in.
            rules: of this port.
            doorman: knows who is at the other end of a connection.
            service: its full name.
        """
        self._guard = guard
        self._rules = rules
        self._doorman = doorman
        self._service = service

    def around(self, method: str, serve: Behaviour) -> Behaviour:
        """As `serve`, for calls that are let in."""
        path = f"/{self._service}/{method}"
        if self._rules.is_open("", path):
            return serve

        async def let_in(requests: Any, context: Context) -> bytes | None:  # noqa: ANN401 - see Behaviour
            account = await self._admit(path, context)
            if account is None:
                return await serve(requests, context)
            charged: Any = _Charged(context, account, self._guard)
            try:
                answer = await serve(requests, charged)
            finally:
                account.end()
            account.spend(_length(answer))
            return answer

        return let_in

    async def _admit(self, path: str, context: Context) -> Account | None:
        # The names are in lower case (gRPC over HTTP/2).
        metadata = context.invocation_metadata() or ()
        headers = [(_bytes(name), _bytes(value)) for name, value in metadata]
        certificate = self._certificate(context)
        if certificate is None:
            account = self._guard.admit_known(self._rules, "", path, headers)
            if account is not None:
                return account
        connection = self._doorman.find(context.peer())
        address = connection.address if connection is not None else ""
        asked = Asked("", path, address, headers, certificate)
        try:
            return await self._guard.admit(self._rules, asked)
        except AccessError as error:
            raise NotLetInError(error) from error

    def _certificate(self, context: Context) -> Caller | None:
        if not self._guard.knows_certificates:
            return None
        return caller_of_peer(self._doorman.peer(context.peer(), self._guard.clock.now()))


class _Charged:
    """A call's context, whose messages are charged to its caller.

    The first came with the call, and is paid for by it; each that follows is a request of its own.
    """

    def __init__(self, context: Context, account: Account, guard: Guard) -> None:
        self._context = context
        self._account = account
        self._guard = guard
        self._is_first = True

    async def read(self) -> Any:  # noqa: ANN401 - bytes, a library's message, or the end
        message = await self._context.read()
        length = _length(message)
        if length:
            self._pay()
        self._account.spend(length)
        return message

    async def write(self, message: Any) -> None:  # noqa: ANN401 - as `read`
        self._account.spend(_length(message))
        await self._context.write(message)

    def _pay(self) -> None:
        if self._is_first:
            self._is_first = False
            return
        try:
            self._guard.again(self._account)
        except AccessError as error:
            raise NotLetInError(error) from error

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a context has
        return getattr(self._context, name)


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def _length(message: Any) -> int:  # noqa: ANN401 - as `read`
    """In bytes; messages of libraries are short, and the end is none."""
    return len(message) if isinstance(message, bytes) else 0
