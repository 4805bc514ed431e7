"""The pages for readers, README and docs, as tests take them apart."""

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
README = ROOT / "README.md"
PAGES = [
    README,
    ROOT / "reactorlib" / "README.md",
    ROOT / "ARTIFACT.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted(DOCS.rglob("*.md")),
]
_FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name(page):
    """How a test calls a page."""
    return str(page.relative_to(ROOT).with_suffix(""))


def blocks(page):
    """Its blocks of code in order, each with the words behind its opening fence."""
    return [(found[1], found[2]) for found in _FENCE.finditer(page.read_text(encoding="utf-8"))]


def prose(page):
    """The text of a page outside of blocks."""
    return _FENCE.sub("", page.read_text(encoding="utf-8"))


def links(page):
    """List the targets of a page's links within the repository."""
    return re.findall(r"\]\((?!https?:)([^)]+)\)", re.sub(r"`[^`\n]*`", "", prose(page)))


def commands(*prefixes):
    """List the commands that the pages show, in blocks and within sentences, without the interpreter's path."""
    found = set()
    for page in PAGES:
        lines = [line for kind, block in blocks(page) if kind == "sh" for line in block.splitlines()]
        shown = [line.removeprefix(".venv/bin/") for line in lines + re.findall(r"`([^`\n]+)`", prose(page))]
        found |= {line for line in shown if line.startswith(prefixes)}
    return sorted(found)


def execute(arguments, **options):
    """Run a program as a reader would, with the repository's modules in reach."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(
        arguments, capture_output=True, text=True, timeout=100, env=environment, check=False, **options
    )
