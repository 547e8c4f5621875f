"""The model, the pictures, and how a node trains."""

from __future__ import annotations

from functools import cache

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

PUBLIC, TEST = 300, 360  # pictures that no node has


class Net(nn.Module):
    """A network with one hidden layer."""

    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.Linear(64, 16)
        self.out = nn.Linear(16, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Return a score for each digit."""
        return self.out(torch.relu(self.hidden(x)))


@cache
def digits() -> tuple[torch.Tensor, torch.Tensor]:
    """Return the 1797 digits of scikit-learn, always in the same order."""
    pixels, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(labels))
    x, y = pixels[order], labels[order]
    x = x - x[:PUBLIC].mean(axis=0)
    x = x / np.sqrt(np.mean(x**2, axis=1, keepdims=True))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)


def load(part: slice, batch_size: int) -> DataLoader:
    """Return some of the pictures, in batches."""
    x, y = digits()
    return DataLoader(TensorDataset(x[part], y[part]), batch_size=batch_size)


def load_node(node: int, nodes: int) -> DataLoader:
    """Return the pictures of a node."""
    return load(slice(PUBLIC + node, -TEST, nodes), batch_size=32)


def load_test() -> DataLoader:
    """Return the pictures of the test."""
    return load(slice(-TEST, None), batch_size=TEST)


def train(net: nn.Module, loader: DataLoader, epochs: int, lr: float) -> float:
    """Train on a node's pictures, and return the last loss."""
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    net.train()
    for _ in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(net(x), y)
            loss.backward()
            optimizer.step()
    return loss.item()


def accuracy(net: nn.Module, loader: DataLoader) -> float:
    """Return the share of pictures that are named right."""
    net.eval()
    with torch.no_grad():
        right = sum((net(x).argmax(1) == y).sum().item() for x, y in loader)
    return right / len(loader.dataset)
