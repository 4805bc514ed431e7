"""The commands on Lingua Franca files: parameters by name, a program's own options, what its target says."""

import json
import re
import shlex

import pytest

from reactorlib.lf import LinguaFrancaWarning
from tests.reactorlib.scripts import ROOT

PROGRAM = """\
target Python { timeout: 20 ms, fast: true }
reactor Clock(period = 10 ms, label = "tick", count = 1) {
  timer t(0, period)
  reaction beat(t) {= print(self.label, self.count, lf.time.logical_elapsed() // USEC(1)) =}
}
main reactor(period = 10 ms, label = "tick", workers = 1) {
  clock = new Clock(period = period, label = label, count = workers)
}
"""


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "Beats.lf"
    path.write_text(PROGRAM)
    return str(path)


@pytest.fixture
def call(call):
    """Call a command: its exit code, the lines that it printed, and its complaint."""

    def run(*arguments):
        code, printed, complaint = call(*arguments)
        return code, printed.splitlines(), complaint

    return run


def test_the_program_of_the_documentation_runs(call, tmp_path, monkeypatch):
    (commands,) = re.findall(r"```sh\n(.*?)```", (ROOT / "docs" / "lingua-franca.md").read_text(), re.DOTALL)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "docs" / "diagrams").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    told = [call(*shlex.split(line)[3:]) for line in commands.splitlines()]
    assert [code for code, _, _ in told] == [0, 0, 0]
    assert told[0][1] == ["Station: 3 reactors, 3 reactions, no fault"]
    assert told[1][1] == ["0 ms: 1.5"] * 3 + ["10 ms: 3.0", "20 ms: 4.5", "20 ms: 3.0"]
    assert (tmp_path / "docs" / "diagrams" / "station.svg").exists()


def test_run_takes_what_the_target_says(call, program):
    assert call("run", program) == (0, ["tick 1 0", "tick 1 10000", "tick 1 20000"], "")


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (["--period", "20 ms", "--label", "5"], ["5 1 0", "5 1 20000"]),
        (["--period=20 msec", "--label=a=b"], ["a=b 1 0", "a=b 1 20000"]),
        (["--period", "15", "msec"], ["tick 1 0", "tick 1 15000"]),
        (["--set", "workers=3", "--workers", "2", "--timeout", "0s"], ["tick 3 0"]),
        (["-o", "10", "msec", "-f", "true", "-k", "false", "-w", "2"], ["tick 1 0", "tick 1 10000"]),
        (["-o", "10 msec", "-f"], ["tick 1 0", "tick 1 10000"]),
        (["--timeout", "9ms", "--executor", "threads", "--workers", "2"], ["tick 1 0"]),
        (["--no-fast", "-k", "--timeout", "1 ms"], ["tick 1 0"]),
    ],
)
def test_run_takes_parameters_and_a_programs_own_options(call, program, arguments, lines):
    assert call("run", program, *arguments) == (0, lines, "")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--perod", "1 ms"], "Beats has no parameter 'perod': its parameters are period, label, workers"),
        (["--period"], "a parameter is given as --name value, got --period"),
        (["stray", "x"], "a parameter is given as --name value, got stray"),
        (["--timeout", "5"], "expected a time with its unit"),
    ],
)
def test_run_refuses_what_it_cannot_take(call, program, arguments, complaint):
    code, lines, complained = call("run", program, *arguments)
    assert (code, lines) == (2, [])
    assert complaint in complained


def test_other_programs_take_no_parameters_by_name(call):
    code, _, complained = call("run", "examples/powers.py:Powers", "--rounds", "5")
    assert code == 2
    assert "unrecognized arguments: --rounds 5" in complained


def test_every_command_takes_a_file_and_a_reactor_in_it(call, program, tmp_path):
    assert call("check", f"{program}:Clock", "--label", "x") == (0, ["Clock: 1 reactors, 1 reactions, no fault"], "")
    code, lines, _ = call("source", program, "--list")
    assert (code, lines) == (0, ["startup", "shutdown", "Beats.clock.t"])
    assert call("source", program, "--trigger", "clock.t")[0] == 0
    picture = tmp_path / "beats.svg"
    assert call("graph", program, "-o", str(picture), "--levels")[0] == 0
    assert "beat" in picture.read_text()
    timeline = tmp_path / "beats.json"
    assert call("trace", program, "-o", str(timeline), "--json")[0] == 0
    assert json.loads(timeline.read_text())


def test_check_tells_all_faults(call, tmp_path):
    path = tmp_path / "Wrong.lf"
    path.write_text("target Python\nmain reactor {\n  input[0] i\n  timer t(1)\n}\n")
    code, lines, complained = call("check", str(path))
    assert (code, lines) == (1, [])
    assert f"({path}:3)" in complained
    assert f"({path}:4)" in complained
    code, [printed], _ = call("check", str(path), "--json")
    assert code == 1
    assert len(json.loads(printed)["faults"]) == 2
    path.write_text("target Python\nmain reactor {\n  imput i\n}\n")
    code, _, complained = call("run", str(path))
    assert code == 1
    assert complained.startswith(f"reactorlib: {path}:3:3: expected a declaration")


def test_a_program_for_another_target_is_checked_and_drawn_and_not_run(call, tmp_path):
    path = tmp_path / "Native.lf"
    path.write_text('target C\nmain reactor { timer t(0, 1 s) reaction(t) {= printf("%d", 1); =} }\n')
    assert call("check", str(path)) == (0, ["Native: 1 reactors, 1 reactions, no fault"], "")
    assert call("graph", str(path), "--format", "mmd")[0] == 0
    code, _, complained = call("run", str(path))
    assert code == 1
    assert "its target is C, and only bodies in Python run here" in complained


def test_a_federated_program_has_its_federates_on_several_workers(call, tmp_path):
    path = tmp_path / "Fed.lf"
    path.write_text("""\
target Python { timeout: 1 ms, fast: true }
reactor Node { preamble {= import os =} output o reaction(startup) -> o {= o.set(self.os.getpid()) =} }
reactor Last { input[3] i reaction(i) {= print(len({port.value for port in i})) =} }
federated reactor { a = new Node() b = new Node() c = new Node() last = new Last() a.o, b.o, c.o -> last.i }
""")
    with pytest.warns(LinguaFrancaWarning, match="no RTI"):
        assert call("run", str(path), "--executor", "processes", "--workers", "3") == (0, ["3"], "")
    with pytest.warns(LinguaFrancaWarning, match="no RTI"):
        assert call("run", str(path), "--executor", "inline") == (0, ["1"], "")


def test_source_and_graph_show_where_run_puts_reactors(call, tmp_path):
    path = tmp_path / "Two.lf"
    path.write_text("""\
target Python
reactor A { output o reaction(startup) -> o {= o.set(1) =} }
main reactor { a = new A() b = new A() reaction(a.o, b.o) {= pass =} }
""")
    assert "# worker 1: Two.b" in call("source", str(path), "--workers", "2")[1]
    assert "b A (worker 1)" in "".join(call("graph", str(path), "--workers", "2", "--format", "mmd")[1])


PAIR = """\
target Python { fast: true PROPERTIES }
preamble {= LIMIT = [0]  =}
reactor Member { output out reaction(startup) -> out {= out.set(BODY) =} }
main reactor { members = new[2] Member() reaction(members.out) {= print(members[1].out.value) =} }
"""


def how(call, tmp_path, properties="", *arguments, body="1"):
    """The executor that runs a program, its number of workers, and the complaints."""
    path = tmp_path / "Pair.lf"
    path.write_text(PAIR.replace("PROPERTIES", properties).replace("BODY", body))
    code, lines, complained = call("run", str(path), "--json", *arguments)
    assert code == 0
    result = json.loads(lines[0])
    return result["executor"], result["workers"], complained.removesuffix("1\n").replace(f"{tmp_path}/", "")


@pytest.mark.parametrize(
    ("properties", "arguments", "expected"),
    [
        (", workers: 5", [], ("processes", 5)),
        (", workers: 5", ["-w", "3"], ("processes", 3)),
        (", workers: 5", ["--executor", "threads"], ("threads", 5)),
        (", workers: 5", ["--executor", "inline"], ("inline", 1)),
        ("", ["-w", "1"], ("inline", 1)),
        (", single-threaded: true", [], ("inline", 1)),
        (", threading: false", [], ("inline", 1)),
        (", single-threaded: true", ["-w", "2"], ("processes", 2)),
        (", single-threaded: true", ["--executor", "threads", "-w", "2"], ("threads", 2)),
        (", threading: true, workers: 2", [], ("processes", 2)),
    ],
)
def test_a_program_runs_in_parallel_unless_it_or_the_command_says_otherwise(
    call, tmp_path, monkeypatch, properties, arguments, expected
):
    monkeypatch.setattr("reactorlib.lf.parallelism.gil_enabled", lambda: True)
    monkeypatch.setattr("reactorlib.cpus.gil_enabled", lambda: True)
    assert how(call, tmp_path, properties, *arguments) == (*expected, "")


def test_there_is_a_worker_for_each_core(call, tmp_path, monkeypatch):
    monkeypatch.setattr("reactorlib.lf.parallelism.available_cpus", lambda: 3)
    assert how(call, tmp_path)[1] == 3


def test_a_program_that_changes_what_its_preamble_defines_runs_on_threads(call, tmp_path, monkeypatch):
    monkeypatch.setattr("reactorlib.lf.parallelism.gil_enabled", lambda: True)
    executor, workers, complained = how(call, tmp_path, ", workers: 2", body="(LIMIT.append(1), 1)[1]")
    assert (executor, workers) == ("threads", 2)
    assert complained.splitlines() == [
        "reactorlib: Pair.lf: bodies may change LIMIT, which all reactors share: the program runs on threads"
    ]
    assert how(call, tmp_path, "", "--executor", "processes", "-w", "2", body="(LIMIT.append(1), 1)[1]") == (
        "processes", 2, "",
    )  # fmt: skip
