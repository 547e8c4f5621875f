"""Two servers for a run: ``hushgrad serve`` and ``hushgrad shuffle`` on this machine."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import tempfile
import time
from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._programs import command

NAME = "shuffler.localhost"

_PATIENCE = 30.0  # seconds for a process to listen


@dataclass(frozen=True)
class Parties:
    """Where two servers listen, and what clients pin.

    Attributes
    ----------
    operator, shuffler : str
        Addresses: the first server's for its operator, and the second server's for clients.
    seal_key, share_key : bytes
        The servers' public keys.
    """

    operator: str
    shuffler: str
    seal_key: bytes
    share_key: bytes


class Servers(contextlib.AbstractContextManager[Parties]):
    """The two processes, which end with the block. They keep nothing.

    Parameters
    ----------
    name : str
        The second server's name, which clients pin.
    floor : int
        Reports below which the second server forwards nothing.
    """

    def __init__(self, name: str = NAME, floor: int = 2) -> None:
        self._name = name
        self._floor = floor
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Parties:
        """Start them, and wait until they listen."""
        folder = Path(self._open.enter_context(tempfile.TemporaryDirectory()))
        keys, shares = folder / "keys", folder / "share-keys"
        operator, clients, upstream = _free(), _free(), _free()
        try:
            first = self._start(
                *("serve", "--data", "none", "--seal-keys", keys, "--listen", _free()),
                *("--operator-listen", operator, "--shuffler-listen", upstream),
            )
            _wait(first, operator, upstream)
            second = self._start(
                *("shuffle", "--data", "none", "--seal-keys", shares, "--floor", str(self._floor)),
                *("--name", self._name, "--listen", clients, "--upstream", upstream),
            )
            _wait(second, clients)
            return Parties(operator, clients, _key("serve", keys), _key("shuffle", shares))
        except BaseException:
            self._open.close()
            raise

    def __exit__(self, *_: object) -> None:
        """End them."""
        self._open.close()

    def _start(self, *arguments: str | Path) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            [command(), *arguments, "--log-level", "warn"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        self._open.callback(child.wait)
        self._open.callback(child.terminate)
        return child


def _free() -> str:
    """Return a loopback address at which nothing listens."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{s.getsockname()[1]}"


def _wait(child: subprocess.Popen[bytes], *addresses: str) -> None:
    """Wait until a process listens."""
    end = time.monotonic() + _PATIENCE
    for address in addresses:
        host, _, port = address.rpartition(":")
        while True:
            try:
                socket.create_connection((host, int(port)), timeout=1).close()
                break
            except OSError as error:
                if child.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"{address}: nothing listens: {error}") from error
                time.sleep(0.02)


def _key(role: str, folder: Path) -> bytes:
    """Return the public key that a server has made."""
    listed = subprocess.run(
        [command(), role, "keys", "--seal-keys", folder, "-o", "json"],
        check=True,
        capture_output=True,
    )
    keys: list[dict[str, Any]] = json.loads(listed.stdout)
    return b64decode(keys[0]["public_key"])
