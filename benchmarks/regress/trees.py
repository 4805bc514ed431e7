"""The two trees that are compared: a commit, or a directory, and the working tree, both copied to one place.

Copies, because a tree may be edited while it is measured. Their paths have equal length. Otherwise the size of the
environment alone could move a program in memory and change its speed (Mytkowicz et al., ASPLOS 2009). A commit is
one of `git archive`, which leaves nothing behind.
"""

import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.errors import UsageError
from harness.store import machine

MEASURED = ("reactorlib", "workloads")
_GIT_SECONDS = 60


@dataclass(frozen=True)
class Trees:
    """Two directories that hold what is measured."""

    base: Path
    new: Path


@contextmanager
def side_by_side(base: str, new: Path) -> Iterator[Trees]:
    """Copies of `base`, a directory or a revision of the repository at `new`, and of `new`. Raises UsageError."""
    with tempfile.TemporaryDirectory(prefix="regress-") as scratch:
        trees = Trees(Path(scratch) / "base", Path(scratch) / "work")
        try:
            if Path(base).is_dir():
                _copy(Path(base), trees.base)
            else:
                _extract(new, base, trees.base)
            _copy(new, trees.new)
        except OSError as error:  # a full disk, say
            raise UsageError(f"the trees cannot be copied: {error}") from None
        yield trees


def default_base(repository: Path) -> str:
    """Where this branch left origin/main; without one the last commit, or the one before where nothing is changed.

    Raises UsageError if that commit does not exist.
    """
    git = partial(machine.git, repository, limit_s=_GIT_SECONDS)
    head = git("rev-parse", "HEAD")
    dirty = git("status", "--porcelain", "--untracked-files=no", "--", *MEASURED)
    fork = git("merge-base", "origin/main", "HEAD")
    if fork and fork != head:
        return fork
    base = git("rev-parse", "HEAD~1") if dirty == "" else head  # None: git could not tell
    if not base:
        raise UsageError(f"{repository}: no earlier commit to compare with; name one with --base")
    return base


def _copy(source: Path, target: Path) -> None:
    for name in MEASURED:
        if not (source / name).is_dir():
            raise UsageError(f"{source} has no {name}/; expected a checkout")
        shutil.copytree(source / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))


def _extract(repository: Path, revision: str, target: Path) -> None:
    with tempfile.NamedTemporaryFile(suffix=".tar") as archive:
        command = ("archive", f"--output={archive.name}", revision, "--", *MEASURED)
        if machine.git(repository, *command, limit_s=_GIT_SECONDS) is None:
            raise UsageError(f"base {revision}: no commit of {repository} that has {' and '.join(MEASURED)}")
        with tarfile.open(archive.name) as tar:
            tar.extractall(target, filter="data")
