"""A real kube-apiserver with its own etcd, for as long as a `with` block lasts.

with KubeApiserver() as server:
    subprocess.run(["kubectl", "--kubeconfig", server.kubeconfig, "get", "pods"])

Both listen on free loopback ports and keep everything in one temporary folder. Admission is
Kubernetes' default but for ServiceAccount, so that pods need no controller to be accepted; RBAC
decides, and the kubeconfig is an administrator's. There is no scheduler, no kubelet and no
controller: pods stay as they are put. DeviceTaintRules are served.
"""

from __future__ import annotations

import base64
import datetime as dt
import http.client
import json
import secrets
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import yaml

from tests.harness.kube.plain_http import call
from tests.harness.kube.programs import Program, free_port, kubernetes_version
from tests.harness.kube.tls import ClientCertificate, make_tls

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import TracebackType

_READY_SECONDS = 90.0
_STARTS = 3


class NotReadyError(RuntimeError):
    """A program did not become ready; the message holds the ends of the logs."""


class KubeApiserver:
    """etcd and kube-apiserver.

    Args:
        flags: further flags for kube-apiserver, as `--feature-gates=WatchList=false`. One
            that is given here replaces the harness' own of the same name.
        keep_logs: copy the logs to this folder when it ends.

    Attributes:
        url: https://127.0.0.1:PORT.
        token: the administrator's.
        nobody_token: of a user who may do nothing.
        kubeconfig: a file for the administrator, with the CA in it.
        folder: logs and data; removed in the end.
    """

    def __init__(self, flags: Sequence[str] = (), *, keep_logs: Path | None = None) -> None:
        self._flags = list(flags)
        self._keep_logs = keep_logs
        self.token = secrets.token_hex(16)
        self.nobody_token = secrets.token_hex(16)

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="bailiff-kube-"))
        try:
            self._start_all()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop both and remove the folder."""
        for program in (getattr(self, "apiserver", None), getattr(self, "etcd", None)):
            if program is not None:
                program.stop()
        if self._keep_logs is not None:
            for log in self.folder.glob("*.log"):
                shutil.copy(log, self._keep_logs)
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"https://127.0.0.1:{self.port}"

    def stop_apiserver(self, *, kill: bool = False) -> None:
        """Take the API away; etcd keeps the objects."""
        if kill:
            self.apiserver.kill()
        else:
            self.apiserver.stop()

    def start_apiserver(self) -> None:
        """Bring it back on the same port, and wait until it is ready."""
        self.apiserver.start()
        self._wait("kube-apiserver", self._is_ready)

    def restart_apiserver(self, *, kill: bool = False) -> None:
        """Both of them."""
        self.stop_apiserver(kill=kill)
        self.start_apiserver()

    def compact(self) -> int:
        """Make etcd forget all but the present; returns the revision that it has now.

        The API server's watch cache still remembers what it has seen, until it is restarted.
        """
        now = self._etcd("/v3/kv/range", {"key": base64.b64encode(b"/").decode()})
        revision = int(now["header"]["revision"])
        self._etcd("/v3/kv/compaction", {"revision": str(revision), "physical": True})
        return revision

    def store(self, key: str, obj: dict[str, Any]) -> None:
        """Put an object into etcd as no API would take it, under RESOURCE/NAMESPACE/NAME."""
        pair = {"key": f"/registry/{key}", "value": json.dumps(obj)}
        encoded = {part: base64.b64encode(text.encode()).decode() for part, text in pair.items()}
        self._etcd("/v3/kv/put", encoded)

    def _start_all(self) -> None:
        self.tls = make_tls(self.folder)
        for attempt in range(_STARTS):
            self.port, self._etcd_port = free_port(), free_port()
            self.etcd = Program("etcd", self._etcd_flags(free_port()), self.folder)
            self.apiserver = Program("kube-apiserver", self._apiserver_flags(), self.folder)
            try:
                self.etcd.start()
                self._wait("etcd", self._etcd_is_ready)
                self.start_apiserver()
            except NotReadyError:
                # A free port can be taken before its new owner listens.
                self.apiserver.stop()
                self.etcd.stop()
                if attempt == _STARTS - 1 or not self._port_was_taken():
                    raise
            else:
                break
        self.kubeconfig = self.write_kubeconfig("admin", {"token": self.token})

    def _port_was_taken(self) -> bool:
        return any("address already in use" in p.tail() for p in (self.etcd, self.apiserver))

    def _wait(self, what: str, ready: Callable[[], bool]) -> None:
        deadline = time.monotonic() + _READY_SECONDS
        while time.monotonic() < deadline:
            if any(program.exited for program in (self.etcd, self.apiserver)):
                break
            try:
                if ready():
                    return
            except (OSError, http.client.HTTPException):
                pass  # not listening yet, or not ready: that is what we wait for
            time.sleep(0.05)
        tails = "\n".join(program.tail() for program in (self.etcd, self.apiserver))
        raise NotReadyError(f"{what} is not ready\n{tails}")

    def _is_ready(self) -> bool:
        bearer = {"Authorization": f"Bearer {self.token}"}
        return call(self.port, "/readyz", headers=bearer, ca=self.tls.ca) == (200, b"ok")

    def _etcd_is_ready(self) -> bool:
        return call(self._etcd_port, "/health")[0] == 200

    def _etcd(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        status, answer = call(self._etcd_port, path, body=json.dumps(body).encode())
        if status != 200:
            raise RuntimeError(f"etcd {path}: {status} {answer!r}")
        decoded: dict[str, Any] = json.loads(answer)
        return decoded

    def write_kubeconfig(self, name: str, user: dict[str, Any]) -> Path:
        """A kubeconfig for this server with any `user` section; NAME.kubeconfig in the folder."""
        cluster = {
            "server": self.url,
            "certificate-authority-data": base64.b64encode(self.tls.ca.read_bytes()).decode(),
        }
        content = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [{"name": "test", "cluster": cluster}],
            "contexts": [{"name": name, "context": {"cluster": "test", "user": name}}],
            "users": [{"name": name, "user": user}],
        }
        path = self.folder / f"{name}.kubeconfig"
        path.write_text(yaml.safe_dump(content))
        return path

    def client_certificate(self, folder: Path, life: float = 86_400.0) -> Path:
        """A kubeconfig of an administrator who logs in with a certificate, by the files' paths.

        Args:
            folder: where client.crt, client.key and the kubeconfig are written.
            life: seconds until the certificate expires.
        """
        self.rotate(folder, life)
        files = ClientCertificate(folder)
        user = {
            "client-certificate": str(files.certificate),
            "client-key": str(files.key),
        }
        written = self.write_kubeconfig(f"certificate-{secrets.token_hex(4)}", user)
        return Path(shutil.move(written, folder / "kubeconfig"))

    def rotate(self, folder: Path, life: float = 86_400.0) -> None:
        """Write a new certificate and key over those of `client_certificate`."""
        ClientCertificate(folder).rotate(self.tls, dt.timedelta(seconds=life))

    def _etcd_flags(self, peer_port: int) -> list[str]:
        client, peer = (f"http://127.0.0.1:{port}" for port in (self._etcd_port, peer_port))
        return [
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            # Nothing here outlives the machine, so nothing need reach its disk.
            "--unsafe-no-fsync",
            "--log-level=warn",
        ]

    def _apiserver_flags(self) -> list[str]:
        users = self.folder / "users.csv"
        users.write_text(f'{self.token},admin,1,"system:masters"\n{self.nobody_token},nobody,2\n')
        own = {
            "--etcd-servers": f"http://127.0.0.1:{self._etcd_port}",
            # Compaction happens when a test asks for it.
            "--etcd-compaction-interval": "0",
            "--bind-address": "127.0.0.1",
            "--secure-port": str(self.port),
            "--cert-dir": str(self.folder / "certs"),
            "--tls-cert-file": str(self.tls.certificate),
            "--tls-private-key-file": str(self.tls.key),
            "--token-auth-file": str(users),
            "--client-ca-file": str(self.tls.ca),
            "--authorization-mode": "RBAC",
            "--service-account-issuer": "https://kubernetes.default.svc",
            "--service-account-key-file": str(self.tls.service_account_key),
            "--service-account-signing-key-file": str(self.tls.service_account_key),
            "--service-cluster-ip-range": "10.0.0.0/24",
            "--disable-admission-plugins": "ServiceAccount",
            "--endpoint-reconciler-type": "none",
            "--shutdown-delay-duration": "0s",
            # Off unless asked for, and what clusters before 1.37 have DeviceTaintRules in.
            "--runtime-config": "resource.k8s.io/v1beta2=true",
        }
        if kubernetes_version() < (1, 37):
            # They are beta there, and off.
            own["--feature-gates"] = "DRADeviceTaintRules=true"
        given = {flag.split("=", 1)[0] for flag in self._flags}
        return [f"{k}={v}" for k, v in own.items() if k not in given] + self._flags
