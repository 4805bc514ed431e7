"""Commands are called in this process, from the root of the repository."""

import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from reactorlib.cli import main

ROOT = Path(__file__).resolve().parents[3]


class Called(NamedTuple):
    """The end of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def call(capsys, monkeypatch):
    """Call a command."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def run(*arguments):
        try:
            code = main(arguments)
        except SystemExit as stop:  # argparse
            code = stop.code
        return Called(code, *capsys.readouterr())

    return run
