"""`python -m utils.press.missing` installs those packages that lessons need and Python hasn't.

What is there stays as it is, in whichever version: a service like Colab brings its own PyTorch.
"""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, version

from utils import ROOT


def missing() -> list[str]:
    """The packages that lessons need and that aren't installed, at the versions of the lock."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = [re.match(r"[\w.-]+", line)[0] for line in project["dependencies"]]
    lock = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    locked = dict(re.findall(r"^([\w.-]+)==(\S+)", lock, re.MULTILINE))
    return [f"{name}=={locked[name]}" for name in names if not installed(name)]


def installed(name: str) -> bool:
    """Whether a package is there, in any version."""
    try:
        return bool(version(name))
    except PackageNotFoundError:
        return False


if __name__ == "__main__":
    if packages := missing():
        print(f"Installing {', '.join(packages)} …")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", *packages]
        sys.exit(subprocess.run(pip).returncode)
