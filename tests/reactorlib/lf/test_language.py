"""Tests that programs/ cannot hold: parameters from outside, places of warnings, traces and options."""

import sys

import pytest

from reactorlib import ElaborationError, elaborate, run
from reactorlib.lf import LinguaFrancaWarning, load, run_options


def test_parameters_come_from_outside_and_defaults_refer_to_them(printed):
    text = """
    main reactor(width: int = 2, twice = {= 2 * width =}, same = width) {
      reaction(startup) {= print(self.width, self.twice, self.same) =}
    }"""
    assert printed(text) == ["2 4 2"]
    assert printed(text, width=5) == ["5 10 5"]


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


def test_a_program_for_another_target_is_refused(write):
    path = write('target C\nmain reactor { timer t(0, 1 s) reaction(t) {= printf("%d", 1); =} }')
    with pytest.raises(ElaborationError, match="its target is C, and only bodies in Python run here"):
        load(path)
