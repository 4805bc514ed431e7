"""Lingua Franca programs as text: loaded, run, what they print."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reactorlib import ElaborationError, elaborate, run
from reactorlib.lf import load, run_options


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Write a file; without a target declaration of its own it is one for Python."""

    def write(text: str, name: str = "Main.lf") -> Path:
        text = textwrap.dedent(text).lstrip("\n")
        if name.endswith(".lf") and not text.startswith("target"):
            text = "target Python\n" + text
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def printed(write: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> Callable[..., list[str]]:
    """The lines that a program prints, run in fast time unless its target says otherwise."""

    def printed(text: str, **parameters: Any) -> list[str]:
        main = load(write(text))
        run(elaborate(main, **parameters), **{"fast": True, **run_options(main)})
        return capsys.readouterr().out.splitlines()

    return printed


@pytest.fixture
def faults(write: Callable[..., Path]) -> Callable[..., str]:
    """The faults that loading and elaborating a program report, with paths cut to the file's name."""

    def faults(text: str, **parameters: Any) -> str:
        path = write(text)
        with pytest.raises(ElaborationError) as caught:
            elaborate(load(path), **parameters)
        return str(caught.value).replace(f"{path.parent}/", "")

    return faults
