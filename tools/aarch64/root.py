"""A folder with Python for arm64 and what cudarun's tests need, run by qemu-user."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("python3.11", "libstdc++6")
SUITE = "deb http://deb.debian.org/debian bookworm main\n"
PLATFORMS = [f"manylinux_2_{minor}_aarch64" for minor in (28, 27, 24, 17)]
SAME = ("numpy", "llvmlite", "ml_dtypes", "pytest")  # versions that both machines have
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def emulator() -> str | None:
    """Return the path of qemu-user for AArch64; ``None`` if it is not installed."""
    return shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")


def set_up(folder: Path) -> Path:
    """Return the emulated Python of a folder, which is made if there is none.

    Its name is that of a script, so that ``sys.executable`` starts emulated processes, too.
    """
    python = folder / "aarch64" / "bin" / "python"
    if python.exists():
        return python
    qemu = emulator()
    if qemu is None:
        raise SystemExit("qemu-aarch64-static is not installed: apt-get install qemu-user-static")
    system = folder / "root"
    _unpack(folder / "apt", system)
    site = folder / "aarch64" / "lib" / "python3.11" / "site-packages"
    _install(site)
    (site / "checkout.pth").write_text(f"{ROOT}\n")
    (folder / "aarch64" / "pyvenv.cfg").write_text(f"home = {system}/usr/bin\nversion = 3.11\n")
    python.parent.mkdir(exist_ok=True)
    python.write_text(
        f'#!/bin/sh\nexec {qemu} -L {system} -0 "$0" {system}/usr/bin/python3.11 "$@"\n'
    )
    python.chmod(0o755)
    return python


def _unpack(apt: Path, system: Path) -> None:
    """Download Debian packages by apt, with lists of their own, and unpack them."""
    for each in ("state/lists/partial", "cache/archives/partial"):
        (apt / each).mkdir(parents=True, exist_ok=True)
    (apt / "status").touch()
    (apt / "sources.list").write_text(SUITE.replace("deb ", f"deb [signed-by={_KEYRING}] "))
    settings = {
        "Dir::State": apt / "state",
        "Dir::State::status": apt / "status",
        "Dir::Cache": apt / "cache",
        "Dir::Etc::SourceList": apt / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "APT::Sandbox::User": "root" if os.getuid() == 0 else "",
        "Debug::NoLocking": "1",
    }
    command = ["apt-get", *(f"-o{name}={value}" for name, value in settings.items() if value)]
    subprocess.run([*command, "update"], check=True)
    subprocess.run(
        [*command, "install", "--yes", "--download-only", "--no-install-recommends", *PACKAGES],
        check=True,
    )
    for package in sorted((apt / "cache" / "archives").glob("*.deb")):
        subprocess.run(["dpkg", "-x", package, system], check=True)


def _install(site: Path) -> None:
    """Download wheels for AArch64 by pip."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"]["fast"]]
    needed += [f"{name}=={version(name)}" for name in SAME]
    pip = shutil.which("pip3") or "pip"
    platforms = [f"--platform={name}" for name in PLATFORMS]
    chosen = [*platforms, "--python-version=3.11", "--implementation=cp", "--only-binary=:all:"]
    subprocess.run([pip, "install", "--quiet", f"--target={site}", *chosen, *needed], check=True)
    subprocess.run([sys.executable, "-m", "compileall", "-q", site], check=False)
