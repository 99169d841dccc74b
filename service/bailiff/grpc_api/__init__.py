"""The gRPC face of the decision core: it translates and nothing else."""

from bailiff.grpc_api.server import BailiffGrpcServer, create_server
from bailiff.grpc_api.settings import GrpcSettings

__all__ = ["BailiffGrpcServer", "GrpcSettings", "create_server"]
