"""Each command: what it writes where, and with which exit code."""

import json
import re
import subprocess
import sys

import pytest

from reactorlib.cli.output import show_traceback
from reactorlib.cli.target import parsed_time
from tests.reactorlib.scripts import ROOT

POWERS, CYCLE, FURNACE = (f"examples/{name}" for name in ("powers.py:Powers", "cycle.py:Cycle", "furnace.py:Furnace"))
SCREEN = 24  # lines


def module(tmp_path, text, name="program"):
    path = tmp_path / f"{name}.py"
    path.write_text("from reactorlib import *\n" + text)
    return str(path)


def main_that(statement):
    return f"class Main(Reactor):\n    @reaction(startup)\n    def begin(self):\n        {statement}\n"


def test_new_writes_a_program_that_is_sound_and_runs(call, tmp_path):
    path = str(tmp_path / "first.py")
    assert call("new", path).code == 0
    assert call("check", path)[:2] == (0, "Main: 5 reactors, 5 reactions, no fault\n")
    assert call("run", path, "--timeout", "100ms", "--fast")[:2] == (0, "[1, 2, 3]\n[2, 4, 6]\n")
    assert len(call("run", path, "--fast").out.splitlines()) >= 5


def test_new_leaves_an_existing_file_alone(call, tmp_path):
    path = tmp_path / "first.py"
    path.write_text("mine")
    assert call("new", str(path)).code == 2
    assert path.read_text() == "mine"


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
    code, _, complaint = call(command[0], module(tmp_path, RING), *command[1:])
    lines = complaint.splitlines()
    assert code == 1
    assert len(lines) <= SCREEN
    assert re.match(r"reactorlib: \d\d faults in the program:", lines[0])
    assert any("lines left out" in line for line in lines)


def test_check_gives_a_machine_all_faults(call, tmp_path):
    code, printed, complaint = call("check", module(tmp_path, RING), "--json")
    assert (code, complaint) == (1, "")
    assert len(json.loads(printed)["faults"]) > 40


def test_graph_writes_a_file_or_prints(call, tmp_path):
    path = tmp_path / "powers.svg"
    code, printed, complaint = call("graph", POWERS, "-o", str(path))
    assert (code, complaint) == (0, "")
    assert printed.startswith(f"{path}: ")
    assert path.read_text() == call("graph", POWERS).out
    assert call("graph", POWERS, "--format", "mmd").out.startswith("flowchart LR\n")


def test_graph_takes_parameters_and_overlays(call, tmp_path):
    path = tmp_path / "powers.dot"
    assert not call(
        "graph", POWERS, "--set", "workers=3", "--unfold", "--levels", "--workers", "2", "-o", str(path)
    ).code
    text = path.read_text()
    assert set(re.findall(r"workers\[(\d)\] Worker \(worker (\d)\)", text)) == {("0", "0"), ("1", "0"), ("2", "1")}
    assert "level 1" in text


def test_graph_draws_a_program_with_a_cycle_and_explains_it(call, tmp_path):
    path = tmp_path / "cycle.svg"
    code, _, complaint = call("graph", CYCLE, "-o", str(path), "--workers", "2")
    assert code == 1
    assert complaint.startswith("reactorlib: causality cycle:\n    Cycle.judge.see")
    assert 'class="cyclic"' in path.read_text()


def test_graph_gives_a_machine_what_it_wrote(call, tmp_path):
    path = tmp_path / "cycle.html"
    code, printed, _ = call("graph", CYCLE, "-o", str(path), "--json")
    told = json.loads(printed)
    assert code == 1
    assert told.pop("faults")[0].startswith("causality cycle:")
    assert told == {"file": str(path), "format": "html", "reactors": 3, "reactions": 3}
    told = json.loads(call("graph", POWERS, "--json").out)  # writes nothing
    assert (told["file"], told["format"], told["picture"]) == (None, "svg", call("graph", POWERS).out)


def test_trace_writes_a_file_and_prints_a_table(call, tmp_path):
    path = tmp_path / "powers.json"
    code, printed, _ = call("trace", POWERS, "--executor", "threads", "--workers", "2", "-o", str(path))
    trace, lines = json.loads(path.read_text()), printed.splitlines()
    assert code == 0
    assert lines[:3] == ["1 [1, 1, 1, 1]", "2 [1, 2, 4, 8]", "3 [1, 3, 9, 27]"]
    assert lines[3].split() == ["reaction", "count", "total", "mean", "longest", "waiting", "critical"]
    assert {line.split()[0]: line.split()[1] for line in lines[4:7]} == {
        "hub.begin": "1", "hub.gather": "3", "workers[*].compute": "12",
    }  # fmt: skip
    assert "16 reactions at 4 tags" in printed
    assert f"digest: {trace['otherData']['digest']}" in lines
    assert sum(event.get("cat") == "reaction" for event in trace["traceEvents"]) == 16


def test_a_run_that_fails_keeps_the_trace_that_was_there(call, tmp_path):
    there, new, link = (tmp_path / f"{name}.json" for name in ("there", "new", "link"))
    there.write_text("{}")
    link.symlink_to(new)
    for path in (there, new, link):
        assert call("trace", POWERS, "--set", "rounds=none", "-o", str(path)).code == 1
    assert there.read_text() == "{}"
    assert not new.exists()
    assert link.is_symlink()


def test_trace_gives_a_machine_all_numbers_and_nothing_else(call):
    inline, threads = (
        call("trace", POWERS, "--executor", kind, "--json", "--unfold") for kind in ("inline", "threads")
    )
    told = json.loads(inline.out)
    assert inline.err.startswith("1 [1, 1, 1, 1]\n")
    assert (told["executor"], told["workers"], told["tags"], told["file"]) == ("inline", 1, 4, None)
    assert {row["path"]: row["count"] for row in told["reactions"]}["Powers.workers[3].compute"] == 3
    assert told["work_ns"] >= told["critical_ns"] > 0
    assert told["digest"] == json.loads(threads.out)["digest"]


def test_trace_of_an_endless_program_ends_at_the_timeout(call):
    assert "last tag (5 s, 0)" in call("trace", FURNACE, "--timeout", "5s", "--fast").out


def test_source_shows_the_schedule(call):
    printed = call("source", POWERS, "--trigger", "hub.number").out
    assert printed.startswith("def schedule(")
    assert "workers_3_compute(" in printed
    told = json.loads(call("source", POWERS, "--json").out)
    assert told["triggers"] == ["startup"]
    assert "hub_begin" in told["source"]


def test_source_lists_the_triggers(call):
    triggers = ["Powers.hub.number", "startup", "shutdown"]
    assert call("source", POWERS, "--list").out.splitlines() == triggers
    assert json.loads(call("source", POWERS, "--list", "--json").out) == {"triggers": triggers}


def test_run_runs_and_prints_the_digest_if_asked(call):
    assert call("run", POWERS, "--set", "rounds=1") == (0, "1 [1, 1, 1, 1]\n", "")
    one, two = (call("run", POWERS, "--digest").out.splitlines()[-1] for _ in range(2))
    assert one == two
    assert re.fullmatch("[0-9a-f]{32}", one)


def test_run_gives_a_machine_its_end(call):
    told = json.loads(call("run", POWERS, "--json").out)
    expected = {"time_ns": 0, "microstep": 4, "executor": "inline", "workers": 1, "reason": "", "start_method": ""}
    assert {name: told[name] for name in expected} == expected


def test_run_with_workers_is_parallel(call):
    told = json.loads(call("run", POWERS, "--workers", "2", "--json").out)
    assert (told["executor"] in ("threads", "processes"), told["workers"]) == (True, 2)
    assert json.loads(call("run", POWERS, "--workers", "2", "--executor", "inline", "--json").out)["workers"] == 1


def test_a_traceback_shows_a_folder_whose_name_begins_like_the_librarys(capsys):
    try:
        exec(compile("1 / 0", str(ROOT / "reactorlib_demo" / "program.py"), "exec"))
    except ZeroDivisionError as error:
        show_traceback(error)
    assert "reactorlib_demo" in capsys.readouterr().err


def test_a_traceback_is_that_of_the_program_and_fits_a_screen(call, tmp_path):
    text = """
def ping(n): pong(n - 1)
def pong(n): ping(n - 1) if n else fail()
def fail():
    try:
        {}["key"]
    except KeyError as error:
        raise ValueError("words " * 1000) from error
"""
    code, _, complaint = call("run", module(tmp_path, text + main_that("ping(201)")))
    lines = complaint.splitlines()
    assert code == 1
    assert "reactorlib/worker" not in complaint
    assert "lines left out" in complaint
    assert complaint.index("KeyError: 'key'") < complaint.index("direct cause") < complaint.index("ValueError: words")
    assert len(lines) <= SCREEN
    assert max(map(len, lines)) < 500
    assert lines[-1].startswith("reactorlib: Main.begin raised ValueError at tag (0 ns, 0): words")


def test_a_program_with_a_fault_does_not_run(call):
    code, printed, complaint = call("run", CYCLE)
    assert (code, printed) == (1, "")
    assert complaint.startswith("reactorlib: causality cycle:")


def test_an_interrupted_run_ends_with_130(call, tmp_path):
    path = module(tmp_path, main_that("raise KeyboardInterrupt"))
    assert call("run", path)[::2] == (130, "reactorlib: interrupted\n")
    code, _, complaint = call("trace", path)
    assert (code, "give --timeout" in complaint) == (130, True)


def test_a_reader_that_has_enough_is_no_failure():
    command = f"{sys.executable} -m reactorlib graph {POWERS} | head -c 10"
    done = subprocess.run(command, shell=True, capture_output=True, timeout=60, check=True, cwd=ROOT)
    assert (done.stdout, done.stderr) == (b"<svg xmlns", b"")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["new", "x.c"], "x.c: the name of a Python file ends with .py"),
        (["graph", POWERS, "-o", "x.png"], "x.png: the suffix names the format, one of svg, html, dot, mmd"),
        (["graph", POWERS, "-o", "no/such/x.svg"], "no/such/x.svg cannot be written"),
        (["trace", POWERS, "-o", "docs"], "docs cannot be written"),
        (["source", POWERS, "--trigger", "hub.x"], "'hub.x' triggers nothing here: one of Powers.hub.number"),
        (["check", "nowhere:Main"], "no module named 'nowhere' on the path; a file is given as path/to/file.py:Class"),
        (["graph", "examples/nowhere.py:Main"], "no file examples/nowhere.py"),
        (["run", "nowhere.lf"], "no file nowhere.lf"),
        (["run", f"{'x' * 300}.py"], "no file xxx"),
        (["trace", POWERS, "-o", "x" * 300], "xxx cannot be written"),
        (["trace", "examples/powers.py:Power"], "has no reactor 'Power': did you mean Powers?"),
        (["source", "examples/powers.py:X"], "has no reactor 'X': it declares Worker, Hub, Powers"),
        (["run", "examples/powers.py:run"], "has no reactor 'run': it declares Worker, Hub, Powers"),
        (["run", "examples/powers.py:Powers.hub"], "has no reactor 'Powers.hub': did you mean Powers?"),
        (["run", "json"], "json:Class: it declares no reactor"),
        (["run", "examples/powers.py"], "name the reactor, as in examples/powers.py:Class: it declares Worker, Hub"),
    ],
)
def test_a_call_that_makes_no_sense_is_refused_in_one_line(call, arguments, complaint):
    code, printed, said = call(*arguments)
    assert (code, printed, said.count("\n")) == (2, "", 1)
    assert complaint in said


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--timeout", "5"], "expected a time with its unit, such as 500ms or 1s, got '5'"),
        (["--workers", "0"], "expected a positive whole number, got '0'"),
        (["--executor", "magic"], "invalid choice: 'magic'"),
        (["--wokers", "3"], "unrecognized arguments: --wokers 3: did you mean --workers?"),
    ],
)
def test_a_wrong_option_is_explained_in_two_lines(call, options, complaint):
    code, _, said = call("run", POWERS, *options)
    assert code == 2
    assert complaint in said.splitlines()[0]
    assert said.splitlines()[1:] == ["    python -m reactorlib run --help lists what it takes"]


def test_an_option_before_its_command_is_refused(call):
    code, _, said = call("--json", "check", POWERS)
    assert code == 2
    assert "unrecognized arguments: --json: it belongs after the command" in said


def test_main_is_the_default_among_several(call, tmp_path):
    path = module(tmp_path, "class Part(Reactor): ...\nclass Main(Reactor): ...\n")
    assert call("check", path).out == "Main: 1 reactors, 0 reactions, no fault\n"


def test_a_module_is_found_on_the_path_and_in_the_current_folder(call, tmp_path, monkeypatch):
    module(tmp_path, main_that("print('here')"), "here")
    monkeypatch.chdir(tmp_path)
    assert call("run", "here:Main") == (0, "here\n", "")
    assert call("run", "here") == (0, "here\n", "")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("import nothing_of_that_name\n", "cannot be imported: .*No module named 'nothing_of_that_name'"),
        ("x = 1 / 0\n", r"cannot be imported: ZeroDivisionError: division by zero \(.*broken\.py:2\)"),
        ("x = (\n", r"cannot be imported: SyntaxError: '\(' was never closed \(broken\.py, line 2\)"),
        ("raise SystemExit\n", r"ends the program when it is imported \(.*broken\.py:2\): put what only a script does"),
    ],
)
def test_a_module_that_cannot_be_imported_is_one_line(call, tmp_path, text, complaint):
    code, _, said = call("graph", module(tmp_path, text, "broken"))
    assert (code, said.count("\n")) == (2, 1)
    assert re.search(complaint, said)


def test_a_file_may_be_called_like_a_module_that_is_in_use(call, tmp_path):
    assert call("run", module(tmp_path, main_that("print('mine')"), "json")) == (0, "mine\n", "")
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


def with_settings(call, tmp_path, name, settings):
    return call("run", f"{module(tmp_path, PARAMETERS)}:{name}", *(part for s in settings for part in ("--set", s)))


@pytest.mark.parametrize(
    ("name", "settings", "printed"),
    [
        ("Main", ["number=4"], "(4, 'x', 0, False, (), 3)"),
        ("Main", ["number=4.5", "name=7", "wait=5ms"], "(4.5, '7', 5000000, False, (), 3)"),
        ("Main", ["number=word", "flag=true", "parts=[1, 2]"], "('word', 'x', 0, True, [1, 2], 3)"),
        ("Main", ["number=a=b", "name="], "('a=b', '', 0, False, (), 3)"),
        ("Main", ["number={[]: 1}"], "('{[]: 1}', 'x', 0, False, (), 3)"),
        ("Main", ["number=None", "size=1_000"], "(None, 'x', 0, False, (), 1000)"),
        ("Any", ["x=1"], "{'x': 1}"),
    ],
)
def test_settings_become_values(call, tmp_path, name, settings, printed):
    assert with_settings(call, tmp_path, name, settings) == (0, f"{printed}\n", "")


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
    assert with_settings(call, tmp_path, name, settings) == (2, "", f"reactorlib: {complaint}\n")


@pytest.mark.parametrize(
    ("text", "time"),
    [("1s", 10**9), ("1.5 ms", 1_500_000), ("2min", 120 * 10**9), ("3", None), ("s", None), ("1.001s", 1_001_000_000),
     ("8.2ms", 8_200_000), ("9007199254740993ns", 9007199254740993)],
)  # fmt: skip
def test_times_have_units(text, time):
    assert parsed_time(text) == time


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


@pytest.mark.parametrize("command", ["check", "graph", "source"])
def test_json_stands_alone_although_a_module_and_a_constructor_print(tmp_path, command):
    path = tmp_path / "prints.py"
    path.write_text(
        "import os\nfrom reactorlib import *\nprint('module')\nclass Main(Reactor):\n"
        "    def __init__(self): os.system('echo constructor')\n"
        "    @reaction(startup)\n    def go(self): ...\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "reactorlib", command, path, "--json"], capture_output=True, text=True, timeout=60,
        check=True, cwd=ROOT,
    )  # fmt: skip
    assert isinstance(json.loads(done.stdout), dict)
    assert done.stderr.split() == ["module", "constructor"]
