"""Tests that programs/ cannot hold: parameters from outside, places of warnings, traces, options and structures."""

import pickle
import sys
from pathlib import Path

import pytest

from reactorlib import ElaborationError, elaborate, run
from reactorlib.declaration.instance import BoundPort
from reactorlib.lf import LinguaFrancaWarning, load, run_options
from reactorlib.lf.parser import FILE_STARTERS, HANDLERS, STARTERS
from reactorlib.lf.tokens import Text


def test_parameters_come_from_outside_and_defaults_refer_to_them(printed):
    text = """
    main reactor(width: int = 2, twice = {= 2 * width =}, same = width) {
      reaction(startup) {= print(self.width, self.twice, self.same) =}
    }"""
    assert printed(text) == ["2 4 2"]
    assert printed(text, width=5) == ["5 10 5"]


def test_a_comment_ends_with_its_body_before_all_that_may_follow():
    for after in (";\n", "}", "//", "#", "/* */", "; state", *FILE_STARTERS, *STARTERS, *HANDLERS):
        tokens, faults = Text(f"{{= pass  # a =}} {after} {{= late =}}", "Main.lf").tokens()
        assert (tokens[0].text, faults) == ("{= pass  # a =}", []), after


def test_a_preamble_may_change_the_working_directory(write, monkeypatch):
    path = write('import A from "lib/A.lf" preamble {= os.chdir("/") =} main reactor { a = new A() }')
    write("reactor A { }", "lib/A.lf")
    monkeypatch.chdir(path.parent)
    main = load(path.name)
    assert (Path.cwd(), elaborate(main).root.path) == (Path("/"), "Main")
    assert str(path).encode() in pickle.dumps(main)  # where another process finds it


def test_channels_left_over_are_warned_of_with_their_line(printed):
    text = """
    reactor Source { output[3] out }
    reactor Sink(n = 2) { input[n] inp }
    main reactor {
      s = new Source() a = new Sink() b = new Sink(n = 4)
      s.out -> a.inp
      s.out -> b.inp
    }"""
    with pytest.warns(LinguaFrancaWarning) as caught:
        printed(text)
    assert [(str(w.message)[:19], w.lineno) for w in caught] == [("3 channels meet 2: ", 6), ("3 channels meet 4: ", 7)]


def test_reactions_without_a_body_and_names_behind_them(write):
    main = load(
        write("""
    main reactor {
      logical action a
      reaction begin(startup) -> a {= a.schedule(0) =}
      reaction(startup) named second {= pass =}
      reaction external(a)
      reaction(a) a {= a.value =}
    }""")
    )
    paths = [record.reaction for record in run(main, trace=True).trace]
    assert paths == ["Main.begin", "Main.second", "Main.external", "Main.reaction_4"]


def test_files_of_the_program_come_before_what_is_installed(write, printed, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    write("print('its own')", "lib/this.py")
    text = 'target Python { files: ["lib/this.py"] } preamble {= import this =} main reactor { }'
    assert printed(text) == ["its own"]
    sys.modules.pop("this")


def test_target_properties_say_how_to_run(write):
    text = """
    target Python { timeout: 5 sec, fast: true, keepalive: false, "workers": 3, files: ["x.py"], logging: DEBUG }
    @label("main")
    main reactor {}"""
    with pytest.warns(LinguaFrancaWarning, match="'logging' has no meaning here"):
        main = load(write(text))
    assert run_options(main) == {"timeout": 5_000_000_000, "fast": True, "keepalive": False, "workers": 3}
    assert run_options(load(write("target Python { workers: 0 } main reactor { }"))) == {}  # as many as suit


def test_a_reactor_other_than_the_main_one_is_loaded_by_name(write, capsys):
    path = write("reactor Part(n = 1) { reaction(startup) {= print(self.n) =} } main reactor { p = new Part() }")
    run(load(path, "Part"), n=3)
    assert capsys.readouterr().out == "3\n"
    assert elaborate(load(path)).root.path == "Main"


STRUCTURES = {
    "C": """
        target C { timeout: 1 sec, build-type: Debug, platform: { name: "x", baud-rate: 9600 }, files: ["a.c"] };
        preamble {= #include <stdio.h> =}
        reactor Source(n: int(2), name: string("x"), list: int[](1, 2)) {
          output[n] out: int*;
          state next: void*(0);
          state when: time(10 msec);
          state grid: {= double[3] =};
          timer t(0, 100 msec);
          logical action a(0, 1 msec, "drop"): {= const char* =};
          reaction(t) -> out, a {= lf_set(out[0], &self->next); =} deadline(10 msec) {= printf("\\"late"); =};
        }
        main reactor (k: int = 3) {
          s = new[k] Source(n = 2, name = "y");
          t = new Sink(width = 6);
          s.out -> t.in after 10 usec;
        }
        reactor Sink(width: int(1)) { input[width] in: int; reaction(in) {= int x = in[0]->value; =} }""",
    "Cpp": """
        target Cpp { cmake-include: "x.cmake", export-dependency-graph: true }
        public preamble {= #include <vector> =}
        reactor Source<T>(n: size_t = 2, v: std::vector<int>{1, 2, {3}}, code: int({= 1 << 2 =})) {
          output[n] out: std::shared_ptr<T>
          state s: int*({= nullptr =})
          method sum(a: int, b: std::map<int, int>): int {= return a; =}
          const method name(): std::string {= return "x"; =}
          timer in(0, {= 1s =})
          reaction(in) -> out {= out[0].set(1); =} deadline(1 s) {= =}
        }
        reactor Sink { input[6] in: {= std::vector<int> =} reaction(in) {= for (auto i : in) {} =} }
        main reactor { s = new[3] Source<int>(n(2)) t = new Sink() interleaved(s.out) -> t.in after {= 1ms =} }""",
    "Rust": """
        target Rust { build-type: Release, cargo-features: ["cli"], rust-include: "x.rs" }
        reactor Source<T>(text: &'static str("x"), n: usize = 2, list: Vec<u8>({= vec![1, 2, 3] =})) {
          state shared: Arc<Mutex<Option<&'static str>>>({= Default::default() =})
          output[n] out: u32
          reaction(startup) -> out {= ctx.set(&mut out[0], 'c' as u32); =}
        }
        reactor Sink { input[6] data: u32 reaction(data) {= =} }
        main reactor { s = new[3] Source() t = new Sink() s.out -> t.data }""",
    "TypeScript": """
        target TypeScript { keepalive: true, coordination: decentralized }
        reactor Source(n: number = 2, done: (boolean, string)(true)) {
          output[n] out: {= Array<string | undefined> =}
          state list: {= {a: number}[] =} = {= [] =}
          state items: string[] = ["a", "b"]
          reaction(startup) -> out {= out[0] = [`${list}`]; =}
        }
        reactor Sink { input[6] x: number[] reaction(x) {= console.log(x); =} }
        main reactor { s = new[3] Source() t = new Sink() s.out -> t.x }""",
}


@pytest.mark.parametrize("target", STRUCTURES)
def test_programs_for_other_targets_have_a_structure(write, target):
    path = write(STRUCTURES[target])
    program = elaborate(load(path, structure=True))
    assert len(program.instances) == 5
    elements = [element for instance in program.instances for element in instance.elements.values()]
    assert [element.width for element in elements if isinstance(element, BoundPort)] == [2, 2, 2, 6]
    assert len(program.reactions) == 4
    assert len(elaborate(load(path, structure=None)).reactions) == 4  # left to the target
    with pytest.raises(ElaborationError, match=f"its target is {target}, and only bodies in Python run here"):
        load(path)


def test_a_width_that_needs_another_targets_code_is_refused(write):
    path = write("target C\nmain reactor {\n  output[{= N =}] out: int\n}")
    with pytest.raises(ElaborationError, match=r"Main.out: width must be a positive integer, got None .*Main.lf:3"):
        elaborate(load(path, structure=True))
