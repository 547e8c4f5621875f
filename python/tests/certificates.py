"""An authority for tests, and certificates that it signs. It needs the openssl command."""

from __future__ import annotations

import subprocess
from pathlib import Path


def authority(folder: Path) -> Path:
    """Make an authority in a folder and return the file of its certificate."""
    certificate = folder / "ca.pem"
    _openssl(
        *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc"),
        *("-subj", "/CN=authority", "-days", "2", "-addext", "keyUsage=critical,keyCertSign"),
        *("-keyout", str(folder / "ca.key"), "-out", str(certificate)),
    )
    return certificate


def certify(folder: Path, name: str, alternatives: str) -> tuple[Path, Path]:
    """Make a certificate for alternative names such as DNS:localhost, and return its files."""
    certificate, key, request = (folder / f"{name}.{end}" for end in ("pem", "key", "request"))
    extensions = folder / f"{name}.extensions"
    extensions.write_text(f"basicConstraints=CA:FALSE\nsubjectAltName={alternatives}\n")
    _openssl(
        *("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc"),
        *("-subj", f"/CN={name}", "-keyout", str(key), "-out", str(request)),
    )
    _openssl(
        *("x509", "-req", "-in", str(request), "-days", "2", "-CA", str(folder / "ca.pem")),
        *("-CAkey", str(folder / "ca.key"), "-CAcreateserial", "-out", str(certificate)),
        *("-extfile", str(extensions)),
    )
    return certificate, key


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)
