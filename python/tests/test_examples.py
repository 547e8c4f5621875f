"""The example apps, with clients in this process instead of an engine."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("flwr")

from flwr.app import Context, Message, RecordDict
from flwr.serverapp import Grid
from flwr.supercore.task_identity import TaskIdentity

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "flower-mnist"
CLIENTS = 100


class Nodes(Grid):
    """A grid whose nodes run the client app at once."""

    def __init__(self, app: Any, config: dict[str, Any]) -> None:
        self.app, self.config, self.bytes = app, config, 0

    def get_node_ids(self) -> list[int]:
        return list(range(1, CLIENTS + 1))

    def send_and_receive(
        self, messages: Iterable[Message], *, timeout: float | None = None
    ) -> list[Message]:
        return [self.answer(message) for message in messages]

    def answer(self, message: Message) -> Message:
        node = message.metadata.dst_node_id
        place: dict[str, Any] = {"partition-id": node - 1, "num-partitions": CLIENTS}
        reply = self.app(message, Context(1, node, place, RecordDict(), self.config))
        assert list(reply.content) == ["hushgrad"]
        return reply

    set_run = run = create_message = push_messages = pull_messages = None  # type: ignore[assignment]


def test_flower_mnist_learns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("_run_id", "_node_id", "_task_id"):
        monkeypatch.setattr(TaskIdentity, name, 1)
    monkeypatch.setattr(sys, "path", [str(EXAMPLE), *sys.path])
    from flower_mnist import client_app, server_app

    config: dict[str, Any] = {
        "data": "",
        "clients": CLIENTS,
        "rounds": 8,
        "epsilon": 8.0,
    }
    grid = Nodes(client_app.app, config)
    server_app.app(grid, Context(1, 0, {}, RecordDict(), config))
    printed = capsys.readouterr().out
    assert printed.startswith("accuracy ")
    # Chance gives 0.1, and a run from 0.92 to 0.94.
    assert float(printed.split()[1]) > 0.7


@pytest.mark.skipif(sys.version_info < (3, 11), reason="needs tomllib")
def test_flower_mnist_names_its_settings() -> None:
    tomllib: Any = importlib.import_module("tomllib")
    settings = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["tool"]["flwr"]["app"]
    assert settings["components"]["serverapp"] == "flower_mnist.server_app:app"
    code = "".join(p.read_text() for p in (EXAMPLE / "flower_mnist").glob("*.py"))
    assert all(f'config["{name}"]' in code for name in settings["config"])
