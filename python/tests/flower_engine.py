"""Flower's own processes, which tests start and end."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

from environment import uncovered

PATIENCE = 600
"""Seconds that a command may take on a machine with other work: only what hangs takes longer."""

GIVEN_UP = "RuntimeError: An error was encountered. Ending simulation."
"""What Flower's simulation says when Ray did not start, before it waits for an hour."""

RAY = {
    "GRPC_ENABLE_FORK_SUPPORT": "0",  # or gRPC may end a process of Ray's (grpc/grpc#43055)
    "RAY_raylet_start_wait_time_s": str(PATIENCE),  # not the 30 s after which Ray gives up
}

_given = 10_000 + 4_000 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
"""The port after the last one that was given: each of up to five workers has 4000 of its own."""


def free_port(count: int = 1) -> int:
    """Return a port that nobody has, or the first of some.

    It is below the ports that systems give to whoever connects, which may be taken at any time.
    """
    global _given
    while True:
        first, _given = _given, _given + count
        with contextlib.ExitStack() as held:
            try:
                for port in range(first, first + count):
                    held.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
            return first


def run_metrics(*arguments: str) -> list[dict[str, float]]:
    """Return the metrics of the rounds of flower_run.py."""
    return printed_json(Path(__file__).with_name("flower_run.py"), *arguments)


def printed(script: Path, *arguments: str) -> str:
    """Return what a script prints, which runs a simulation of Flower."""
    done = _run(script, *arguments)
    if GIVEN_UP in done.stderr:
        done = _run(script, *arguments)
    assert done.returncode == 0, done.stderr[-5000:]
    return done.stdout


def _run(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script. End it where Flower has given up, and waits for its ServerApp for an hour."""
    command = [sys.executable, str(script), *arguments]
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        with out.open("wb") as stdout, err.open("wb") as stderr:
            env = uncovered() | RAY | {"FLWR_TELEMETRY_ENABLED": "0"}
            process = subprocess.Popen(command, env=env, stdout=stdout, stderr=stderr)
        end = time.monotonic() + PATIENCE
        while process.poll() is None:
            time.sleep(0.2)
            if GIVEN_UP in err.read_text(errors="replace") or time.monotonic() > end:
                process.kill()
        texts = (file.read_text(errors="replace") for file in (out, err))
        return subprocess.CompletedProcess(command, process.returncode, *texts)


def printed_json(script: Path, *arguments: str) -> Any:
    """Return what a script prints in its last line."""
    return json.loads(printed(script, *arguments).splitlines()[-1])


class Processes:
    """Processes of Flower in a folder, with a configuration and apps of their own.

    They find the commands of this interpreter's environment. All of them end with the `with`
    statement.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"
        self.home.mkdir()
        self._started: list[tuple[subprocess.Popen[bytes], Path]] = []
        self.environment = uncovered() | {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(Path(__file__).parent / "testdata" / "patience"),
            "FLWR_HOME": str(self.home),
            "FLWR_TELEMETRY_ENABLED": "0",
            "FLWR_DISABLE_UPDATE_CHECK": "1",
            "FLWR_DISABLE_RUNTIME_DEPENDENCY_INSTALLATION": "1",
            "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
            **RAY,
        }

    def start(self, name: str, *command: str) -> None:
        """Start a command that goes on; its output is in a file of that name."""
        path = self.folder / f"{name}.log"
        with path.open("wb") as log:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._started.append((process, path))

    def name(self, address: str, *lines: str) -> None:
        """Name a SuperLink "tested" in the configuration of `flwr`."""
        text = "\n".join([f'[superlink.tested]\naddress = "{address}"', *lines, ""])
        (self.home / "config.toml").write_text(text)

    def listening(self, port: int) -> None:
        """Wait until somebody listens on a port."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for process, path in self._started:
                assert process.poll() is None, path.read_text()[-3000:]
            with socket.socket() as s:
                if s.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.2)
        raise AssertionError(f"nobody listens: {self.logs()}")

    def printed(self, name: str, text: str) -> str:
        """Return what a process has printed when a text is in it."""
        process, path = next((p, log) for p, log in self._started if log.stem == name)
        end = time.monotonic() + PATIENCE
        while text not in path.read_text(errors="replace"):
            assert process.poll() is None, path.read_text(errors="replace")[-5000:]
            assert time.monotonic() < end, path.read_text(errors="replace")[-5000:]
            time.sleep(0.5)
        return path.read_text(errors="replace")

    def flwr(self, *arguments: str) -> str:
        """Return what a command of Flower prints."""
        done = subprocess.run(
            ["flwr", *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE,
        )
        assert done.returncode == 0, done.stdout[-5000:] + self.logs()
        return done.stdout

    def run(self, app: Path, superlink: str, **config: Any) -> tuple[str, dict[str, Any]]:
        """Run an app. Return what its ServerApp printed, and what the SuperLink says of the run."""
        given = " ".join(f"{name}={json.dumps(value)}" for name, value in config.items())
        extra = ["--run-config", given] if given else []
        printed = self.flwr("run", str(app), superlink, "--stream", *extra)
        listed: Any = json.loads(self.flwr("list", superlink, "--format", "json"))
        return printed, listed["runs"][0]

    def logs(self) -> str:
        """Return the ends of what the processes printed."""
        return "\n".join(
            f"== {path.name}\n{path.read_text(errors='replace')[-3000:]}"
            for _, path in self._started
        )

    def __enter__(self) -> Processes:
        """Return the processes."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End what was started, and what that has started."""
        for process, _ in self._started:
            _signal(process, signal.SIGTERM)
        end = time.monotonic() + 60
        for process, _ in self._started:
            while _signal(process, 0) and time.monotonic() < end:
                process.poll()
                time.sleep(0.1)
            _signal(process, signal.SIGKILL)
            process.wait(60)


def _signal(process: subprocess.Popen[bytes], number: int) -> bool:
    """Send a signal to the group of a process. Say whether there is somebody in it."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return False
    return True
