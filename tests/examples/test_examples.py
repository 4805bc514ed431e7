"""Every example runs as its file says."""

import subprocess
import sys
from pathlib import Path

import pytest

from reactorlib.cli import main
from tests.choice import first

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted(path for path in (ROOT / "examples").iterdir() if path.suffix in (".py", ".lf"))
OUTPUT = {
    "powers": ["1 [1, 1, 1, 1]", "2 [1, 2, 4, 8]", "3 [1, 3, 9, 27]"],
    "furnace": ["warm after 16 pulses"] * 3,
    "pi": [
        "40000 3.1391",
        "80000 3.1409",
        "110000 3.1387636363636364",
        "150000 3.14192",
        "190000 3.1428210526315787",
        "230000 3.1415478260869567",
    ],
    "sensor": [*(f"{what} {number}" for number in range(5) for what in ("sample", "again")), "done"],
}


@pytest.mark.parametrize("name", OUTPUT)
def test_an_example_prints(name):
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / f"{name}.py"], capture_output=True, text=True, timeout=60, check=True,
        env={"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert sorted(done.stdout.splitlines()) == sorted(OUTPUT[name])


@pytest.mark.parametrize("program", ["rl_pipeline.py:Pipeline", "rl_pipeline.lf"])
@pytest.mark.parametrize(("executor", "workers"), [("inline", "1"), ("threads", "2")])
def test_the_pipeline_learns_the_same_on_every_executor(program, executor, workers, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(["run", f"examples/{program}", "--executor", executor, "--workers", workers, "--digest"]) == 0
    *rounds, digest = capsys.readouterr().out.splitlines()
    assert rounds == [
        "round 1: mean reward 0.00", "round 10: mean reward 0.55", "round 20: mean reward 0.71",
        "round 60: mean reward 0.78",
    ]  # fmt: skip
    assert digest == "7a768f89e2827f5d0cab792c65b7153b"


@pytest.mark.parametrize(
    ("executor", "workers"),
    first(1, [("threads", "2"), ("inline", "1")], "a second executor; other programs run on each"),
)
def test_q_learning_learns_blackjack(executor, workers, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(["run", "examples/q_learning.lf", "--executor", executor, "--workers", workers, "--digest"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "with 12 against a ten: hit", "with 16 against a ten: hit", "with 20 against a ten: stick",
        "c0f505c5009e0b5d735a7c63a4502ea9",
    ]  # fmt: skip


def test_the_cycle_cannot_run(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    assert main(["run", "examples/cycle.py:Cycle"]) == 1
    assert "a connection with after=0 or a physical connection would break it" in capsys.readouterr().err


def test_every_example_is_tested():
    assert {path.stem for path in EXAMPLES} == {*OUTPUT, "rl_pipeline", "q_learning", "cycle", "resume_ppo"}
