"""Logging in by an `auth-provider` of a kubeconfig, the older way than exec plugins.

client-go still knows OIDC so (plugin/pkg/client/auth/oidc). kubernetes_asyncio renews such tokens
and writes them back to the file. It is imported only here: its import loads some 700 classes of API
objects, and takes longer than all else that a worker needs to start.
"""

from __future__ import annotations

from typing import Any

from bailiff.cluster.errors import ConfigError

PROVIDERS = frozenset({"oidc", "gcp"})


async def provider_token(files: str, user: str) -> str | None:
    """The value of an Authorization header for this user; None where the provider gives none.

    Args:
        files: one or more paths, as $KUBECONFIG has them.
        user: the name of the user in them.

    Raises:
        ConfigError: it cannot be renewed, or wrong entries; no secret is in the message.
        OSError: the provider cannot be reached.
    """
    import aiohttp  # noqa: PLC0415 - the agent reads kubeconfigs, too, and has no room for it
    from kubernetes_asyncio.client import Configuration  # noqa: PLC0415 - see above
    from kubernetes_asyncio.config import ConfigException  # noqa: PLC0415
    from kubernetes_asyncio.config.kube_config import (  # noqa: PLC0415
        KubeConfigLoader,
        KubeConfigMerger,
    )

    merger = KubeConfigMerger(files)
    merged: Any = merger.config
    own = merged["users"].get_with_name(user)["user"].value
    # The class hands out copies of a process-wide default when called; ours stands alone.
    configuration: Configuration = type.__call__(Configuration)
    loader = KubeConfigLoader(
        _only_user({key: value for key, value in own.items() if key != "exec"}),
        config_persister=lambda _: merger.save_changes(),
    )
    try:
        await loader.load_and_set(configuration)
    except ConfigException as error:
        # It names the place of a fault by the whole entry, credentials included.
        raise ConfigError(str(error).split("{", 1)[0].strip()) from None
    except aiohttp.ClientError as error:
        raise OSError(str(error) or type(error).__name__) from None
    return configuration.api_key.get("BearerToken")


def _only_user(user: dict[str, Any]) -> dict[str, Any]:
    """A kubeconfig for this user and for a server without TLS, so that no certificate is read."""
    return {
        "current-context": "own",
        "contexts": [{"name": "own", "context": {"cluster": "own", "user": "own"}}],
        "clusters": [{"name": "own", "cluster": {"server": "http://localhost"}}],
        "users": [{"name": "own", "user": user}],
    }
