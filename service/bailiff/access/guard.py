"""Who is let in: the caller found, its right looked at, its quota charged; for all faces alike."""

from __future__ import annotations

import asyncio
import contextlib
from functools import partial
from typing import TYPE_CHECKING, Any

from bailiff.access.bearer import as_text, bearer_token, digest
from bailiff.access.callers import Caller
from bailiff.access.errors import (
    AccessError,
    DeniedError,
    QuotaError,
    UnauthenticatedError,
    UnavailableError,
    UnknownPathError,
)
from bailiff.access.metrics import AccessMetrics
from bailiff.access.quotas import Quotas
from bailiff.access.refusals import RefusalLog
from bailiff.access.reviews import Denied, Reviews
from bailiff.access.turns import Turns

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Hashable, Mapping
    from typing import TypeAlias

    from bailiff.access.asked import Asked, Headers
    from bailiff.access.kubernetes import Reviewer
    from bailiff.access.quotas import Account
    from bailiff.access.rules import Rule, Rules
    from bailiff.access.settings import AccessSettings
    from bailiff.access.static_tokens import StaticTokens
    from bailiff.clock import Clock

    Found: TypeAlias = tuple[Rule, Mapping[str, str]]

_NO_TOKEN = "say who asks: Authorization: Bearer and a token"  # noqa: S105 - what one is asked for
_INVALID = "invalid_token"
_UNKNOWN_TOKEN = "nobody here knows this token, or it has expired"  # noqa: S105 - no secret
_OTHER_AUDIENCE = (
    ", or it is not meant for the audience {audience} "
    "(kubectl create token NAME --audience {audience})"
)


class Guard:
    """Lets requests in, or raises AccessError. One for a process; belongs to one event loop.

    Attributes:
        clock: by which certificates expire.
        metrics: to be registered once.
        asks_who: whether callers have to prove who they are; else each is its address.
        knows_certificates: whether they may do so by client certificates.
    """

    def __init__(
        self,
        settings: AccessSettings,
        clock: Clock,
        *,
        tokens: StaticTokens | None = None,
        reviewer: Reviewer | None = None,
        certificates: bool = False,
        metrics: AccessMetrics | None = None,
    ) -> None:
        """Prepare.

        Args:
            settings: see there.
            clock: for how long answers are believed, and for quotas.
            tokens: callers who are known by a file.
            reviewer: knows callers by their tokens, and the rights of all callers; None: whoever
                is known may ask everything.
            certificates: whether callers may be known by client certificates.
            metrics: where to count; None: in new ones.
        """
        self.clock = clock
        self.metrics = metrics or AccessMetrics()
        self.asks_who = certificates or tokens is not None or reviewer is not None
        self.knows_certificates = certificates
        self._longest_token = settings.max_token_bytes
        self._unknown_token = _UNKNOWN_TOKEN
        if reviewer is not None:
            self._unknown_token += _OTHER_AUDIENCE.format(audience=settings.audience)
        self._tokens = tokens
        self._reviewer = reviewer
        self._quotas = Quotas(settings)
        self._refusals = RefusalLog(clock)
        turns, counted = Turns(settings), self.metrics
        asking = (turns, clock, settings)
        self._callers = Reviews[Caller](*asking, counted.token_reviews, _caller_of_token)
        self._rights = Reviews[bool](*asking, counted.access_reviews, _caller_of_right)

    async def admit(self, rules: Rules, asked: Asked) -> Account | None:
        """Let a request in. Nothing is waited for where all answers are kept.

        Returns:
            What it is charged to, and ended at; None: it is not counted.

        Raises:
            AccessError: it is not let in. Counted, and told in the log.
        """
        caller: Caller | None = None
        try:
            if not self.asks_who:
                return self._by_address(rules, asked)
            found = _find(rules, asked)
            if isinstance(found, tuple) and found[0].needs is None:
                return None
            caller = await self._identify(asked)
            return await self._charge(caller, found)
        except AccessError as error:
            self._refused(error, caller, asked)
            raise

    def admit_known(self, rules: Rules, method: str, path: str, headers: Headers) -> Account | None:
        """The short way in, which nearly all requests take: it waits for nothing.

        For a caller whose token is in the file, or was found to be good, and who asks what whoever
        is known may ask. It comes to what `admit` would, at a part of its cost, or to nothing.
        Whoever may have a certificate is to be asked for that first.

        Returns:
            What it is charged to, and ended at; None: `admit` is to be asked, and tells more.
        """
        if not rules.is_for_all_known(method, path):
            return None
        try:
            token = bearer_token(headers, self._longest_token)
            if not token:
                return None
            now = self.clock.elapsed()
            answer = self._kept(digest(token), token, now)
            if answer is None or isinstance(answer, Denied):
                return None
            account = self._quotas.begin(answer.name, now)
        except AccessError:
            return None
        self.metrics.authentication["token"] += 1
        return account

    def again(self, account: Account) -> None:
        """One more request of a stream that was let in; raises QuotaError, which is counted."""
        try:
            account.again(self.clock.elapsed())
        except QuotaError as error:
            self.metrics.refused[error.reason] += 1
            raise

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Guard]:
        """Look after the file of tokens meanwhile; at the end nothing is asked any more.

        Where that fails, whatever runs meanwhile is cancelled and the failure is raised: a token
        that is taken out of the file would hold for ever.
        """
        async with asyncio.TaskGroup() as group:
            looking = group.create_task(self._tokens.run(), name="tokens") if self._tokens else None
            try:
                yield self
            finally:
                if looking is not None:
                    looking.cancel()
                await self._callers.close()
                await self._rights.close()

    def _by_address(self, rules: Rules, asked: Asked) -> Account | None:
        """What a request is charged to on a port where callers need not prove who they are.

        It is the caller's address. Callers on this machine are charged nothing: they share one
        address with each other and with a mesh's proxy, so no quota would be one caller's own.
        """
        if asked.is_local:
            return None
        if rules.is_open(asked.method, asked.path):
            return None
        return self._quotas.begin(f"address {asked.peer}", self.clock.elapsed())

    async def _identify(self, asked: Asked) -> Caller:
        counted = self.metrics.authentication
        if asked.certificate is not None:
            counted["certificate"] += 1
            return asked.certificate
        try:
            token = bearer_token(asked.headers, self._longest_token)
            caller = await self._caller_of(token, asked.peer)
        except UnauthenticatedError:
            counted["unauthenticated"] += 1
            raise
        except (UnavailableError, QuotaError):
            counted["unavailable"] += 1
            raise
        counted["token"] += 1
        return caller

    async def _caller_of(self, token: bytes | None, peer: str) -> Caller:
        if token is None:
            raise UnauthenticatedError(_NO_TOKEN)
        key = digest(token)
        answer = self._kept(key, token, self.clock.elapsed())
        if answer is None and self._reviewer is not None:
            review = partial(self._reviewer.who, as_text(token))
            answer = await self._callers.ask(key, peer, review)
        if isinstance(answer, Caller):
            return answer
        raise UnauthenticatedError(self._unknown_token, _INVALID)

    def _kept(self, key: bytes, token: bytes, now: float) -> Caller | Denied | None:
        """What is known here of a token with this digest; what lapses soon is renewed."""
        caller = self._tokens.find(key) if self._tokens else None
        if caller is not None:
            return caller
        answer = self._callers.kept(key, now)
        if self._callers.is_due(key, now) and self._reviewer and isinstance(answer, Caller):
            self._callers.renew(key, answer.name, partial(self._reviewer.who, as_text(token)))
        return answer

    async def _charge(self, caller: Caller, found: Found | UnknownPathError) -> Account:
        """Charged before its rights are looked at, so that the quota bounds what that costs.

        Who is refused has been charged for the request, too: else refusals would be free.
        """
        account = self._quotas.begin(caller.name, self.clock.elapsed())
        try:
            await self._check(caller, found)
        except BaseException:
            account.end()
            raise
        return account

    async def _check(self, caller: Caller, found: Found | UnknownPathError) -> None:
        """Raises what is wrong with the path, or DeniedError where the caller lacks a right."""
        if isinstance(found, UnknownPathError):
            raise found
        rule, given = found
        if rule.needs is None or not (rights := rule.needs(given)) or self._reviewer is None:
            return
        for right in rights:
            key, now = (caller.name, caller.key, right), self.clock.elapsed()
            review = partial(self._reviewer.may, caller, right)
            answer = self._rights.kept(key, now)
            if answer is None:
                answer = await self._rights.ask(key, caller.name, review, known=True)
            elif self._rights.is_due(key, now):
                self._rights.renew(key, caller.name, review)
            if isinstance(answer, Denied):
                raise DeniedError(f'user "{caller.name}" cannot {right}')

    def _refused(self, error: AccessError, caller: Caller | None, asked: Asked) -> None:
        self.metrics.refused[error.reason] += 1
        if error.is_told:
            self._refusals.write(error, caller, asked.address, asked.what)


def _find(rules: Rules, asked: Asked) -> Found | UnknownPathError:
    """What is wrong with the path is told only to who may know."""
    try:
        return rules.find(asked.method, asked.path)
    except UnknownPathError as error:
        return error


def _caller_of_token(_: Hashable, answer: Caller | Denied) -> str:
    return answer.name if isinstance(answer, Caller) else ""


def _caller_of_right(key: Any, _: object) -> str:  # noqa: ANN401 - as `_check` makes it
    return str(key[0])
