"""What a round says about itself."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from .policy import Guarantee


class RoundFacts:
    """The public numbers and names of a round. Each :class:`hushgrad.Round` has them.

    Attributes
    ----------
    description : bytes
        The canonical bytes, for clients. Two parties with the same bytes have the same round.
    id, mechanism : str
        Name of the round, and of its mechanism.
    dim : int
        Coordinates of a gradient.
    scale : float
        What it means depends on the mechanism, in units of the gradient. For coco, collision
        and signsketch gradients are clipped to the L1 norm ``scale * sparsity``, and for privunit
        to the L2 norm ``scale``.
    epsilon, delta : float
        The budget of one report.
    relation : {"replace-one", "zero-out"}
        Which inputs are neighbours.
    min_reports, target_reports : int
        Reports below which nothing is released, and at which a server closes; 0 is never.
    columns : tuple of str
        What is estimated beside the mean.
    params : mapping
        Parameters of the mechanism.
    about_records : bool
        Reports are sums of records (:meth:`hushgrad.Round.encode_records`), and what they promise
        is about one record.
    shuffler : str
        Name of the shuffler that reports go through, or "".
    features : str
        What the clients' models see of an example, or "" where the round does not say.
    seal_key : bytes
        Public key of the server to which reports are sealed, or nothing.
    share_key : bytes
        The shuffler's public key, to which second shares are sealed, or nothing.
    sealed : bool
        Reports leave sealed to the server, for the shuffler. Nobody on the way reads them.
    report_bytes : int
        Bytes of every report as it leaves a client, sealed or not, or 0 where they vary.
    digest : str
        SHA-256 of the description, hexadecimal.
    guarantee : Guarantee
        What one report by itself promises: in a round with a policy this client's guarantee.
    central : Guarantee or None
        What one report promises against a party that sees only what the shuffler forwards, if
        min_reports honest clients send one. It does not hold against a server and a shuffler
        that work together. None unless the policy pins the shuffler and the key of the round.
    advice : tuple of str
        Remarks on parameters that are allowed but poor.
    """

    def read(self, answer: dict[str, Any], description: bytes) -> None:
        """Read what the helper says of a round."""
        self.description: bytes = description
        self.id: str = answer["id"]
        self.mechanism: str = answer["mechanism"]
        self.dim: int = answer["dim"]
        self.scale: float = float(answer["scale"])
        self.epsilon: float = float(answer["epsilon"])
        self.delta: float = float(answer["delta"])
        self.relation: str = answer["relation"]
        self.min_reports: int = answer["min_reports"]
        self.target_reports: int = answer["target_reports"]
        self.columns: tuple[str, ...] = tuple(answer["columns"])
        self.params: Mapping[str, float | str] = MappingProxyType(answer["params"])
        self.about_records: bool = "records" in self.params
        self.shuffler: str = answer["shuffler"]
        self.seal_key: bytes = b64decode(answer["seal_key"])
        self.share_key: bytes = b64decode(answer["share_key"])
        self.features: str = answer["features"]
        self.sealed: bool = answer["sealed"]
        self.report_bytes: int = answer["report_bytes"]
        self.digest: str = answer["digest"]
        self.guarantee: Guarantee = Guarantee.from_answer(answer["guarantee"])
        central: dict[str, Any] | None = answer["central"]
        self.central: Guarantee | None = Guarantee.from_answer(central) if central else None
        self.advice: tuple[str, ...] = tuple(answer["advice"])
