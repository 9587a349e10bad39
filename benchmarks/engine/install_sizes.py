"""What a fresh environment of a library holds, and for which versions of Python the library says it is."""

import subprocess
import sys
import tempfile
from email import message_from_string
from pathlib import Path

ROOT = Path(__file__).parents[2]
UV = Path(sys.executable).parent / "uv"
INSTALLS = {
    "ours": ("sfumato", [str(ROOT)]),
    "ours, postgres": ("sfumato", [f"{ROOT}[postgres]"]),
    "ours, spark": ("sfumato", [f"{ROOT}[spark]"]),
    "ours, frames": ("sfumato", [f"{ROOT}[frames]"]),
}
"""The package that counts, and what is installed."""


def of_peers(peers: Path) -> dict[str, tuple[str, list[str]]]:
    """The first line of a requirement file is the peer itself, whatever else its engine needs."""
    found = {}
    for file in sorted(peers.glob("*/requirements.txt")):
        first = next(line for line in file.read_text().splitlines() if not line.startswith("#"))
        found[first.replace("==", " ")] = (first.partition("==")[0].partition("[")[0], ["-r", str(file)])
    return found


def measured(package: str, arguments: list[str]) -> tuple[float, int, str]:
    """Megabytes on disk without compiled files, the number of packages, and the declared versions of Python."""
    with tempfile.TemporaryDirectory() as folder:
        environment = Path(folder) / "fresh"
        quiet = [str(UV), "--quiet", "--no-python-downloads"]
        subprocess.run([*quiet, "venv", "--python", sys.executable, str(environment)], check=True)
        install = ["pip", "install", "--python", str(environment / "bin" / "python"), *arguments]
        subprocess.run([*quiet, *install], check=True, capture_output=True)
        (packages,) = environment.glob("lib/python*/site-packages")
        blocks = sum(file.lstat().st_blocks for file in packages.rglob("*"))
        infos = {file.name.partition("-")[0]: file for file in packages.glob("*.dist-info")}
        own = infos[package.replace("-", "_").replace(".", "_")] / "METADATA"
        python = message_from_string(own.read_text())["Requires-Python"]
    return blocks * 512 / 1e6, len(infos), python


def print_sizes(peers: Path) -> None:
    print("a fresh environment, MB of site-packages without compiled files")
    for name, (package, arguments) in (INSTALLS | of_peers(peers)).items():
        try:
            size, count, python = measured(package, arguments)
        except subprocess.CalledProcessError:
            print(f"  {name:28} cannot be installed on Python {sys.version_info.major}.{sys.version_info.minor}")
            continue
        print(f"  {name:28} {size:6.0f} MB {count:4} packages   Python {python}", flush=True)
