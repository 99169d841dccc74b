"""The gRPC face of the decision core: it translates and nothing else."""

from bailiff.grpc.server import BailiffGrpcServer, create_server
from bailiff.grpc.settings import GrpcSettings

__all__ = ["BailiffGrpcServer", "GrpcSettings", "create_server"]
