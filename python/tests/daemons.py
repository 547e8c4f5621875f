"""Real servers and shufflers on loopback addresses."""

from __future__ import annotations

import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path


def free_address() -> str:
    """Return a loopback address at which nothing listens."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{s.getsockname()[1]}"


class Daemon:
    """A running ``hushgrad serve`` or ``hushgrad shuffle``, which ends with the block.

    Parameters
    ----------
    command : Path
        The hushgrad command.
    *arguments : str
        What follows its name.
    log : Path
        File for what it says.
    """

    def __init__(self, command: Path, *arguments: str, log: Path) -> None:
        self.log = log
        with log.open("a") as out:
            self.process = subprocess.Popen([str(command), *arguments], stderr=out)
        self._listening = [
            arguments[i + 1] for i, a in enumerate(arguments) if a.endswith("listen")
        ]

    def __enter__(self) -> Daemon:
        """Wait until it listens."""
        end = time.monotonic() + 30
        for address in self._listening:
            host, port = address.split(":")
            while True:
                try:
                    socket.create_connection((host, int(port)), timeout=1).close()
                    break
                except OSError:
                    if self.process.poll() is not None or time.monotonic() > end:
                        self.process.kill()
                        raise AssertionError(self.log.read_text()) from None
                    time.sleep(0.02)
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait(timeout=30)


@dataclass
class Server:
    """A server that can be started, and again in the same place."""

    command: Path
    folder: Path
    clients: str
    operators: str

    def start(self, *arguments: str) -> Daemon:
        """Start it."""
        return Daemon(
            self.command,
            *("serve", "--data", str(self.folder / "state"), "--log-level", "warn"),
            *("--listen", self.clients, "--operator-listen", self.operators),
            *("--max-open-rounds", "100", *arguments),
            log=self.folder / "log",
        )
