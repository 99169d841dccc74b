"""The container runtime of the node: the port. All of it raises RuntimeFailedError."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bailiff.agent.readings.pods import Layer
    from bailiff.decisions.pressure.garbage import RuntimeContainer, RuntimeImage, RuntimeSandbox


class RuntimeFailedError(Exception):
    """The runtime did not answer, or said no; the message says what was asked."""


class Runtime(Protocol):
    """What is asked of it; each call ends within some seconds."""

    async def images(self) -> Sequence[RuntimeImage]:
        """All that are there."""
        ...

    async def listed(self) -> Sequence[RuntimeContainer]:
        """All containers that are there, by one question."""
        ...

    async def containers(self) -> Sequence[RuntimeContainer]:
        """The same with what their statuses tell besides, which is a question for each."""
        ...

    async def sandboxes(self) -> Sequence[RuntimeSandbox]:
        """All that are there."""
        ...

    async def layers(self) -> Mapping[str, Layer]:
        """What writable layers take, by ids of containers."""
        ...

    async def stop_container(self, container: str, grace_period_seconds: int) -> None:
        """Stop a container; returns when it has ended, which takes the grace period at most."""
        ...

    async def remove_container(self, container: str) -> None:
        """Remove a container that has ended; one that is not there is no error."""
        ...

    async def remove_sandbox(self, sandbox: str) -> None:
        """Stop and remove a sandbox; one that is not there is no error."""
        ...

    async def remove_image(self, image: str) -> None:
        """Remove an image; one that is not there is no error."""
        ...
