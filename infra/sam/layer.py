"""`python infra/sam/layer.py`: looks at the layers that `sam build` has made, as Lambda will.

size      each at most 80 MB unzipped; Lambda allows 250 for layers and code together
platform  what is compiled is for the template's runtime and architecture
layout    packages lie directly below `python/`, which Lambda puts on the path
import    made for this machine, the layers alone are enough to import every function, the common one for all but mcp
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILT = {name: ROOT / ".aws-sam" / "build" / name for name in ("CommonLayer", "McpLayer")}
MAKEFILES = {"CommonLayer": ROOT / "layers" / "common", "McpLayer": ROOT / "layers" / "mcp"}
LAYERS = {"mcp": ("CommonLayer", "McpLayer")}  # of the functions that have more than the common one
MAX_BYTES = 80_000_000
COMPILED = ("aarch64-linux-gnu", "abi3")
ALONE = """
import os, sys
sys.path[:0] = [{function!r}, *{layers!r}]
import handler
callable(handler.handler) or sys.exit("no handler")
foreign = [m.__name__ for m in list(sys.modules.values()) if "site-packages" in (getattr(m, "__file__", None) or "")]
sys.exit(f"from elsewhere: {{foreign}}" if foreign else 0)
"""


def main() -> int:
    """Prints what is wrong; 1 when anything is."""
    problems = [*_built(), *_imported()]
    sizes = ", ".join(f"{name} {_size(built) / 1e6:.0f} MB" for name, built in BUILT.items())
    print("\n".join(problems) or f"{sizes}; every function can be imported from its layers")
    return 1 if problems else 0


def _built() -> Iterator[str]:
    if not (BUILT["CommonLayer"] / "python" / "strandline" / "flow.py").exists():
        yield f"{BUILT['CommonLayer']}/python/strandline is not there: run `make build`"
    for name, built in BUILT.items():
        size = _size(built)
        if not 0 < size <= MAX_BYTES:
            yield f"{name} has {size:,} bytes, which is none, or more than {MAX_BYTES:,}"
        for library in built.rglob("*.so"):
            if not any(word in library.name for word in COMPILED):
                yield f"{library.relative_to(built)} is not for the runtime"


def _size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def _imported() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as made:
        for name, directory in MAKEFILES.items():
            command = ["make", "--silent", "-C", str(directory), f"build-{name}", "WHEELS="]
            subprocess.run([*command, f"ARTIFACTS_DIR={made}/{name}", f"PYTHON={sys.executable}"], check=True)
        for handler in sorted((ROOT / "functions").glob("*/handler.py")):
            layers = [f"{made}/{name}/python" for name in LAYERS.get(handler.parent.name, ("CommonLayer",))]
            script = ALONE.format(function=str(handler.parent), layers=layers)
            done = subprocess.run(
                [sys.executable, "-I", "-S", "-c", script],
                capture_output=True,
                text=True,
                check=False,
                env={"PATH": os.environ["PATH"]},
                cwd=made,
            )
            if done.returncode:
                yield f"{handler.parent.name}: {done.stderr.strip().splitlines()[-1:] or done.stdout}"


if __name__ == "__main__":
    sys.exit(main())
