"""Rounds that several tests use."""

from __future__ import annotations

import hashlib
import importlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from hushgrad import Policy, Round, _programs

DIM = 4

# A public key as a round has it: the algorithms of X25519, and 32 bytes of which all are a key.
# Tests in Go open what is sealed.
KEY = bytes.fromhex("002000010001") + bytes([9]) + bytes(31)
SHARE_KEY = bytes.fromhex("002000010001") + bytes([2]) + bytes(31)


def new_round(**changes: Any) -> Round:
    """Return the server's round of four coordinates. None takes a parameter away."""
    given: dict[str, Any] = {"id": "r", "dim": DIM, "epsilon": 4.0, "scale": 0.5, "min_reports": 3}
    given |= {"mechanism": "coco", "sparsity": 2, **changes}
    return Round.new(**{name: value for name, value in given.items() if value is not None})


def two_servers(dim: int = DIM, **changes: Any) -> Round:
    """Return a round of two servers, which nobody runs."""
    sealed = {"shuffler": "shuffler.example", "seal_key": KEY, "share_key": SHARE_KEY}
    made = {"mechanism": "gaussian-shares", "delta": 1e-6, "sparsity": None}
    return new_round(**{"dim": dim, **made, **sealed, **changes})


def pins(epsilon: float = 4.0) -> dict[str, Any]:
    """Return the settings of a node that accepts rounds of these two servers."""
    return {
        "hushgrad-max-epsilon": epsilon,
        "hushgrad-max-delta": 1e-6,
        "hushgrad-shuffler": "shuffler.example",
        "hushgrad-seal-key": hashlib.sha256(KEY).hexdigest(),
        "hushgrad-share-key": hashlib.sha256(SHARE_KEY).hexdigest(),
    }


@pytest.fixture
def ray() -> Iterator[None]:
    """Let one test at a time use Ray, which starts slowly beside another Ray."""
    pytest.importorskip("ray")
    filelock: Any = importlib.import_module("filelock")  # of Ray's own requirements
    with filelock.FileLock(Path(tempfile.gettempdir(), "hushgrad-tests-ray.lock")):
        yield


@pytest.fixture
def server() -> Round:
    """Return a round that aggregates."""
    return new_round()


@pytest.fixture
def client(server: Round) -> Round:
    """Return the same round, opened under a policy that accepts it."""
    return Round(server.description, Policy(max_epsilon=4.0))


@pytest.fixture
def row() -> NDArray[np.float32]:
    """Return a gradient."""
    return np.array([0.4, -0.3, 0.2, -0.1], np.float32)


@pytest.fixture(scope="session")
def command() -> Path:
    """Return the hushgrad command, as the package brings it."""
    return _programs.command()
