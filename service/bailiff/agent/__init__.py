"""The agent: the rounds of the kubelet's eviction manager, on the node that they are about.

It is small, since it must not be what fills the node: no aiohttp, no structlog, no grpcio, none of
the decision core but pressure (docs/agent/index.md says what that comes to).
"""
