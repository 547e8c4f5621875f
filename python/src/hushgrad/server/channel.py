"""Connections to a server or a shuffler."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import grpc

from .. import _arguments
from ..errors import invalid

# A server that was restarted is found soon.
_OPTIONS = [("grpc.initial_reconnect_backoff_ms", 100), ("grpc.max_reconnect_backoff_ms", 1000)]


def connect(
    target: str,
    *,
    ca: str | Path | None = None,
    cert: str | Path | None = None,
    key: str | Path | None = None,
    name: str | None = None,
    bearer: str | None = None,
) -> grpc.Channel:
    """Return a connection, which is not tried before its first use.

    Parameters
    ----------
    target : str
        Host and port, for example ``"server.example:7118"``.
    ca : path, optional
        PEM file with the authorities that sign the certificate of the other party. Without it
        there is no TLS, and the target must be a loopback address.
    cert, key : path, optional
        PEM files with the certificate chain of this party and its private key, for a server
        that asks for a certificate.
    name : str, optional
        DNS name that the certificate of the other party must have. Default the host of target.
        A client that sends to a shuffler gives the name that the round has for it.
    bearer : str, optional
        Secret by which an issuer knows a client. It leaves only over TLS.

    Raises
    ------
    InvalidParameter
        If the parameters do not go together.
    OSError
        If a file cannot be read.
    """
    _arguments.text("target", target)
    if (cert is None) != (key is None):
        raise invalid("cert and key", f"{cert} and {key}", "must be given together")
    if ca is None:
        for label, value in (("cert", cert), ("name", name)):
            if value is not None:
                raise invalid(label, repr(str(value)), "needs ca")
        if bearer is not None:
            raise invalid("bearer", "a secret", "needs ca: it must not leave without TLS")
        if not target.rpartition(":")[2].isdigit():
            raise invalid("target", repr(target), "must be a host and a port, as 127.0.0.1:7118")
        if not _loopback(target):
            raise invalid("target", repr(target), "must be a loopback address, or ca must be given")
        return grpc.insecure_channel(target, options=_OPTIONS)
    credentials = grpc.ssl_channel_credentials(
        root_certificates=_pem("ca", ca, b"CERTIFICATE"),
        private_key=None if key is None else _pem("key", key, b"PRIVATE KEY"),
        certificate_chain=None if cert is None else _pem("cert", cert, b"CERTIFICATE"),
    )
    if bearer is not None:
        secret = grpc.access_token_call_credentials(_arguments.text("bearer", bearer))
        credentials = grpc.composite_channel_credentials(credentials, secret)
    override = [] if name is None else [("grpc.ssl_target_name_override", name)]
    return grpc.secure_channel(target, credentials, options=[*_OPTIONS, *override])


def _pem(param: str, path: str | Path, kind: bytes) -> bytes:
    data = Path(path).read_bytes()
    if kind + b"-----" not in data:
        raise invalid(param, repr(str(path)), f"must be a PEM file with a {kind.decode().lower()}")
    return data


def _loopback(target: str) -> bool:
    """Say whether a target can be reached from this machine only."""
    host = target.rpartition(":")[0]
    try:
        return host == "localhost" or ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
