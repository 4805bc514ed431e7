"""Commands are called in this process, from the root of the repository."""

import sys
from typing import NamedTuple

import pytest

from reactorlib.cli import main
from tests.reactorlib.scripts import ROOT


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
