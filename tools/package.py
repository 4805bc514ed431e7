"""Build the source distribution, and from it the wheel: `python tools/package.py DIRECTORY`. Needs setuptools.

Both are made outside the checkout from the files that git knows, or from all files without git. So no leftover of an
earlier build gets into them. Prints the two paths.

reactorlib/README.md becomes the page on PyPI, where a relative link leads nowhere. In a workflow, links are made
absolute. Elsewhere the repository's address is not known, and only their text is kept.
"""

import contextlib
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = Path("reactorlib", "README.md")


def files() -> list[str]:
    """The files of this checkout, also those that are not committed yet."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    everything = (path for top in ROOT.glob("[!.]*") for path in (top, *top.rglob("*")))  # without .venv
    found = listed.stdout.splitlines() or [str(path.relative_to(ROOT)) for path in everything]
    return [name for name in found if (ROOT / name).is_file() and not name.startswith("results/")]


def pypi_page(readme: str, repository: str, ref: str) -> str:
    """The README with absolute links into the repository at `ref`; without an address, with no links into it.

    >>> pypi_page("[CI](../docs/ci.md), [above](#a), ![a](../b.svg)", "https://host/me/it", "v1")
    '[CI](https://host/me/it/blob/v1/docs/ci.md), [above](#a), ![a](https://host/me/it/raw/v1/b.svg)'
    >>> pypi_page("[CI](../docs/ci.md) and ![a](../b.svg)", "", "")
    'CI and '
    """

    def changed(found: re.Match[str]) -> str:
        picture, label, target = found.groups()
        if not repository:
            return "" if picture else label
        path = posixpath.normpath(posixpath.join(PAGE.parent, target))
        return f"{picture}[{label}]({repository}/{'raw' if picture else 'blob'}/{ref}/{path})"

    return re.sub(r"(!?)\[([^]]*)\]\((?!https?:|#)([^)]+)\)", changed, readme)


def repository() -> str:
    """The address of the repository, which workflows know."""
    server, name = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    return f"{server}/{name}" if server and name else ""


def built(kind: str, source: Path, output: Path) -> Path:
    """An "sdist" or a "wheel", by the backend that pyproject.toml names."""
    code = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])(sys.argv[2]))"
    command = [sys.executable, "-c", code, f"build_{kind}", str(output)]
    done = subprocess.run(command, cwd=source, stdout=subprocess.PIPE, text=True, check=True)
    return output / done.stdout.splitlines()[-1]


def build(output: Path) -> tuple[Path, Path]:
    """The source distribution and the wheel."""
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "source")
        for name in files():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, source / name)
        page = source / PAGE
        ref = os.environ.get("GITHUB_REF_NAME", "main")
        page.write_text(pypi_page(page.read_text(encoding="utf-8"), repository(), ref), encoding="utf-8")
        sdist = built("sdist", source, output.resolve())
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        return sdist, built("wheel", Path(folder, sdist.name.removesuffix(".tar.gz")), output.resolve())


if __name__ == "__main__":
    with contextlib.redirect_stdout(sys.stderr):
        made = build(Path(sys.argv[1]))
    print(*made, sep="\n")
