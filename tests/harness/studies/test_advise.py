"""The advice for an environment: its sentences from made-up measurements, and the command with its smallest effort."""

import dataclasses
import json
import math
import os
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from harness.cli.commands import main
from harness.measure.block import Measured
from harness.measure.measured_processes import Subject
from harness.measure.turn import Turn
from harness.studies.advise import advising, choices
from harness.studies.advise.answer import Answer, label
from harness.studies.advise.choices import AGAIN, LIMIT, LOOP, POOLED, REACTORS, MeasuredChoices, batched
from harness.studies.advise.profile import Profile
from harness.studies.advise.profile import measure as measure_profile
from reactorlib.gymnasium.isolation import Finding, Isolation

US = 1_000
STEADY = Profile([1_000 * US] * 100, 200, False)


def subject(name, round_us, digest="same", failure="", spread=0.001):
    turns = {(sweep, 0): Turn(10, round(10 * round_us * US * (1 + sweep // 2 % 2 * spread)), 1) for sweep in range(12)}
    return name, Measured(Subject(name, {}), failure=failure, turns={} if failure else turns, digest=digest)


def answer(*subjects, steps=10, profile=STEADY, actors=16, cores=2):
    found = dict(subjects)
    found.setdefault(*subject(AGAIN, found[LOOP].turns[0, 0].round_ns / US))
    return Answer("Own-v0", actors, 0, cores, profile, MeasuredChoices([found], steps))


def test_the_fastest_is_recommended_with_its_gain_over_the_loop_and_over_the_best_ray():
    made = answer(
        subject(LOOP, 16_000), subject(REACTORS, 8_100), subject(POOLED, 9_000), subject("ray-pooled-compiled", 12_000)
    )
    assert made.best.backend == REACTORS
    first, second, *_ = made.sentences()
    assert "1.98 [1.98, 1.98] times as fast as a plain loop, and 1.11 [1.11, 1.11] times as fast as the best" in first
    assert f"({POOLED})." in first
    assert (
        "not stepping: reactors 1 % (reactor-processes), Ray 11 % (ray-pooled) or 33 % (ray-pooled-compiled)" in second
    )
    assert [one.backend for one in made.costs] == [REACTORS, POOLED, "ray-pooled-compiled", LOOP]
    assert made.costs[0].share == pytest.approx(1 - 8_000 / 8_100, rel=1e-3)


def test_of_those_that_are_as_fast_the_simplest_is_recommended():
    made = answer(subject(LOOP, 16_000), subject("gymnasium-async", 8_300), subject(REACTORS, 8_000))
    assert made.best.backend == "gymnasium-async"
    assert f"It asks less of a program than {REACTORS}," in next(made.sentences())
    assert answer(subject(LOOP, 16_400), subject(REACTORS, 16_000)).best.backend == LOOP
    assert "a plain loop: nothing" in next(answer(subject(LOOP, 16_400), subject(REACTORS, 16_000)).sentences())


def test_who_is_not_shown_to_be_faster_than_the_loop_is_not_recommended_for_being_simple():
    noisy = subject("reactor-vector", 5_500, spread=3.4)
    made = answer(subject(LOOP, 16_000), noisy, subject(REACTORS, 8_000))
    behind, speed = made.found.ratio("reactor-vector", REACTORS), made.found.ratio(LOOP, "reactor-vector")
    assert behind.low < 1 < behind.high
    assert speed.low < 1 < speed.high
    assert made.best.backend == REACTORS


@pytest.mark.parametrize(
    ("single_us", "several_us", "steps"),
    [
        (8_100, 80_100, 1),  # 1.2 % with one step per message already
        (9_000, 81_000, 3),  # 1,000 us a message, none per step; 1,000 / (8,000 n + 1,000) < 5 % from 2.4 on
        (18_000, 90_000, 24),  # 10,000 us a message, none per step; from 23.75 on
        (9_000, 90_000, math.inf),  # 1,000 us per step of a message: 11 % however many there are
    ],
)
def test_from_how_many_steps_per_message_on_ray_costs_little(single_us, several_us, steps):
    made = answer(subject(LOOP, 16_000), subject(POOLED, single_us), subject(batched(10), several_us))
    assert made.steps_for_small_share == steps


def test_what_speaks_against_the_answer_is_said():
    wrong = [subject(name, us, digest="other") for name, us in ((REACTORS, 8_000), (POOLED, 12_000))]
    made = answer(subject(LOOP, 16_000), subject(AGAIN, 18_000), *wrong)
    (noisy,), (other,) = made.disturbances, made.doubts
    assert noisy == "the plain loop beside itself came out 1.12 times as long"
    first, second, *_ = made.sentences()
    assert first == f"Do not rely on this: {noisy}. Measure again when the machine is idle."
    assert second.startswith("Take reactorlib")
    assert other.startswith(f"{label(REACTORS)}; {label(POOLED)} computed something else than the plain loop: ")
    loaded = answer(subject(LOOP, 16_000), subject(REACTORS, 8_000))
    loaded.found.blocks[0][REACTORS].outside_cores = 0.7
    assert list(loaded.disturbances) == ["other programs kept 0.7 of 2 cores busy meanwhile"]
    slow = answer(subject(LOOP, 32_000), subject(REACTORS, 16_000))
    assert list(slow.disturbances) == [
        "16 steps took 32.0 ms in the plain loop, and 16.0 ms when the environment was alone"
    ]
    assert list(answer(subject(LOOP, 16_000), subject(REACTORS, 8_000)).disturbances) == []
    (random,) = answer(subject(LOOP, 16), subject(AGAIN, 16, digest="b"), subject(REACTORS, 8, digest="c")).doubts
    assert "not deterministic" in random


def test_who_fails_has_no_figures_and_nothing_is_said_of_it_but_that():
    failing = subject(POOLED, 1)[1]
    failing.failure = "no memory"
    made = answer(subject(LOOP, 16), subject(REACTORS, 8), (POOLED, failing))
    assert [one.backend for one in made.costs] == [REACTORS, LOOP]
    (doubt,) = made.doubts
    assert doubt.endswith("(ray-pooled) failed: no memory")
    assert made.steps_for_small_share is None
    assert "number of steps" not in " ".join(made.sentences())
    again = answer(subject(LOOP, 16), subject(REACTORS, 8), (AGAIN, failing))
    assert not any("deterministic" in doubt for doubt in again.doubts)


def test_uneven_shares_and_what_the_cores_cannot_do_are_no_fault_of_a_backend():
    uneven = answer(subject(LOOP, 15_000), subject(REACTORS, 8_000), actors=15)
    assert uneven.ideal_ns == pytest.approx(8_000 * US, rel=1e-3)
    made = answer(subject(LOOP, 15_000), subject(REACTORS, 10_500), subject(LIMIT, 10_000))
    assert made.ideal_ns == pytest.approx(10_000 * US, rel=1e-3)
    (cost,) = (one for one in made.costs if one.backend == REACTORS)
    assert cost.share == pytest.approx(1 / 21, rel=1e-2)
    assert LIMIT not in [one.backend for one in made.costs]
    short = answer(subject(LOOP, 40), subject(REACTORS, 105), subject(LIMIT, 62))
    assert short.ideal_ns == pytest.approx(40 * US, rel=1e-3)
    beyond = answer(subject(LOOP, 16_000), subject(REACTORS, 8_000), subject(POOLED, 4_000), subject(LIMIT, 9_000))
    assert [round(one.share, 2) for one in beyond.costs] == [0.0, 0.5, 0.75]
    assert list(beyond.disturbances) == [f"{label(POOLED)} took less than loops that exchange nothing"]


@pytest.mark.parametrize(("clock", "blocks"), [((0, 40), 1), ((0, 30, 90, 150), 3), ((0, 10, 50, 70, 90), 4)])
def test_there_is_one_block_or_three_and_more(monkeypatch, clock, blocks):
    monkeypatch.setattr(choices, "time", SimpleNamespace(monotonic=iter(clock).__next__))
    monkeypatch.setattr(choices.block, "run", lambda subjects, *_, **__: {one.name: Measured(one) for one in subjects})
    found = choices.run({"env": "CartPole-v1", "actors": 4}, STEADY, 2, 100.0, lambda _: None)
    assert len(found.blocks) == blocks


def test_an_environment_is_measured_by_itself():
    told = Profile(**json.loads(json.dumps(measure_profile("busy:200us:32", 0))))
    assert not told.waits
    assert told.message_bytes > 32
    assert told.percentile_ns(50) > 150 * US
    assert math.isclose(told.mean_ns, np.mean(told.step_ns))


@pytest.mark.slow(reason="two backends are measured; `make test` has an environment that is, and made-up answers")
def test_the_command_answers_draws_and_writes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(choices, "CHOICES", (LOOP, REACTORS))
    monkeypatch.setattr(choices, "POOLED", LOOP)  # starts at once
    monkeypatch.setattr(choices, "_EFFORT", dataclasses.replace(choices._EFFORT, sweeps=6, warmup_s=(0.0, 0.1)))
    line = ("advise", "--env", "busy:100us:8x2", "--actors", "3", "--seconds", "1")
    assert main([*line, "--output", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("busy:100us:8x2 x 3 on ")
    assert len(re.findall(r"^-> +\w", printed.out, re.MULTILINE)) == 1
    assert re.search(r"^(->|  ) +serial +\d", printed.out, re.MULTILINE)
    assert "starting serial" in printed.err
    written = json.loads((tmp_path / "advise.json").read_text())
    assert {one["backend"] for one in written["backends"]} == {LOOP, REACTORS}
    assert written["proof"] in printed.out
    assert "--set env=busy:100us:8x2 --set actors=3 --set seed=0" in written["proof"]
    assert not [doubt for doubt in written["doubts"] if "computed" in doubt or "failed" in doubt]
    assert "</svg>" in (tmp_path / "advise.svg").read_text()


def test_an_environment_that_depends_on_more_than_its_seed_is_a_doubt():
    finding = Finding("entropy", 0, "observation", ("my_env.py:5",))
    isolation = Isolation("Own-v0", (finding,), (), (), (), 101, 1.0)
    made = dataclasses.replace(answer(subject(LOOP, 16_000), subject(REACTORS, 8_000)), isolation=isolation)
    (doubt,) = [one for one in made.doubts if "my_env.py:5" in one]
    assert f"But {doubt}." in made.sentences()
    assert made.as_json()["isolation"]["remedy"] is None
    assert answer(subject(LOOP, 16_000)).as_json()["isolation"] is None


def test_an_environment_that_was_not_checked_in_every_way_is_a_doubt():
    isolation = Isolation("Own-v0", (), (), (), ("threads (no time was left)",), 101, 20.0)
    made = dataclasses.replace(answer(subject(LOOP, 16_000), subject(REACTORS, 8_000)), isolation=isolation)
    assert len([one for one in made.sentences() if "threads (no time was left)" in one]) == 1


def test_an_environment_that_breaks_is_one_line_and_leaves_no_directory(tmp_path, monkeypatch, capsys):
    (tmp_path / "broken.py").write_text("def make():\n    raise RuntimeError('no licence')\n")
    monkeypatch.chdir(tmp_path)
    assert main(["advise", "--env", "broken.py:make", "--output", "out"]) == 2
    printed = capsys.readouterr().err.splitlines()
    assert "no licence" in printed[-1]
    assert printed[-1].startswith("harness: ")
    assert [path.name for path in tmp_path.iterdir() if path.name != "__pycache__"] == ["broken.py"]


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_an_answer_that_cannot_be_written_is_printed(form, capsys, monkeypatch):
    made = answer(subject(LOOP, 16_000), subject(REACTORS, 8_000))
    monkeypatch.setattr(advising, "OUTPUT", Path("/dev/null/advise"))
    monkeypatch.setattr(advising, "_measured", lambda *_: made)
    assert main(["advise", "--env", "CartPole-v1", *form]) == 0
    printed, told = capsys.readouterr()
    assert next(made.sentences()) in (json.loads(printed)["sentences"] if form else printed.splitlines())
    assert "cannot be written (Not a directory): the answer will be printed only" in told
    assert "written:" not in told


def test_what_an_environment_prints_does_not_spoil_the_json(tmp_path, monkeypatch, capfd):
    def measured(*_):
        os.write(1, b"a step in C\n")
        print("a step")
        return answer(subject(LOOP, 16_000), subject(REACTORS, 8_000))

    monkeypatch.setattr(advising, "_measured", measured)
    monkeypatch.setattr(advising, "_draw", lambda _, directory: directory)
    assert main(["advise", "--env", "CartPole-v1", "--json", "--output", str(tmp_path)]) == 0
    printed = capfd.readouterr()
    assert json.loads(printed.out)["backends"]
    assert "a step in C" in printed.err
