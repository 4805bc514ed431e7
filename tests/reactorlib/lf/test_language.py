"""What the language offers, rule by rule, as programs that print what they see."""

import sys

import pytest

from reactorlib import ElaborationError, elaborate, run
from reactorlib.lf import LinguaFrancaWarning, load, run_options

# Parameters, states and expressions


def test_parameters_have_defaults_that_refer_to_earlier_ones(printed):
    text = """
    main reactor(width: int = 2, label: string = "none", twice = {= 2 * width =}, same = width) {
      reaction(startup) {= print(self.width, self.label, self.twice, self.same) =}
    }"""
    assert printed(text) == ["2 none 4 2"]
    assert printed(text, width=5, label="five") == ["5 five 10 5"]


def test_every_form_of_an_initial_value(printed):
    text = """
    main reactor(n = 3) {
      state nothing
      state number: int = 1
      state negative = -1.5e3
      state hexadecimal = 0xff
      state text = "a\\tb"
      state long = \"\"\"two
    lines\"\"\"
      state letter: char = 'x'
      state yes = true
      state no: bool(False)
      state listed(1, 2, 3)
      state single(4)
      state braced{5, 6}
      state brackets: int[] = [1, [2, 3], n]
      state pair = (1, 2)
      state distinct = {1, 2, 1}
      state code = {= [i * self.n for i in range(2)] =}
      state span = 10 ms
      state spans(1 sec, 2 min)
      state times: time[] = [1 us, 1 hour]
      state never: time = forever
      reaction(startup) {=
        print(self.nothing, self.number, self.negative, self.hexadecimal, repr(self.text), repr(self.long), self.letter)
        print(self.yes, self.no, self.listed, self.single, self.braced, self.brackets, self.pair, self.distinct)
        print(self.code, self.span, self.spans, self.times, self.never == FOREVER)
      =}
    }"""
    assert printed(text) == [
        "None 1 -1500.0 255 'a\\tb' 'two\\nlines' x",
        "True False [1, 2, 3] 4 [5, 6] [1, [2, 3], 3] (1, 2) {1, 2}",
        "[0, 3] 10000000 [1000000000, 120000000000] [1000, 3600000000000] True",
    ]


def test_every_unit_of_time(printed):
    names = "ns nsec nsecs us usec usecs ms msec msecs s sec secs second seconds min mins minute minutes"
    names += " h hour hours d day days week weeks"
    states = "\n".join(f"state t{i} = 3 {name}" for i, name in enumerate(names.split()))
    show = ", ".join(f"self.t{i}" for i in range(len(names.split())))
    [line] = printed(f"main reactor {{ {states}\n reaction(startup) {{= print({show}) =}} }}")
    sizes = [1] * 3 + [10**3] * 3 + [10**6] * 3 + [10**9] * 5 + [60 * 10**9] * 4
    sizes += [3600 * 10**9] * 3 + [86400 * 10**9] * 3 + [7 * 86400 * 10**9] * 2
    assert line.split() == [str(3 * size) for size in sizes]


def test_a_line_that_begins_with_a_units_name_is_no_unit(printed):
    text = """
    reactor S { output o reaction(startup) -> o {= o.set(1) =} }
    main reactor {
      state x = 5
      s = new S()
      reaction(s.o) {= print(self.x, s.o.value) =}
    }"""
    assert printed(text) == ["5 1"]


def test_instances_do_not_share_what_they_start_with(printed):
    text = """
    reactor Child(list = [1], more = {= [2] =}) {
      state own = []
      reaction(startup) {=
        self.own.append(self.bank_index); self.list.append(0); self.more.append(0)
        print(self.own, self.list, self.more)
      =}
    }
    main reactor { c = new[2] Child() }"""
    assert printed(text) == ["[0] [1, 0] [2, 0]", "[1] [1, 0] [2, 0]"]


def test_names_that_are_words_elsewhere(printed):
    text = """
    reactor print(name = "n", path = 1) {
      input next
      output value
      state time = 0
      state state = 1
      timer trace(0, 1 s)
      reaction(trace, next) -> value {=
        value.set(self.name)
        self.time += 1
        print(self.time, self.state, next.is_present)
      =}
    }
    main reactor run {
      reset = new print()
      mode = new print(name="m")
      reset.value -> mode.next
    }"""
    assert "1 1 True" in printed("target Python { timeout: 0 s } " + text)


def test_comments_and_semicolons(printed):
    text = """
    /* one
       for everybody */
    main reactor { // a
      # b
      state x = 1; state y = "# no comment"; timer t(0, 1 sec); /* c */ reaction(t) {= print(self.x, self.y) # d
        # e
      =};
    }"""
    assert printed("target Python { timeout: 0 s }; " + text) == ["1 # no comment"]


def test_types_are_read_over(printed):
    text = """
    reactor Box<T, {= std::map<int> =}>(a: int, b: list<dict<str, int>>(1), c: {= any =} = 2, d: time(1 s)) {
      input x: int[]
      input y: char*
      output z: pkg.module.Type<T>
      state s: float[3](1.0, 2.0, 3.0)
      logical action l: std::vector<int>
      method m(x: int, y: {= dict =}): bool {= return True =}
      reaction(startup) {= print(self.a, self.b, self.c, self.d, self.s, self.m(1, 2)) =}
    }
    main reactor { b = new Box<int, {= T =}>(a = 7) }"""
    assert printed(text) == ["7 1 2 1000000000 [1.0, 2.0, 3.0] True"]


# Preambles, methods, inheritance


def test_preambles_of_file_and_class(printed):
    text = """
    preamble {=
      import math
      LIMIT = 3
      def double(x):
        return 2 * x
    =}
    private preamble {= limits = [LIMIT] * 2 =}
    main reactor {
      preamble {=
        import random
        factor = 10
        def scaled(self, x):
          return double(x) * self.factor
      =}
      public preamble {= shown = "shown" =}
      method more(x, y) {= return self.scaled(x) + y =}
      const method constant() {= return 1 =}
      method fib(n) {= return n if n < 2 else self.fib(n - 1) + self.fib(n - 2) =}
      reaction(startup) {=
        print(math.floor(2.5), limits, self.scaled(1), self.more(1, 2), self.constant(), self.fib(10))
        print(self.random.__name__, self.shown)
      =}
    }"""
    assert printed(text) == ["2 [3, 3] 20 22 1 55", "random shown"]


def test_a_preambles_name_may_be_that_of_a_port(printed):
    text = """
    reactor Source {
      output count
      preamble {= def count(self): return 3 =}
      reaction(startup) -> count {= count.set(self.count()) =}
    }
    main reactor { s = new Source() reaction(s.count) {= print(s.count.value) =} }"""
    assert printed(text) == ["3"]


def test_a_reactor_extends_several(printed):
    text = """
    reactor Root(n = 1) { state log = [] reaction(startup) {= self.log.append(f"root {self.n}") =} }
    reactor Left extends Root { method name() {= return "left" =} reaction(startup) {= self.log.append(self.name()) =} }
    reactor Right(n = 2) extends Root { reaction(startup) {= self.log.append("right") =} }
    main reactor extends Left, Right {
      method name() {= return "mine" =}
      reaction(startup) {= print(self.log) =}
    }"""
    assert printed(text) == ["['root 2', 'mine', 'right']"]


# Ports, multiports, banks, connections


def test_multiports_and_banks(printed):
    text = """
    reactor Source(width = 2) {
      output[width] out
      reaction(startup) -> out {=
        for i, port in enumerate(out):
          port.set(10 * self.bank_index + i)
        print(out.width, len(out), out[0].is_present, out[-1].value)
      =}
    }
    reactor Sink(width = 1) {
      input[width + 1 + {= 0 =}] inp
      reaction(inp) {= print(self.bank_index, [port.value for port in inp]) =}
    }
    main reactor(n = 2) {
      a = new[n] Source()
      b = new[{= n =}] Sink()
      c = new[widthof(a.out) + 1] Sink(width = 0)
      a.out -> b.inp
    }"""
    assert printed(text) == ["2 2 True 1", "2 2 True 11", "0 [0, 1]", "1 [10, 11]"]


def test_interleaved_broadcast_and_several_ends(printed):
    text = """
    reactor Pair(base = 0) {
      output[2] out
      reaction(startup) -> out {= out[0].set(self.base); out[1].set(self.base + 1) =}
    }
    reactor All(width = 4) { input[width] x reaction(x) {= print([port.value for port in x]) =} }
    reactor Member { input[2] x output y reaction(x) -> y {= y.set(sum(p.value for p in x)) =} }
    main reactor {
      pairs = new[2] Pair(base = {= 10 * bank_index =})
      one = new All()
      two = new All()
      members = new[2] Member()
      three = new All(width = 7)
      interleaved(pairs.out) -> one.x
      pairs.out -> interleaved(members.x)
      pairs.out -> two.x
      (members.y, pairs.out)+ -> three.x
    }"""
    assert sorted(printed(text)) == sorted(
        ["[0, 10, 1, 11]", "[0, 1, 10, 11]", "[10, 12, 0, 1, 10, 11, 10]"],
    )  # fmt: skip


def test_sides_of_different_widths_leave_channels_unconnected(printed):
    text = """
    reactor Source { output[3] out reaction(startup) -> out {= for p in out: p.set(1) =} }
    reactor Sink { input[2] inp reaction(inp) {= print([p.is_present for p in inp]) =} }
    reactor Wide { input[4] inp reaction(inp) {= print([p.is_present for p in inp]) =} }
    main reactor {
      s = new Source()
      a = new Sink()
      b = new Wide()
      s.out -> a.inp
      s.out -> b.inp
    }"""
    with pytest.warns(LinguaFrancaWarning) as caught:
        assert printed(text) == ["[True, True]", "[True, True, True, False]"]
    assert [(str(w.message), w.lineno) for w in caught] == [
        ("3 channels meet 2: those left over stay unconnected", 9),
        ("3 channels meet 4: those left over stay unconnected", 10),
    ]


def test_delays_and_physical_connections(printed):
    text = """
    target Python { timeout: 100 ms, fast: true }
    reactor Source { output o timer t(0, 1 day) reaction(t) -> o {= o.set(1) =} }
    reactor Sink(label = "") {
      input i
      reaction(i) {=
        print(self.label, lf.time.logical_elapsed() if self.label != "physical" else "", lf.tag().microstep)
      =}
    }
    main reactor(d = 20 ms) {
      s = new Source()
      a = new Sink(label = "after")
      z = new Sink(label = "zero")
      p = new Sink(label = "parameter")
      f = new Sink(label = "physical")
      n = new Sink(label = "never")
      s.o -> a.i after 10 ms
      s.o -> z.i after 0
      s.o -> p.i after d
      s.o ~> f.i after 50 ms
      s.o -> n.i after forever
    }"""
    assert sorted(printed(text)) == ["after 10000000 0", "parameter 20000000 0", "physical  0", "zero 0 1"]


def test_a_serializer_is_read_over(printed):
    text = """
    reactor A { output o reaction(startup) -> o {= o.set(1) =} }
    reactor B { input i reaction(i) {= print(i.value) =} }
    main reactor { a = new A() b = new B() a.o -> b.i serializer "proto" }"""
    assert printed(text) == ["1"]


def test_a_parents_reactions_touch_contained_reactors(printed):
    text = """
    reactor Child {
      input x
      input[2] w
      output y
      output[2] z
      reaction(x, w) -> y, z {= y.set(x.value + sum(c.value for c in w)); z[1].set(self.bank_index) =}
    }
    main reactor {
      child = new Child()
      bank = new[2] Child()
      reaction(startup) -> child.x, child.w, bank.x, bank.w {=
        child.x.set(1)
        for port in child.w: port.set(10)
        for i, member in enumerate(bank):
          member.x.set(i)
          for j in range(member.w.width): member.w[j].set(100)
      =}
      reaction(child.y) child.z {= print("child", child.y.value, child.z[0].is_present, child.z[1].value) =}
      reaction(bank.y) bank.z {= print("bank", [b.y.value for b in bank], bank[1].z[1].value, len(bank)) =}
    }"""
    assert printed(text) == ["child 21 False 0", "bank [200, 201] 1 2"]


def test_a_mutable_input_is_a_copy(printed):
    text = """
    reactor A {
      output o
      state kept = [1]
      reaction(startup) -> o {= o.set(self.kept) =}
      reaction(shutdown) {= print(self.kept) =}
    }
    reactor B { mutable input i reaction(i) {= i.value.append(2); print(i.value) =} }
    main reactor { a = new A() b = new B() a.o -> b.i }"""
    assert printed(text) == ["[1, 2]", "[1]"]


# Time, actions, deadlines, modes


def test_timers(printed):
    text = """
    target Python { timeout: 3 ms, fast: true }
    main reactor(period = 2 msec) {
      timer once
      timer at(1 ms)
      timer every(1 ms, period)
      timer code({= 3 * 1000000 =})
      reaction(once, at, every, code) {=
        print(lf.time.logical_elapsed() // USEC(1), *(timer.is_present for timer in (once, at, every, code)))
      =}
    }"""
    assert printed(text) == ["0 True False False False", "1000 False True True False", "3000 False False True True"]


def test_actions_take_numbers_of_nanoseconds_and_units(printed):
    text = """
    main reactor(delay = 1 ms) {
      logical action a(delay)
      logical action spaced(0, 10 ms, "drop")
      logical action value: int
      state wait = 5 ms
      reaction(startup) -> a, spaced, value {=
        a.schedule(0)
        a.schedule(2000000)
        a.schedule(MSEC(3.5))
        a.schedule(self.wait, "late")
        spaced.schedule(0, 1)
        spaced.schedule(MSEC(5), 2)
        value.schedule(0, {"x": 1})
      =}
      reaction(a) {= print("a", lf.time.logical_elapsed(), a.value) =}
      reaction(spaced) {= print("spaced", spaced.value) =}
      reaction(value) {= print(value.value, value.is_present) =}
    }"""
    assert sorted(printed(text)) == [
        "a 1000000 None", "a 3000000 None", "a 4500000 None", "a 6000000 late", "spaced 1", "{'x': 1} True"
    ]  # fmt: skip


def test_a_physical_action_is_scheduled_by_a_thread(printed):
    text = """
    main reactor {
      preamble {= import threading =}
      physical action p(1 ms)
      state thread
      reaction(startup) -> p {=
        self.thread = self.threading.Thread(target=p.schedule, args=(MSEC(1), "hello"))
        self.thread.start()
      =}
      reaction(p) {= print(p.value, lf.time.logical_elapsed() >= MSEC(2)); request_stop() =}
      reaction(shutdown) {= self.thread.join() =}
    }"""
    assert printed(text) == ["hello True"]


def test_a_reaction_without_triggers_reacts_to_any_input(printed):
    text = """
    reactor Sink { input a input b reaction() {= print(a.is_present, b.value) =} }
    reactor Source { output o reaction(startup) -> o {= o.set(1) =} }
    main reactor { s = new Source() k = new Sink() s.o -> k.b }"""
    assert printed(text) == ["False 1"]


def test_named_reactions_uses_and_bodies_left_out(write):
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


def test_deadlines_and_their_handlers(printed):
    text = """
    main reactor(patience = 0 s) {
      timer t(0, 1 ms)
      logical action a
      reaction(t) -> a {= print("never") =} deadline(0) {= print("late"); a.schedule(0); request_stop() =}
      reaction(startup) {= print("in time", lf.check_deadline(self, True), self.check_deadline()) =} deadline(1 hour)
      reaction(a) {= print("a") =} STP(10 ms) {= pass =} deadline(patience) {= print("late a") =} tardy {= pass =}
    }"""
    assert printed(text) == ["late", "in time False False", "late a"]


def test_a_deadline_may_be_changed_and_its_handler_take_over(printed):
    text = """
    target Python { timeout: 3 ms, fast: true }
    main reactor {
      timer t(0, 1 ms)
      logical action a
      state longer = 2 hour
      reaction(t) {=
        print("in time")
      =} deadline(0) {=
        print("late")
        lf.update_deadline(self, self.longer)
      =}
      reaction(startup) -> a {=
        while not self.check_deadline(True):
          pass
        print("after the handler")
      =} deadline(300 ms) {= a.schedule(0, "by the handler") =}
      reaction(a) {= print(a.value) =}
    }"""
    assert printed(text) == ["late", "after the handler", "by the handler"] + ["in time"] * 3


def test_a_thread_may_stop_the_program(printed):
    text = """
    main reactor {
      preamble {= from threading import Thread =}
      physical action never
      state thread
      reaction(startup) -> never {=
        self.thread = self.Thread(target=self.stop)
        self.thread.start()
      =}
      method stop() {=
        print(lf.time.physical() > lf.time.physical_elapsed() > 0)
        lf.request_stop()
      =}
      reaction(shutdown) {= self.thread.join(); print("stopped") =}
    }"""
    assert printed(text) == ["True", "stopped"]


def test_a_mode_connects_what_a_reaction_of_another_mode_sets(printed):
    text = """
    target Python { timeout: 3 ms, fast: true }
    reactor Clock { timer t(0, 1 ms) output o reaction(t) -> o {= o.set("connected") =} }
    reactor Modal {
      output o
      timer t(0, 1 ms)
      initial mode One { c = new Clock() c.o -> o reaction(t) -> reset(Two) {= Two.set() =} }
      mode Two { reaction(t) -> o, history(One) {= o.set("set"); One.set() =} }
    }
    main reactor { m = new Modal() reaction(m.o) {= print(m.o.value) =} }"""
    assert printed(text) == ["connected", "set", "connected", "set"]


def test_modes(printed):
    text = """
    target Python { timeout: 60 ms, fast: true }
    reactor Count(name = "") {
      timer t(0, 10 ms)
      reset state fresh = 0
      state kept = 0
      output o
      reaction(t) -> o {= self.fresh += 1; self.kept += 1; o.set((self.name, self.fresh, self.kept)) =}
    }
    reactor Modal {
      output o
      timer outer(25 ms, 25 ms)
      initial mode One {
        one = new Count(name = "one")
        one.o -> o
        reset state visits = 0
        reaction(startup) {= self.visits += 1 =}
        reaction(outer) -> history(Two) {= Two.set() =}
      }
      mode Two {
        timer here(1 ms)
        two = new Count(name = "two")
        two.o -> o
        reaction(reset) {= print("reset") =}
        reaction(here) {= print("here") =}
        reaction(outer) -> reset(One) {= One.set() =}
      }
    }
    main reactor {
      m = new Modal()
      reaction(m.o) {= print(lf.time.logical_elapsed() // MSEC(1), m.o.value) =}
    }"""
    assert printed(text) == [
        "0 ('one', 1, 1)", "10 ('one', 2, 2)", "20 ('one', 3, 3)",
        "25 ('two', 1, 1)", "here", "35 ('two', 2, 2)", "45 ('two', 3, 3)",
        "50 ('one', 1, 4)", "60 ('one', 2, 5)",
    ]  # fmt: skip


def test_a_mode_named_plainly_is_entered_by_reset(printed):
    text = """
    target Python { timeout: 2 ms, fast: true }
    main reactor {
      timer t(0, 1 ms)
      initial mode A { reaction(t) -> B {= print("A"); B.set() =} }
      mode B { reaction(reset) {= print("fresh") =} reaction(t) -> reset(A) {= print("B"); A.set() =} }
    }"""
    assert printed(text) == ["A", "fresh", "B", "A"]


# What bodies see


def test_the_names_that_bodies_see(printed):
    text = """
    target Python { timeout: 1 ms, fast: true }
    main reactor {
      timer t(1 ms)
      reaction(startup) {=
        print(NSECS(1), USEC(1), MSECS(1), SEC(1), MINUTES(1), HOUR(1), DAYS(1), WEEK(1), BILLION)
        print(FOREVER > NEVER, instant_t, sys.maxsize == FOREVER, copy.copy([1]))
        start = lf.time.start()
        print(lf.tag() == Tag(time=start, microstep=0), lf.tag_compare(lf.tag(), Tag(start, 1)), lf.tag().time == start)
        print(lf.time.logical() == start, lf.time.logical_elapsed(), type(lf.time.logical_elapsed()))
        print(lf.time.physical() >= start, lf.time.physical_elapsed() >= 0)
      =}
      reaction(t) {= print(lf.time.logical_elapsed() * 1e-9, lf.time.logical() - lf.time.start()); lf.request_stop() =}
      reaction(shutdown) {= print(lf.tag().microstep) =}
    }"""
    assert printed(text) == [
        "1 1000 1000000 1000000000 60000000000 3600000000000 86400000000000 604800000000000 1000000000",
        "True <class 'int'> True [1]", "True -1 True", "True 0 <class 'int'>", "True True",
        "0.001 1000000", "0",
    ]  # fmt: skip


def test_directories(printed, tmp_path):
    text = """
    main reactor {
      state d = {= lf.source_directory() =}
      reaction(startup) {= print(self.d, lf.package_directory()) =}
    }"""
    assert printed(text) == [f"{tmp_path} {tmp_path}"]


def test_a_package_has_its_source_below_src(write, capsys, tmp_path):
    path = write("main reactor { reaction(startup) {= print(lf.package_directory()) =} }", "src/deep/Main.lf")
    run(load(path))
    assert capsys.readouterr().out == f"{tmp_path}\n"


# Files


def test_imports(write, capsys):
    write("preamble {= word = 'B' =} reactor Hello(n = 1) { reaction(startup) {= print(word, self.n) =} }", "lib/B.lf")
    write('import Hello from "B.lf"\nreactor Twice { a = new Hello() b = new Hello(n = 2) }', "lib/C.lf")
    write("reactor Hello { reaction(startup) {= print('packaged') =} }", "build/lfc_include/pkg/src/lib/D.lf")
    path = write("""
        import Twice, Twice as Again from "lib/C.lf";
        import Hello as Packaged from <pkg/D.lf>
        main reactor { t = new Twice() a = new Again() p = new Packaged() }""")
    run(load(path))
    assert capsys.readouterr().out.splitlines() == ["B 1", "B 2"] * 2 + ["packaged"]


def test_files_that_import_each_other(write, capsys):
    write('import A from "Main.lf"\nreactor B(depth = 1) { reaction(startup) {= print("B") =} }', "B.lf")
    run(load(write('import B from "B.lf"\nreactor A { b = new B() }\nmain reactor { a = new A() }')))
    assert capsys.readouterr().out == "B\n"


def test_python_files_beside_the_program_are_found(write, capsys, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    write("text = 'helped'\n", "parts/beside_lf_program.py")
    path = write("""
        target Python { files: ["parts/beside_lf_program.py"] }
        preamble {= import beside_lf_program =}
        main reactor { reaction(startup) {= print(beside_lf_program.text) =} }""")
    run(load(path))
    assert capsys.readouterr().out == "helped\n"


def test_target_properties_and_attributes_say_how_to_run(write):
    text = """
    target Python {
      timeout: 5 sec, fast: true, keepalive: false, "workers": 3,
      files: ["x.py"], coordination-options: { advance-message-interval: 10 msec, }, logging: DEBUG
    }
    @label("main")
    main reactor {}"""
    with pytest.warns(LinguaFrancaWarning) as caught:
        main = load(write(text))
    assert run_options(main) == {"timeout": 5_000_000_000, "fast": True, "keepalive": False, "workers": 3}
    assert [str(w.message) for w in caught] == [
        "the target property 'coordination-options' has no meaning here",
        "the target property 'logging' has no meaning here",
    ]
    assert run_options(load(write("@timeout(2 sec) main reactor {}"))) == {"timeout": 2_000_000_000}


def test_attributes_stand_anywhere(printed):
    text = """
    @icon("a.svg") @enclave(each = true)
    reactor R(@label("p") p = 1) {
      @side("west") input i @label output o
      @sparse state s = 1
      @layout(option = "x", 3) reaction(i) -> o {= =}
    }
    main reactor { @label("child") r = new R() @label("begin") reaction(startup) {= print("ran") =} }"""
    assert printed(text) == ["ran"]


def test_hosts_are_read_over(printed):
    text = """
    reactor R at localhost { reaction(startup) {= print("ran") =} }
    federated reactor at user@127.0.0.1:15045 { r = new R() at [::1] s = new R() at 10.0.0.2:80; }"""
    with pytest.warns(LinguaFrancaWarning, match="one program"):
        assert printed(text) == ["ran", "ran"]


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
    main = load(write(STRUCTURES[target]), structure=True)
    program = elaborate(main)
    assert len(program.instances) == 5
    assert [port.width for port in program.ports] == [2, 2, 2, 6]
    assert len(program.reactions) == 4
    with pytest.raises(ElaborationError, match=f"its target is {target}, and only bodies in Python run here"):
        load(write(STRUCTURES[target]))


def test_a_width_that_needs_another_targets_code_is_refused(faults, write):
    path = write("target C\nmain reactor {\n  output[{= N =}] out: int\n}")
    with pytest.raises(ElaborationError, match=r"Main.out: width must be a positive integer, got None .*Main.lf:3"):
        elaborate(load(path, structure=True))


def test_a_structure_may_be_left_to_the_target(write):
    text = """
    target Cpp { cmake-include: "x.cmake" }
    public preamble {= #include <vector> =}
    reactor Source(n: size_t = 2, v: std::vector<int>{1, 2, {3}}, code: int({= 1 << 2 =})) {
      output[n] out: std::shared_ptr<int>
      state s: int*({= nullptr =})
      timer in(0, {= 1s =})
      reaction(in) -> out {= out[0].set(1); =} deadline(1 s) {= =}
    }
    main reactor { s = new Source() reaction(s.out) {= auto x = *s.out.get(); =} }"""
    program = elaborate(load(write(text), structure=True))
    assert [reaction.path for reaction in program.reactions] == ["Main.reaction_1", "Main.s.reaction_1"]
    assert [port.width for port in program.ports] == [2]
    assert elaborate(load(write(text), structure=None)).reactions


# What is easily misread


def test_a_parameter_in_the_arguments_of_a_bank_is_that_of_the_reactor_around_it(printed):
    text = """
    reactor Child(bank_index = 0, outer = 0, entry = 0) {
      reaction(startup) {= print(self.bank_index, self.outer, self.entry) =}
    }
    reactor Parent(bank_index = 0, table = {= [10, 20] =}) {
      c = new[2] Child(outer = bank_index, entry = {= table[bank_index] =})
    }
    main reactor { p = new[2] Parent() }"""
    assert printed(text) == ["0 0 10", "1 0 20", "0 1 10", "1 1 20"]


@pytest.mark.parametrize(
    "line",
    ['print(f"{self.n=}")', "print(f'{self.n=}')", 'print("self.n=1")  # not f"{n=}"', 'print("""self.n=1""") # =} x'],
)
def test_a_body_does_not_end_within_a_text_or_a_comment(printed, line):
    text = f"""
    main reactor {{
      state n = 1
      reaction(startup) {{=
        {line}
      =}}
      reaction(shutdown) {{= print("=}}") # the end =}}
    }}"""
    assert printed(text) == ["self.n=1", "=}"]


def test_a_preamble_of_a_reactor_may_hold_a_table(printed):
    text = """
    reactor A { preamble {= table = {"a": 1} =} reaction(startup) {= print(self.table["a"]) =} }
    main reactor { preamble {= listed = [2] =} a = new A() reaction(startup) {= print(self.listed) =} }"""
    assert sorted(printed(text)) == ["1", "[2]"]


def test_comments_in_three_quotation_marks(printed):
    text = """
    '''
    What it does: "nothing
    '''
    main reactor { ''' here ''' reaction(startup) {= print(1) =} }"""
    assert printed(text) == ["1"]


def test_empty_braces_are_a_dict(printed):
    text = """
    main reactor(p = {}) { state seen = {} reaction(startup) {= self.seen["a"] = 1; print(self.seen, self.p) =} }"""
    assert printed(text) == ["{'a': 1} {}"]


def test_what_the_preamble_of_a_reactor_defines_travels(write):
    text = """
    reactor A { preamble {=
        class Message:
          text = "hello"
      =}
      output o reaction(startup) -> o {= o.set(self.Message()) =} }
    reactor B { input i output o reaction(i) -> o {= o.set(i.value.text) =} }
    main reactor { a = new A() b = new B() a.o -> b.i }"""
    main = load(write(text))
    where = {"a": 0, "b": 1}
    result = run(
        main, executor="processes", workers=2, placement={f"Main.{k}": w for k, w in where.items()}, trace=True
    )
    assert [value for record in result.trace for path, value in record.writes if path == "Main.b.o"] == ["hello"]


def test_names_of_functions_are_their_own(printed):
    text = """
    preamble {=
    def nbody(): pass
    def body(): pass
    =}
    main reactor { method everybody() {= pass =}
      reaction(startup) {= print(nbody.__qualname__, body.__name__, self.everybody.__name__) =} }"""
    assert printed(text) == ["nbody body everybody"]


def test_no_workers_are_as_many_as_suit(write):
    assert run_options(load(write("target Python { workers: 0 } main reactor { }"))) == {}


def test_files_of_the_program_come_before_what_is_installed(write, printed, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    write("print('its own')", "lib/this.py")
    assert printed('target Python { files: ["lib/this.py"] } preamble {= import this =} main reactor { }') == [
        "its own"
    ]
    sys.modules.pop("this")
