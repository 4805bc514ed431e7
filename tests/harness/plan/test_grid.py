"""Which trials there are, and in which order."""

import json
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.plan import grid, presets
from harness.plan.grid import Grid, Point
from harness.plan.point_name import point_name
from harness.plan.presets import PRESETS
from harness.plan.selection import Setting, select
from harness.report import paper_claims
from tests.harness.fake_workload.fake.task import BEHAVIOURS
from tests.pages import ROOT
from workloads import catalogue, outside


def values(made, name):
    return [point.values[name] for point in made.points]


def test_points_are_the_product_of_all_values_each_once(built):
    made = built(Setting("actors", ("3", "7")), Setting("seed", ("1", "2")), Setting("pause", ("0", "0.0")))
    assert list(zip(values(made, "actors"), values(made, "seed"), strict=True)) == [(3, 1), (3, 2), (7, 1), (7, 2)]


def test_every_point_runs_before_any_runs_again_and_backends_stay_together(built):
    made = built(Setting("actors", ("1", "2")))
    blocks = [[(trial.index, trial.point.values["actors"]) for trial in block] for block in made.blocks()]
    assert blocks == [[(index, actors)] * 2 for index in range(3) for actors in (1, 2)]
    for block in made.blocks():
        assert {trial.backend for trial in block} == {"serial", "reactor-inline"}


def test_one_backend_of_each_kind_is_twice_in_the_blocks_of_the_point_that_most_run():
    made = select("quick").grid
    repeated = {point.workload: made.repeated(point) for point in made.points if made.repeated(point)}
    ((workload, names),) = repeated.items()
    assert len(names) == len({grid.kind_of(catalogue.BACKENDS[name]) for name in names})
    kinds = {grid.kind_of(catalogue.BACKENDS[name]) for name in grid.backends_of(workload, made.backends)}
    assert {grid.kind_of(catalogue.BACKENDS[name]) for name in names} == kinds
    assert {"on_serial", "inline", "processes", "ray", "ray-graph"} <= kinds


def test_the_seed_reaches_the_workloads_unless_set(built):
    assert values(built(seed=5), "seed") == [5]
    assert values(built(Setting("seed", ("7",)), seed=5), "seed") == [7]


def test_the_points_of_a_version_with_fewer_parameters_have_the_names_of_its_rows(built):
    described = built(Setting("actors", ("5",))).describe()
    (point,) = described["points"]
    del point["parameters"]["pause"]
    (restored,) = Grid.restore(described).points
    assert "pause" not in restored.values  # as its rows tell it: a later default may mean something else
    assert restored.task.pause == 0.0
    assert restored.name == point_name("fake", json.dumps(point["parameters"])) == "fake/actors=5"


@pytest.mark.parametrize("preset", PRESETS)
def test_the_name_of_every_point_gives_the_point_and_no_two_have_one_name(preset):
    points = select(preset).grid.points
    names = [point.name for point in points]
    assert len(set(names)) == len(names)
    assert select(preset, points=names, seed=7).grid.points == points


@given(
    st.builds(
        dict,
        actors=st.integers(1, 10**9),
        behaviour=st.sampled_from(BEHAVIOURS),
        file=st.text(st.characters(codec="utf-8", exclude_characters="=", exclude_categories=["Cc", "Z"])),
        pause=st.floats(0, 1e300),
        seed=st.integers(0, 2**70),
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_values_can_be_read_from_a_name(fake, values):
    task = catalogue.make_task("fake", values)
    point = Point("fake", grid.canonical(task), 1)
    assert Point.named(point.name, 1) == point


def test_a_name_lists_what_is_not_at_its_default_in_the_order_of_the_fields():
    values = {"rounds": 20, "env": "busy:2ms", "actors": 8, "seed": 0}
    assert point_name("gym_sampling", json.dumps(values)) == "gym_sampling/actors=8,env=busy:2ms,rounds=20"
    named = Point.named("gym_sampling/seed=0,rounds=20,env=busy:2ms,actors=8", 3)
    assert (named.name, named.trials) == ("gym_sampling/actors=8,env=busy:2ms,rounds=20", 3)
    assert Point.named("ppo", 1).name == "ppo"
    assert Point.named("broadcast_gather/object_bytes=1MiB,work_seconds=0.0", 1).name == (
        "broadcast_gather/object_bytes=1048576,work_seconds=0"
    )
    # Of a workload that is gone nothing is known to be a default.
    assert point_name("gone", '{"b":1.5,"a":true}') == "gone/b=1.5,a=true"


@pytest.mark.usefixtures("forgotten")
def test_a_workload_from_outside_is_named_by_the_path_of_its_folder(monkeypatch):
    point = Point.named(f"{ROOT}/examples/suite/random_walk/draws=10", 1)
    assert (point.workload, point.name) == ("random_walk", "random_walk/draws=10")
    monkeypatch.chdir(ROOT / "examples" / "suite")
    outside.PLACES.clear()
    del catalogue.WORKLOADS["random_walk"]
    assert Point.named("random_walk/draws=10", 1) == point  # by the path from here
    assert Point.named("random_walk/draws=10", 1) == point  # once it is entered


def test_named_points_run_on_the_backends_and_as_often_as_the_preset_says():
    made = select("paper", points=["gym_sampling/actors=2", "ppo", "gym_sampling/actors=2"]).grid
    assert [(point.name, point.trials) for point in made.points] == [("gym_sampling/actors=2", 5), ("ppo", 5)]
    assert made.backends == tuple(PRESETS["paper"].backends)
    other = select("paper", points=["ppo"], backends=["serial"], trials=2).grid
    assert ([point.trials for point in other.points], other.backends) == ([2], ("serial",))


def test_a_setting_reaches_every_workload_that_has_the_parameter_or_the_one_that_it_names():
    settings = [Setting("steps_per_message", ("4",)), Setting("actors", ("3",), "q_learning")]
    points = select("smoke", settings=settings).grid.points
    with_it = {point.workload for point in points if point.values.get("steps_per_message") == 4}
    assert with_it == {"gym_sampling", "atari_sampling"}
    assert {point.workload for point in points if point.values.get("actors") == 3} == {"q_learning"}
    assert {point.workload for point in points} == {sweep.workload for sweep in PRESETS["smoke"].sweeps}


def test_a_value_is_used_where_it_suits_and_what_is_left_out_is_noted():
    selection = select("smoke", settings=[Setting("env", ("Pong",))], workloads=["gym_sampling", "atari_sampling"])
    assert {point.workload for point in selection.grid.points} == {"atari_sampling"}
    (note,) = selection.notes
    assert note.startswith("left out: gym_sampling: env: unknown 'Pong'")


def test_a_value_may_suit_some_points_only():
    shapes = ("fan_out", "ping_pong", "timers")
    settings = [Setting("shape", shapes), Setting("actors", ("2", "7"))]
    selection = select("smoke", workloads=["overhead"], settings=settings)
    assert values(selection.grid, "shape") == ["fan_out", "fan_out", "ping_pong", "timers", "timers"]
    assert values(selection.grid, "actors") == [2, 7, 2, 2, 7]
    assert selection.notes[0].startswith("left out: overhead: actors: ping_pong takes exactly 2")


def test_a_backend_that_was_named_and_does_not_run_a_workload_is_noted():
    selection = select("smoke", backends=["serial", "lockstep"], workloads=["gym_sampling", "overhead"])
    assert selection.notes == ("left out: lockstep: no program of overhead is for it",)


SIZES = Setting("object_bytes", ("10kB", "1MiB"))


@pytest.mark.parametrize(
    ("setting", "lengths"),
    [
        (None, [(10_000, 30, 5), (2**20, 30, 5)]),
        (Setting("warmup_rounds", ("1", "2")), [(10_000, 30, 1), (10_000, 30, 2), (2**20, 30, 1), (2**20, 30, 2)]),
        (Setting("rounds", ("9", "8")), [(10_000, 9, 5), (10_000, 8, 5), (2**20, 9, 5), (2**20, 8, 5)]),
        (Setting("rounds", ("9",), "broadcast_gather"), [(10_000, 9, 5), (2**20, 9, 5)]),
    ],
)
def test_points_that_differ_only_in_their_length_are_the_shortest_of_them_unless_it_is_set(setting, lengths):
    settings = [SIZES, *([setting] if setting else [])]
    made = select("quick", workloads=["broadcast_gather"], settings=settings).grid
    assert (
        list(zip(*(values(made, name) for name in ("object_bytes", "rounds", "warmup_rounds")), strict=True)) == lengths
    )


def test_a_value_that_suits_nowhere_is_refused_also_beside_others_that_do():
    with pytest.raises(UsageError, match=r"--set env=CartPole-v1,CartPol-v1: .*unknown 'CartPol-v1'"):
        select("smoke", settings=[Setting("env", ("CartPole-v1", "CartPol-v1"))])
    with pytest.raises(UsageError, match="actors is set twice"):
        select("smoke", settings=[Setting("actors", ("2",)), Setting("actors", ("3",))])


def test_a_backend_that_a_workload_has_no_module_for_is_left_out(built, monkeypatch):
    monkeypatch.setitem(catalogue.BACKENDS, "peer", catalogue.Backend("peer", "elsewhere", "on_peer"))
    made = built(backends=["serial", "peer"])
    assert {trial.backend for trial in made.trials()} == {"serial"}
    with pytest.raises(UsageError, match="workload fake has none of the backends peer"):
        built(backends=["peer"])


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_built(name):
    made = select(name).grid
    assert {point.workload for point in made.points} == {sweep.workload for sweep in PRESETS[name].sweeps}
    for point in made.points:
        assert 1 <= point.verify_rounds <= point.values["rounds"]
        assert point.verify_rounds == 1 or point.verify_rounds * grid.bytes_of_round(point.values) <= 4 * 2**30


def test_a_preset_s_budget_holds_where_no_number_of_trials_is_told():
    assert select("quick").grid.budget_s == 25 * 60
    assert select("quick", budget_s=8 * 3600).grid.budget_s == 8 * 3600
    assert select("quick", trials=5).grid.budget_s is None
    assert Grid.restore(select("quick").grid.describe()).budget_s == 25 * 60
    assert grid.differences(select("quick").grid, select("quick", budget_s=60).grid) == ""


@pytest.fixture
def machine(monkeypatch):
    """Fakes a number of cores, and memory in GiB."""

    def fake(cores, memory_gib=512):
        monkeypatch.setattr(presets, "available_cpus", lambda: cores)
        monkeypatch.setattr(presets.memory, "total", lambda: memory_gib * 2**30)

    return fake


@pytest.mark.parametrize("name", ["quick", "crossover", "vectors"])
@pytest.mark.parametrize(
    ("cores", "workers"), [(1, {4, 8, 16}), (4, {8, 16}), (16, {32, 64}), (64, {128, 256}), (256, {256})]
)
def test_presets_have_workers_for_every_core(monkeypatch, machine, name, cores, workers):
    machine(cores)
    selected = select(name)
    assert {point.values["actors"] for point in selected.grid.points if "actors" in point.values} <= workers
    assert {point.values["agents"] for point in selected.grid.points if "agents" in point.values} <= {max(4, cores)}
    assert not selected.notes
    monkeypatch.setattr("reactorlib.cpus.available_cpus", lambda: cores)
    for point in selected.grid.points:
        assert catalogue.workers_of(catalogue.BACKENDS["reactor-processes"], point.task) == cores


@pytest.mark.parametrize(("cores", "workers"), [(1, {4, 8}), (4, {4, 8}), (16, {16, 32}), (256, {256})])
def test_contribute_has_at_most_two_workers_for_every_core_and_few_rounds(machine, cores, workers):
    machine(cores)
    made = select("contribute").grid
    assert (made.predicts, made.budget_s, select("quick").grid.predicts) == (True, 360, False)
    assert {point.values["actors"] for point in made.points} == workers
    # A loop steps all of a made-up environment's verified rounds in ten seconds or so.
    (busy,) = (point for point in made.points if point.scenario == "busy:2ms")
    assert busy.verify_rounds * busy.values["actors"] * 0.002 < 12
    assert Grid.restore(json.loads(json.dumps(made.describe() | {"run_id": ""}))) == made


def test_memory_limits_the_workers_and_a_note_names_it(machine):
    machine(64, memory_gib=30)
    selected = select("quick")
    assert {point.values["actors"] for point in selected.grid.points if "actors" in point.values} == {51}
    assert any("51 workers instead of 256" in note for note in selected.notes)


@pytest.mark.parametrize("workload", [one.name for one in catalogue.WORKLOADS.values() if one.claim])
def test_the_paper_preset_has_every_published_point_at_its_counts(workload):
    points = [point.values for point in select("paper").grid.points if point.workload == workload]
    places = {paper_claims._place(SimpleNamespace(workload=workload, parameters=values)) for values in points}
    assert set(paper_claims._published(workload)) == places - {None, ("q_learning", "250")}
    rounds = {"broadcast_gather": 1_000, "q_learning": 1_000, "multi_agent": 100_000}
    assert {values["rounds"] for values in points} == {rounds.get(workload, 10_000)}
