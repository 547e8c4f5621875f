"""A hook of MkDocs: the planner, which docs/cost.js runs in the browser.

Go compiles the program bridge/web/cost to WebAssembly. The file is packed, since not every host
packs such files. The loader is the npm package's.
"""

from __future__ import annotations

import gzip
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig


def on_post_build(config: MkDocsConfig) -> None:
    """Write the planner and its loader below the site."""
    root = Path(config["config_file_path"]).parent

    def go(*args: str) -> str:
        target = os.environ | {"GOOS": "js", "GOARCH": "wasm"}
        command = ["go", *args]
        run = subprocess.run(command, cwd=root, env=target, check=True, stdout=subprocess.PIPE)
        return run.stdout.decode().strip()

    folder = Path(config["site_dir"], "cost")
    folder.mkdir(exist_ok=True)
    shutil.copy(Path(go("env", "GOROOT"), "lib", "wasm", "wasm_exec.js"), folder)
    for name in ("bridge/web/index.js", "LICENSE", "NOTICES"):
        shutil.copy(root / name, folder)
    with tempfile.TemporaryDirectory() as scratch:
        program = Path(scratch, "planner")
        go("build", "-trimpath", "-ldflags=-s -w", "-o", str(program), "./bridge/web/cost")
        packed = gzip.compress(program.read_bytes(), mtime=0)
    Path(folder, "planner.wasm.gz").write_bytes(packed)
