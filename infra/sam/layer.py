"""`python infra/sam/layer.py`: looks at the layer that `sam build` has made, as Lambda will.

size      at most 80 MB unzipped; Lambda allows 250 for layers and code together
platform  what is compiled is for the template's runtime and architecture
layout    packages lie directly below `python/`, which Lambda puts on the path
import    made for this machine, the layer alone is enough to import every function
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILT = ROOT / ".aws-sam" / "build" / "CommonLayer"
MAX_BYTES = 80_000_000
COMPILED = ("aarch64-linux-gnu", "abi3")
ALONE = """
import os, sys
sys.path[:0] = [{function!r}, {layer!r}]
import handler
callable(handler.handler) or sys.exit("no handler")
foreign = [m.__name__ for m in list(sys.modules.values()) if "site-packages" in (getattr(m, "__file__", None) or "")]
sys.exit(f"from elsewhere: {{foreign}}" if foreign else 0)
"""


def main() -> int:
    """Prints what is wrong; 1 when anything is."""
    problems = [*_built(), *_imported()]
    print(
        "\n".join(problems) or f"layer: {_size(BUILT) / 1e6:.0f} MB, every function can be imported from it"
    )
    return 1 if problems else 0


def _built() -> Iterator[str]:
    if not (BUILT / "python" / "strandline" / "flow.py").exists():
        yield f"{BUILT}/python/strandline is not there: run `make build`"
    size = _size(BUILT)
    if size > MAX_BYTES:
        yield f"the layer has {size:,} bytes, more than {MAX_BYTES:,}"
    for library in BUILT.rglob("*.so"):
        if not any(word in library.name for word in COMPILED):
            yield f"{library.relative_to(BUILT)} is not for the runtime"


def _size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def _imported() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as made:
        command = ["make", "--silent", "-C", str(ROOT / "layers" / "common"), "build-CommonLayer", "WHEELS="]
        subprocess.run([*command, f"ARTIFACTS_DIR={made}", f"PYTHON={sys.executable}"], check=True)
        for handler in sorted((ROOT / "functions").glob("*/handler.py")):
            script = ALONE.format(function=str(handler.parent), layer=f"{made}/python")
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
