"""A program from Lingua Franca does the same on every executor, in processes forked or spawned, and as federates."""

import gc
import pickle
import subprocess
import sys
import weakref

import pytest

from reactorlib import MSEC, Input, Output, Reactor, Timer, connect, elaborate, reaction, run
from reactorlib.cpus import gil_enabled
from reactorlib.lf import LinguaFrancaWarning, execution, federates, load, run_options
from reactorlib.lf.parallelism import shared_state
from reactorlib.schedule.partition import partition
from tests.reactorlib.scripts import ROOT

FARM = """
target Python { timeout: 20 ms, fast: true }
preamble {=
  class Parcel:
    def __init__(self, value):
      self.value = value
    def __eq__(self, other):
      return self.value == other.value
=}
reactor Worker(step = 1) {
  input job
  output[2] done
  logical action again(1 ms)
  state total = 0
  reaction(job) -> done, again {=
    self.total += job.value.value * self.step
    done[0].set(self.total)
    done[1].set([self.bank_index] * 3)
    again.schedule(USEC(self.bank_index), self.total)
  =}
  reaction(again) -> done {= done[1].set([again.value, lf.time.logical_elapsed()]) =}
}
reactor Hub(n = 4) {
  timer t(0, 5 ms)
  input[n + n] done
  output job
  output sum
  state round = 0
  reaction(t) -> job {=
    self.round += 1
    job.set(Parcel(self.round))
  =}
  reaction(done) -> sum {= sum.set([p.value for p in done if p.is_present]) =}
}
reactor Modal {
  input i
  output o
  initial mode One { reaction(i) -> o, reset(Two) {= o.set(("one", i.value)); Two.set() =} }
  mode Two {
    reset state seen = 0
    reaction(i) -> o, history(One) {= self.seen += 1; o.set(("two", self.seen)); One.set() =}
  }
}
main reactor(n = 4) {
  hub = new Hub(n = n)
  workers = new[n] Worker(step = {= bank_index + 1 =})
  modal = new Modal()
  (hub.job)+ -> workers.job
  workers.done -> hub.done
  hub.sum -> modal.i after 1 ms
}
"""
WAYS = [
    ("inline", {}),
    ("threads", {"workers": 3}),
    ("processes", {"workers": 2}),
    ("processes", {"workers": 2, "start_method": "spawn"}),
    ("processes", {"workers": 2, "placement": {"Main.modal": 1, "Main.workers[0]": 1}}),
]


def test_digests_are_equal_on_every_executor(write):
    main = load(write(FARM))
    traces = [run(main, executor=name, trace=True, **options, **run_options(main)) for name, options in WAYS]
    assert len({trace.digest for trace in traces}) == 1
    assert len(traces[0].trace) == 82


def test_a_worker_process_shows_lines_of_the_file(write):
    main = load(write(FARM.replace("self.total += job", "self.total /= self.bank_index - 3; self.total += job")))
    with pytest.raises(Exception, match=r"Main.workers\[3\].reaction_1 raised ZeroDivisionError"):
        run(main, executor="processes", workers=2, **run_options(main))


def test_a_class_is_found_again_from_its_pickle(write):
    main = load(write(FARM))
    assert pickle.loads(pickle.dumps(main)) is main
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).__name__, *sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], input=pickle.dumps(main), capture_output=True, timeout=60, check=True, cwd=ROOT
    )
    name, *modules = done.stdout.decode().split()
    assert name == "Main"
    assert main.__module__ in modules


@pytest.mark.skipif(
    not gil_enabled() and sys.version_info < (3, 14), reason="3.13 without a GIL frees no class once a thread has run"
)
def test_what_was_loaded_is_freed_with_its_classes(write):
    main = load(write(FARM))
    assert run(main, **run_options(main)).tag.time == 20_000_000
    module, freed = main.__module__, weakref.ref(main)
    assert module in sys.modules
    del main
    gc.collect()
    assert freed() is None
    assert module not in sys.modules


def test_a_module_of_an_environment_in_the_folder_is_no_state_of_the_program(write, monkeypatch):
    text = "preamble {= import MODULE =} main reactor { reaction(startup) {= MODULE.note(1) =} }"
    for folder, name, found in [("lib", "own_notes", ["own_notes.seen"]), ("venv/site-packages", "others_notes", [])]:
        module = write("seen = []\ndef note(value): seen.append(value)\n", f"{folder}/{name}.py")
        monkeypatch.syspath_prepend(module.parent)
        main = load(write(text.replace("MODULE", name)))
        assert shared_state(main.__lf__.program, {}) == found
        del sys.modules[name]


FEDERATED = """
target Python { timeout: 10 ms, fast: true }
reactor Ping { input i output o timer t(0, 2 ms) reaction(t) -> o {= o.set(1) =} reaction(i) {= =} }
reactor Pong { input i output o reaction(i) -> o {= o.set(i.value + 1) =} }
federated reactor {
  ping = new Ping()
  pong = new[2] Pong()
  (ping.o)+ -> pong.i
  last = new Pong()
  pong.o -> ping.i, last.i after 1 ms
}
"""


def test_federates_are_placed_in_turn_and_do_the_same(write):
    with pytest.warns(LinguaFrancaWarning, match="one program with one logical time; there is no RTI"):
        main = load(write(FEDERATED))
    placed = federates(elaborate(main), 3)
    assert placed == {"Main.ping": 0, "Main.pong[0]": 1, "Main.pong[1]": 2, "Main.last": 0}
    results = [
        run(main, executor=name, trace=True, **options, **run_options(main))
        for name, options in [("inline", {}), ("processes", {"workers": 3, "placement": placed})]
    ]
    assert results[0].digest == results[1].digest
    assert federates(elaborate(load(write(FARM))), 3) is None


STAGES = """
target Python { timeout: 9 ms, fast: true }
reactor Source { timer tick(0, 1 ms) output out reaction(tick) -> out {= out.set(1) =} }
reactor Stage { input inp output out reaction(inp) -> out {= out.set(inp.value + 1) =} }
main reactor {
  source = new Source()
  a = new Stage()
  b = new Stage()
  c = new Stage()
  source.out, a.out -> a.inp, b.inp
  b.out -> c.inp after 1 ms
}
"""


class Source(Reactor):
    tick, out = Timer(period=1 * MSEC), Output()

    @reaction(tick, effects=out)
    def send(self, tick, out):
        out.set(1)


class Stage(Reactor):
    inp, out = Input(), Output()

    @reaction(inp, effects=out)
    def work(self, inp, out):
        out.set(inp.value + 1)


class Main(Reactor):
    def __init__(self):
        self.source, self.a, self.b, self.c = Source(), Stage(), Stage(), Stage()
        connect(self.source.out, self.a.inp)
        connect(self.a.out, self.b.inp)
        connect(self.b.out, self.c.inp, after=1 * MSEC)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_program_is_placed_as_the_same_one_in_python(write, workers):
    program = elaborate(load(write(STAGES)))
    found = [partition(each, workers) for each in (program, elaborate(Main))]
    assert found[0] == found[1]
    options, _ = execution(program, workers=workers)
    assert options["executor"] == ("inline" if workers == 1 else "auto")
    assert len(set(found[0].of_instance)) == min(workers, 2)
