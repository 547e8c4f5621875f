"""The connections of an NVFlare server to where sealed reports go."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import HushgradError, invalid
from ..federated import Shuffled

if TYPE_CHECKING:
    from ..server import Client, Operator

_NEEDED = ("operator", "shuffler", "name")
_OTHERS = ("share_key", "patience", "log_key", "witnesses", "operator_tls", "shuffler_tls")


class Sealed:
    """What a job says of a server and a shuffler, and the connections to them.

    The connections are opened with the first round: a job is described on one machine, and runs on
    another.

    Parameters
    ----------
    given : mapping
        See the parameter ``shuffled`` of :class:`HushgradAggregator`.

    Raises
    ------
    InvalidParameter
        If a name is missing or unknown, or if a value is of the wrong type.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        for name in given:
            if name not in _NEEDED + _OTHERS:
                rule = f"must have only {', '.join(_NEEDED + _OTHERS)}"
                raise invalid("shuffled", repr(name), rule)
        for name in _NEEDED:
            if not isinstance(given.get(name), str):
                raise invalid(f"shuffled[{name!r}]", repr(given.get(name)), "must be a text")
        try:
            self._share_key = b64decode(given.get("share_key", ""), validate=True)
        except (TypeError, ValueError, binascii.Error) as error:
            rule = "must be the public key that `hushgrad shuffle keys --output json` prints"
            raise invalid("shuffled['share_key']", "another text", rule) from error
        self._given = dict(given)
        self._parties: tuple[Operator, Client] | None = None
        self._made: Shuffled | None = None

    def shuffled(self) -> Shuffled:
        """Return where reports go. The connections are not tried before their first use.

        Raises
        ------
        HushgradError
            If the extra of the package for servers is missing.
        InvalidParameter
            If the parameters of a connection do not go together.
        """
        if self._made is None:
            try:
                from ..server import Client, Operator
            except ImportError as error:
                raise HushgradError(f"{error}: install hushgrad[nvflare,server]") from error
            given = self._given
            operator = Operator.connect(given["operator"], **given.get("operator_tls", {}))
            shuffler = Client.connect(given["shuffler"], **given.get("shuffler_tls", {}))
            self._parties = operator, shuffler
            self._made = Shuffled(
                *(operator, shuffler, given["name"]),
                patience=float(given.get("patience", 300.0)),
                share_key=self._share_key,
                log_key=given.get("log_key", ""),
                witnesses=tuple(given.get("witnesses", ())),
            )
        return self._made

    def close(self) -> None:
        """Close the connections. The next round opens others."""
        parties, self._parties, self._made = self._parties, None, None
        for party in parties or ():
            party.close()
