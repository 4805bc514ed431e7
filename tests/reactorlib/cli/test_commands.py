"""Each command: what it writes where, and with which exit code."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from reactorlib.cli import main
from reactorlib.cli.target import parsed_time

ROOT = Path(__file__).resolve().parents[3]
POWERS, CYCLE, FURNACE = (f"examples/{name}" for name in ("powers.py:Powers", "cycle.py:Cycle", "furnace.py:Furnace"))


@pytest.fixture(autouse=True)
def _in_the_root(monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "path", list(sys.path))


@pytest.fixture
def call(capsys):
    """Run a command: its exit code, what it printed, and what it complained of."""

    def run(*arguments):
        try:
            code = main(arguments)
        except SystemExit as stop:  # argparse
            code = stop.code
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


def module(tmp_path, text, name="program"):
    path = tmp_path / f"{name}.py"
    path.write_text("from reactorlib import *\n" + text)
    return path


# new


@pytest.mark.parametrize("name", ["first.py", "first.lf"])
def test_new_writes_a_program_that_runs(call, tmp_path, name):
    path = tmp_path / name
    code, printed, _ = call("new", str(path))
    assert code == 0
    assert printed.startswith(f"{path}: written; run it with: python -m reactorlib run {path}")
    assert call("check", str(path)) == (
        0,
        f"Main: {6 if name.endswith('.py') else 5} reactors, 5 reactions, no fault\n",
        "",
    )
    code, printed, _ = call("run", str(path), "--timeout", "100ms", "--fast")
    assert (code, printed) == (0, "[1, 2, 3]\n[2, 4, 6]\n")
    code, printed, _ = call("run", str(path), "--fast")
    assert code == 0
    assert printed.startswith("[1, 2, 3]\n[2, 4, 6]\n[3, 6, 9]\n")


def test_new_writes_over_nothing(call, tmp_path):
    path = tmp_path / "first.py"
    path.write_text("mine")
    assert call("new", str(path)) == (2, "", f"reactorlib: {path} cannot be written: File exists\n")
    assert path.read_text() == "mine"


def test_new_refuses_a_language_that_it_does_not_know(call):
    assert call("new", "x.c") == (2, "", "reactorlib: x.c: the suffix names the language, one of .py, .lf\n")


# Errors fit a screen

SCREEN = 24
RING = """
class Child(Reactor):
    a, b = Input(), Output()
    @reaction(a, effects=b)
    def go(self, a, b): ...
class Main(Reactor):
    def __init__(self, n=40):
        self.c = Bank(Child, n)
        for i in range(n):
            connect(self.c[i].b, self.c[(i + 1) % n].a)
            connect(self.c[i].b, self.c[(i + 1) % n].a)
"""


@pytest.mark.parametrize("command", [["check"], ["run"], ["graph", "--format", "mmd"]])
def test_of_many_faults_a_screen_is_shown(call, tmp_path, command):
    path = str(module(tmp_path, RING))
    code, _, complaint = call(command[0], path, *command[1:])
    lines = complaint.splitlines()
    assert code == 1
    assert len(lines) <= SCREEN
    assert lines[0] == "reactorlib: 41 faults in the program:" or lines[0] == "reactorlib: 81 faults in the program:"
    assert any("lines left out" in line for line in lines)


def test_check_tells_a_machine_all_faults(call, tmp_path):
    told = json.loads(call("check", str(module(tmp_path, RING)), "--json")[1])
    assert len(told["faults"]) > 40


def test_a_traceback_is_that_of_the_program_and_fits_a_screen(call, tmp_path):
    path = module(tmp_path, """
def ping(n): pong(n - 1)
def pong(n): ping(n - 1) if n else fail()
def fail():
    try:
        {}["key"]
    except KeyError as error:
        raise ValueError("words " * 1000) from error
class Main(Reactor):
    @reaction(startup)
    def begin(self):
        ping(201)
""")  # fmt: skip
    code, _, complaint = call("run", str(path))
    assert code == 1
    assert "reactorlib/worker" not in complaint
    assert "calls left out" in complaint
    assert complaint.index("KeyError: 'key'") < complaint.index("which led to:") < complaint.index("ValueError: words")
    assert len(complaint.splitlines()) <= SCREEN
    assert max(map(len, complaint.splitlines())) < 500


def test_a_misspelt_option_is_told_in_two_lines(call):
    code, printed, complaint = call("run", POWERS, "--wokers", "3")
    assert (code, printed) == (2, "")
    assert complaint.splitlines() == [
        "reactorlib: unrecognized arguments: --wokers 3: did you mean --workers?",
        "    python -m reactorlib run --help says what there is",
    ]


def test_main_is_meant_where_a_file_declares_several(call, tmp_path):
    path = module(tmp_path, "class Part(Reactor): ...\nclass Main(Reactor): ...\n")
    assert call("check", str(path))[1] == "Main: 1 reactors, 0 reactions, no fault\n"


# graph


def test_graph_writes_the_file_and_says_so(call, tmp_path):
    path = tmp_path / "powers.svg"
    assert call("graph", POWERS, "-o", str(path)) == (0, f"{path}: Dataflow of Powers: 6 reactors, 6 reactions\n", "")
    assert path.read_text().startswith("<svg")


def test_graph_prints_what_it_is_not_told_to_write():
    done = subprocess.run(
        [sys.executable, "-m", "reactorlib", "graph", POWERS, "--format", "mmd"],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.startswith("flowchart LR\n")
    assert done.stderr == ""


def test_graph_takes_parameters_and_overlays(call, tmp_path):
    path = tmp_path / "powers.dot"
    code, _, _ = call("graph", POWERS, "--set", "workers=3", "--unfold", "--levels", "--workers", "2", "-o", str(path))
    text = path.read_text()
    assert code == 0
    assert set(re.findall(r"workers\[\d\] Worker \(worker \d\)", text)) == {
        "workers[0] Worker (worker 0)", "workers[1] Worker (worker 0)", "workers[2] Worker (worker 1)",
    }  # fmt: skip
    assert "level 1" in text


def test_graph_draws_a_program_with_a_cycle_and_explains_it(call, tmp_path):
    path = tmp_path / "cycle.svg"
    code, _, complaint = call("graph", CYCLE, "-o", str(path), "--workers", "2")
    assert code == 1
    assert complaint.startswith("reactorlib: causality cycle:\n    Cycle.judge.see")
    assert 'class="cyclic"' in path.read_text()


def test_graph_tells_a_machine_what_it_wrote(call, tmp_path):
    path = tmp_path / "cycle.html"
    code, printed, _ = call("graph", CYCLE, "-o", str(path), "--json")
    told = json.loads(printed)
    assert code == 1
    assert told["faults"][0].startswith("causality cycle:")
    del told["faults"]
    assert told == {"file": str(path), "format": "html", "reactors": 3, "reactions": 3}


@pytest.mark.parametrize(
    ("output", "complaint"),
    [("x.bmp", "x.bmp: the suffix names the format, one of svg, png, dot, mmd, html; or give --format"),
     ("no/such/folder/x.svg", "no/such/folder/x.svg cannot be written: No such file or directory")],
)  # fmt: skip
def test_graph_refuses_an_output_in_one_line(call, output, complaint):
    assert call("graph", POWERS, "-o", output) == (2, "", f"reactorlib: {complaint}\n")


def test_graph_without_matplotlib_says_what_to_install(call, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, _, complaint = call("graph", POWERS, "-o", str(tmp_path / "x.png"))
    assert code == 2
    assert "pip install matplotlib" in complaint


# trace


def test_trace_writes_a_file_and_prints_a_table(call, tmp_path):
    path = tmp_path / "powers.json"
    code, printed, _ = call("trace", POWERS, "--executor", "threads", "--workers", "2", "-o", str(path))
    trace = json.loads(path.read_text())
    lines = printed.splitlines()
    assert code == 0
    assert lines[:3] == ["1 [1, 1, 1, 1]", "2 [1, 2, 4, 8]", "3 [1, 3, 9, 27]"]
    assert lines[3].split() == ["reaction", "count", "total", "mean", "longest", "waiting", "critical"]
    assert {line.split()[0]: line.split()[1] for line in lines[4:7]} == {
        "hub.begin": "1", "hub.gather": "3", "workers[*].compute": "12",
    }  # fmt: skip
    assert "16 reactions at 4 tags" in printed
    assert f"digest: {trace['otherData']['digest']}" in lines
    assert sum(event.get("cat") == "reaction" for event in trace["traceEvents"]) == 16


def test_a_trace_that_cannot_be_written_is_refused_before_the_run(call, tmp_path):
    code, printed, complaint = call("trace", POWERS, "-o", str(tmp_path))
    assert (code, printed, complaint) == (2, "", f"reactorlib: {tmp_path} cannot be written: Is a directory\n")


def test_a_run_that_fails_keeps_the_trace_that_was_there(call, tmp_path):
    there, new = tmp_path / "there.json", tmp_path / "new.json"
    there.write_text("{}")
    for path in (there, new):
        assert call("trace", f"{POWERS}", "--set", "rounds=none", "-o", str(path))[0] == 1
    assert there.read_text() == "{}"
    assert not new.exists()


def test_the_digest_is_that_of_every_executor(call):
    digests = {
        json.loads(call("trace", POWERS, "--executor", executor, "--json")[1])["digest"]
        for executor in ("inline", "threads")
    }
    assert len(digests) == 1


def test_trace_tells_a_machine_all_numbers_and_nothing_else(call):
    code, printed, program = call("trace", POWERS, "--json", "--unfold")
    told = json.loads(printed)
    assert code == 0
    assert program.startswith("1 [1, 1, 1, 1]\n")
    assert (told["executor"], told["workers"], told["tags"], told["file"]) == ("inline", 1, 4, None)
    assert {row["path"]: row["count"] for row in told["reactions"]}["Powers.workers[3].compute"] == 3
    assert told["work_ns"] >= told["critical_ns"] > 0


def test_trace_of_an_endless_program_ends_at_the_timeout(call):
    code, printed, _ = call("trace", FURNACE, "--timeout", "5s", "--fast")
    assert code == 0
    assert "last tag (5 s, 0)" in printed


# source


def test_source_shows_the_schedule(call):
    code, printed, _ = call("source", POWERS, "--trigger", "hub.number")
    assert code == 0
    assert printed.startswith("def schedule(")
    assert "workers_3_compute(" in printed


def test_source_lists_what_can_be_a_trigger(call):
    assert call("source", POWERS, "--list")[1].splitlines() == ["Powers.hub.number", "startup", "shutdown"]
    assert json.loads(call("source", POWERS, "--list", "--json")[1])["triggers"][1:] == ["startup", "shutdown"]


def test_source_tells_a_machine_the_same(call):
    told = json.loads(call("source", POWERS, "--json")[1])
    assert told["triggers"] == ["startup"]
    assert "hub_begin" in told["source"]


def test_source_of_an_unknown_trigger_is_a_wrong_call(call):
    code, _, complaint = call("source", POWERS, "--trigger", "hub.nothing")
    assert code == 2
    assert "'hub.nothing' triggers nothing here: one of Powers.hub.number" in complaint


# run


def test_run_runs(call):
    assert call("run", POWERS, "--set", "rounds=1") == (0, "1 [1, 1, 1, 1]\n", "")


def test_run_prints_the_digest_when_asked(call):
    (one, two) = (call("run", POWERS, "--digest")[1].splitlines()[-1] for _ in range(2))
    assert one == two
    assert re.fullmatch("[0-9a-f]{32}", one)


def test_run_tells_a_machine_how_it_ended(call):
    code, printed, _ = call("run", POWERS, "--json")
    assert code == 0
    assert json.loads(printed) == {
        "time_ns": 0,
        "microstep": 4,
        "executor": "inline",
        "workers": 1,
        "reason": "",
        "start_method": "",
        "digest": None,
    }


def test_a_reaction_that_raises_shows_its_traceback_and_one_line(call, tmp_path):
    path = module(tmp_path, "class Main(Reactor):\n    @reaction(startup)\n    def begin(self):\n        1 / 0\n")
    code, _, complaint = call("run", str(path))
    assert code == 1
    assert complaint.splitlines()[0] == "Traceback (most recent call last):"
    assert (
        complaint.splitlines()[-1]
        == "reactorlib: Main.begin raised ZeroDivisionError at tag (0 ns, 0): division by zero"
    )


def test_a_program_with_a_fault_does_not_run(call):
    code, _, complaint = call("run", CYCLE)
    assert code == 1
    assert complaint.startswith("reactorlib: causality cycle:")


def test_an_interrupted_run_ends_with_130(call, tmp_path):
    text = "class Main(Reactor):\n    @reaction(startup)\n    def begin(self):\n        raise KeyboardInterrupt\n"
    assert call("run", str(module(tmp_path, text)))[::2] == (130, "reactorlib: interrupted\n")
    code, _, complaint = call("trace", str(module(tmp_path, text, "other")))
    assert (code, "give --timeout" in complaint) == (130, True)


def test_a_reader_that_has_enough_is_no_failure():
    done = subprocess.run(
        f"{sys.executable} -m reactorlib graph {POWERS} | head -c 10",
        shell=True,
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert (done.stdout, done.stderr) == (b"<svg xmlns", b"")


# Targets and parameters


@pytest.mark.parametrize(
    ("target", "complaint"),
    [
        ("nowhere:Main", "no module named 'nowhere' on the path; a file is given as path/to/file.py:Class"),
        ("examples/nowhere.py:Main", "no file examples/nowhere.py"),
        ("examples/powers.py:Power", "examples/powers.py has no class 'Power': did you mean Powers?"),
        ("examples/powers.py:X", "examples/powers.py has no class 'X': it declares Worker, Hub, Powers"),
        ("examples/powers.py:run", "examples/powers.py:run is no reactor class: it declares Worker, Hub, Powers"),
        ("json:JSONDecoder", "json:JSONDecoder is no reactor class"),
        ("json", "json: declares no reactor"),
        (
            "examples/powers.py:Powers.hub",
            "examples/powers.py has no class 'Powers.hub': did you mean Powers?",
        ),
    ],
)
@pytest.mark.parametrize("command", ["check", "graph", "trace", "source", "run"])
def test_an_unknown_program_is_one_line(call, command, target, complaint):
    assert call(command, target) == (2, "", f"reactorlib: {complaint}\n")


def test_a_module_is_found_on_the_path_and_in_the_current_folder(call, tmp_path, monkeypatch):
    module(
        tmp_path, "class Main(Reactor):\n    @reaction(startup)\n    def begin(self):\n        print('here')\n", "here"
    )
    monkeypatch.chdir(tmp_path)
    assert call("run", "here:Main") == (0, "here\n", "")
    assert call("run", "here") == (0, "here\n", "")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("import nothing_of_that_name\n", "cannot be imported: No module named 'nothing_of_that_name'"),
        ("x = 1 / 0\n", r"cannot be imported: ZeroDivisionError: division by zero \(.*broken\.py:2\)"),
        ("x = (\n", r"cannot be imported: SyntaxError: '\(' was never closed \(broken\.py, line 2\)"),
        ("raise SystemExit\n", "cannot be imported: SystemExit"),
    ],
)
def test_a_module_that_cannot_be_imported_is_one_line(call, tmp_path, text, complaint):
    code, _, said = call("graph", str(module(tmp_path, text, "broken")))
    assert code == 2
    assert re.search(complaint, said)
    assert said.count("\n") == 1


def test_a_file_may_be_called_like_a_module_that_is_in_use(call, tmp_path):
    path = module(
        tmp_path, "class Main(Reactor):\n    @reaction(startup)\n    def begin(self):\n        print('mine')\n", "json"
    )
    assert call("run", str(path)) == (0, "mine\n", "")
    assert json.loads("1") == 1


PARAMETERS = """
class Main(Reactor):
    def __init__(self, number, name: str = "x", wait=0 * MSEC, flag=False, parts=(), size: int = 3):
        self.values = number, name, wait, flag, parts, size
    @reaction(startup)
    def begin(self):
        print(self.values)
class Any(Reactor):
    def __init__(self, **options):
        print(options)
class Plain(Reactor): ...
"""


@pytest.mark.parametrize(
    ("settings", "values"),
    [
        (["number=4"], "(4, 'x', 0, False, (), 3)"),
        (["number=4.5", "name=7", "wait=5ms"], "(4.5, '7', 5000000, False, (), 3)"),
        (["number=word", "flag=true", "parts=[1, 2]"], "('word', 'x', 0, True, [1, 2], 3)"),
        (["number=a=b", "name="], "('a=b', '', 0, False, (), 3)"),
        (["number=None", "size=1_000"], "(None, 'x', 0, False, (), 1000)"),
    ],
)
def test_settings_become_values(call, tmp_path, settings, values):
    target = f"{module(tmp_path, PARAMETERS)}:Main"
    assert call("run", target, *(part for setting in settings for part in ("--set", setting))) == (0, f"{values}\n", "")


@pytest.mark.parametrize(
    ("name", "settings", "complaint"),
    [
        ("Main", [], "Main needs number: --set number=..."),
        ("Main", ["number=1", "numer=2"],
         "Main has no parameter 'numer': its parameters are number, name, wait, flag, parts, size"),
        ("Main", ["number"], "--set wants NAME=VALUE, got 'number'"),
        ("Plain", ["x=1"], "Plain has no parameter 'x': it has none"),
    ],
)  # fmt: skip
def test_wrong_settings_are_one_line(call, tmp_path, name, settings, complaint):
    target = f"{module(tmp_path, PARAMETERS)}:{name}"
    called = call("run", target, *(part for setting in settings for part in ("--set", setting)))
    assert called == (2, "", f"reactorlib: {complaint}\n")


def test_a_constructor_may_take_anything(call, tmp_path):
    assert call("run", f"{module(tmp_path, PARAMETERS)}:Any", "--set", "x=1")[:2] == (0, "{'x': 1}\n")


@pytest.mark.parametrize(
    ("declared", "complaint"),
    [
        ("State(lambda n: n)", "Main.it: calling its initial value, without arguments, raised TypeError: "),
        ("Input(width=lambda: 1 // 0)", "Main.it: width: the function raised ZeroDivisionError: "),
        ("Input(width=int)", "Main.it: width must be a value or a function of parameters, got <class 'int'>"),
    ],
)
def test_a_declaration_that_fails_is_one_line(call, tmp_path, declared, complaint):
    code, printed, said = call("run", str(module(tmp_path, f"class Main(Reactor):\n    it = {declared}\n")))
    assert (code, printed, said.count("\n")) == (1, "", 1)
    assert said.startswith(f"reactorlib: {complaint}")


def test_a_value_that_the_program_refuses_is_its_fault(call):
    code, _, complaint = call("run", POWERS, "--set", "workers=0")
    assert code == 1
    assert "width must be a positive integer" in complaint


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        (["--timeout", "5"], "expected a time with its unit, such as 500ms or 1s, got '5'"),
        (["--workers", "0"], "expected a positive whole number, got '0'"),
        (["--executor", "magic"], "invalid choice: 'magic'"),
    ],
)
def test_wrong_options_are_explained(call, option, complaint):
    code, _, said = call("run", POWERS, *option)
    assert code == 2
    assert complaint in said


@pytest.mark.parametrize(
    ("text", "time"),
    [("1s", 10**9), ("1.5 ms", 1_500_000), ("2min", 120 * 10**9), ("3", None), ("s", None)]
    + [("1.001s", 1_001_000_000), ("8.2ms", 8_200_000), ("9007199254740993ns", 9007199254740993)],
)
def test_times_have_units(text, time):
    assert parsed_time(text) == time


# Help


@pytest.mark.parametrize("command", [None, "new", "check", "graph", "trace", "source", "run"])
def test_help_has_examples_that_work(call, command, tmp_path, monkeypatch):
    code, text, _ = call(*([command] if command else []), "--help")
    examples = re.findall(r"^  python -m reactorlib (.*)$", text, re.MULTILINE)
    assert code == 0
    assert len(examples) >= 3
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    for example in examples:
        if example.endswith(".png"):
            pytest.importorskip("matplotlib")
        code, _, complaint = call(*example.split())
        assert code == 0, complaint


def test_no_command_shows_the_usage(call):
    code, _, said = call()
    assert code == 2
    assert said.startswith("usage: python -m reactorlib")
