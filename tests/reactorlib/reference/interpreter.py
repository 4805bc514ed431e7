"""A naive interpreter of program specifications: the rules of the reactor model, as directly as possible.

It owns the meaning of a program and nothing else. It has one list of events, searched from end to end at every tag.
At every tag it asks every reaction whether it has something to react to. It never imports the runtime that it is
compared with.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

from tests.reactorlib.reference import order
from tests.reactorlib.reference.instances import (
    Action,
    Channel,
    Elaborated,
    Event,
    Link,
    Reaction,
    Scope,
    Timer,
    elaborate,
    enclosing,
)
from tests.reactorlib.reference.rule import Operation, Rule, Sample, decide, remember
from tests.reactorlib.reference.specification import RESET, SHUTDOWN, SIGNALS, STARTUP, ProgramSpec

Tag = tuple[int, int]
Write = tuple[str, Any]
Record = tuple[Tag, str, tuple[Write, ...]]
Look = tuple[bool, Any]  # present, value


@dataclass(frozen=True)
class Behaviour:
    """The events of a run: every reaction with its tag and its writes, in order, the last tag, and the values seen.

    `seen` has the values of the arguments by tag and reaction, as a reaction runs once at a tag.
    """

    records: tuple[Record, ...]
    last: Tag
    seen: dict[tuple[Tag, str], list[Look]] = field(default_factory=dict)


@dataclass(eq=False)
class Asleep:
    """An event of a mode that is not active, with the delay that remains when the mode resumes."""

    event: Event
    remaining_ns: int
    microsteps: int


def interpret(program: ProgramSpec) -> Behaviour:
    """Run the program from (0, 0) to its end; ValueError where its reactions form a cycle."""
    elaborated = elaborate(program)
    if not order.assign(elaborated):
        raise ValueError("the reactions form a cycle")
    return Machine(elaborated, program.timeout_ns).run()


def active(scope: Scope | None) -> bool:
    """Whether the mode, and every mode around it, is the current one."""
    return all(each.owner.current == each.name for each in enclosing(scope))


class Machine:
    """The state of one run."""

    def __init__(self, program: Elaborated, timeout_ns: int) -> None:
        self.instances = program.instances
        self.links = program.links
        self.links_from = program.links_from
        self.reactions = sorted(program.reactions, key=order.key)
        self.scopes = [scope for instance in self.instances for scope in instance.scopes.values()]
        self.events: list[Event] = []
        self.asleep: list[Asleep] = []
        self.tag: Tag = (0, 0)
        self.stop: Tag = (timeout_ns, 0)
        self.records: list[Record] = []
        self.seen: dict[tuple[Tag, str], list[Look]] = {}
        self.starting: list[Scope | None] = []
        self.resetting: list[Scope] = []

    def run(self) -> Behaviour:
        """Every tag from the first to the last."""
        self.starting = [None, *(scope for scope in self.scopes if active(scope))]
        for scope in self.starting:
            self._start_timers(scope, at_once=(0, 0))
            if scope is not None:
                scope.fresh = False
        while True:
            self._happen()
            self._react()
            if self.tag == self.stop:
                return Behaviour(tuple(self.records), self.tag, self.seen)
            self._finish()
            self._advance()

    def _advance(self) -> None:
        if not self.events:  # starvation
            time_ns, microstep = self.tag
            self.stop = min(self.stop, (time_ns, microstep + 1))
            self.tag = self.stop
        else:
            self.tag = min(self.stop, *(event.tag for event in self.events))

    def _happen(self) -> None:
        """Make present what happens at this tag."""
        for event in [event for event in self.events if event.tag == self.tag]:
            self.events.remove(event)
            match event.target:
                case Timer() as timer:
                    timer.present = True
                    if timer.period_ns:
                        self.events.append(Event((self.tag[0] + timer.period_ns, 0), timer))
                case Action() as action:
                    action.present, action.value = True, event.value
                case Link() as link:
                    self._arrive(link.target, event.value)

    def _arrive(self, channel: Channel, value: Any) -> None:
        """A value is there. Inside a mode, reactors that are shut down after it was left still reach each other."""
        channel.value, channel.present = value, True
        for link in self.links_from[channel]:
            if link.after_ns is None and (active(link.scope) or not link.guarded):
                self._arrive(link.target, value)

    def _react(self) -> None:
        for reaction in self.reactions:
            if self._is_due(reaction):
                self._invoke(reaction)

    def _is_due(self, reaction: Reaction) -> bool:
        triggers = reaction.spec.triggers
        if SHUTDOWN in triggers and self.tag == self.stop and not (reaction.scope and reaction.scope.fresh):
            return True
        return active(reaction.scope) and any(self._is_triggered(reaction, name) for name in triggers)

    def _is_triggered(self, reaction: Reaction, name: str) -> bool:
        instance = reaction.instance
        if name == SHUTDOWN:
            return False
        if name == STARTUP:
            return reaction.scope in self.starting
        if name == RESET:
            return reaction.scope in self.resetting
        if name in instance.timers:
            return instance.timers[name].present
        if name in instance.actions:
            return instance.actions[name].present
        return any(channel.present for channel in instance.channels(name))

    def _invoke(self, reaction: Reaction) -> None:
        late = reaction.spec.deadline_ns == 0  # always missed; every other deadline is too far away to be
        rule = reaction.spec.late if late and reaction.spec.late is not None else reaction.spec.rule
        reaction.count += 1
        samples = self._samples(reaction)
        states = list(reaction.instance.states.values())
        memory = states[0].value if states else 0
        targets = self._targets(reaction)
        kinds = [kind for kind, _ in targets]
        self.seen[self.tag, reaction.path] = [
            *((sample.present, sample.value) for sample in samples),
            *(
                (target.present, target.value if kind == "port" or target.present else None)
                for kind, target in targets
                if kind != "mode"
            ),
        ]
        if states:
            states[0].value = remember(rule, reaction.count, memory, samples)
        writes: list[Write] = []
        for operation in decide(rule, reaction.count, memory, samples, kinds):
            writes += self._perform(reaction, operation, targets, rule)
        self.records.append((self.tag, reaction.path, tuple(writes)))

    def _samples(self, reaction: Reaction) -> list[Sample]:
        instance = reaction.instance
        samples: list[Sample] = []
        for name in dict.fromkeys((*reaction.spec.triggers, *reaction.spec.uses)):
            if name in SIGNALS:
                continue
            if name in instance.timers:
                samples.append(Sample(instance.timers[name].present))
            elif name in instance.actions:
                action = instance.actions[name]
                samples.append(Sample(action.present, action.value if action.present else None))
            else:
                mutable = instance.is_mutable(name)
                samples += [self._look(channel, mutable) for channel in instance.channels(name)]
        samples.append(Sample(reaction.spec.deadline_ns == 0))  # the result of check_deadline()
        return samples

    def _look(self, channel: Channel, mutable: bool) -> Sample:
        """The last value stays readable; the body changes its own copy of a mutable input in place."""
        if not mutable:
            return Sample(channel.present, channel.value)
        value = deepcopy(channel.value) if channel.present else None
        if isinstance(value, list):
            value.append(-1)
        return Sample(channel.present, value)

    def _targets(self, reaction: Reaction) -> list[tuple[str, Any]]:
        """The effects of a reaction, channel by channel, with the kind that its rule decides by."""
        instance = reaction.instance
        targets: list[tuple[str, Any]] = []
        for effect in reaction.spec.effects:
            if isinstance(effect, tuple):
                targets.append(("mode", effect))
            elif effect in instance.actions:
                targets.append(("action", instance.actions[effect]))
            else:
                targets += [("port", channel) for channel in instance.channels(effect)]
        return targets

    def _perform(
        self, reaction: Reaction, operation: Operation, targets: list[tuple[str, Any]], rule: Rule
    ) -> list[Write]:
        target: Any = targets[operation.effect][1] if targets else None
        if operation.kind == "set":
            self._arrive(target, operation.value)
            return [(target.path, operation.value)]
        if operation.kind == "schedule":
            self._schedule(target, operation.extra_ns, operation.value)
        elif operation.kind == "switch":
            reaction.instance.wish = target
        elif self.tag != self.stop:
            time_ns, microstep = self.tag
            self.stop = min(self.stop, (time_ns, microstep + 1))
        return []

    def _schedule(self, action: Action, extra_ns: int, value: Any) -> None:
        delay_ns = action.min_delay_ns + extra_ns
        tag = self._after(delay_ns)
        spacing_ns = action.spec.min_spacing_ns
        if spacing_ns is not None and action.scheduled and tag < _spaced(action.scheduled[-1], spacing_ns):
            policy = action.spec.policy
            last = action.scheduled[-1]
            if policy == "drop":
                return
            if policy == "replace" and last in self.events:
                last.value = value
                return
            if policy == "update" and last in self.events:  # the new event stands where the pending one stood
                self.events.remove(last)
                action.scheduled.remove(last)
            if action.scheduled:
                tag = max(tag, _spaced(action.scheduled[-1], spacing_ns))
        action.scheduled.append(self._put(action, tag, value))

    def _after(self, delay_ns: int) -> Tag:
        time_ns, microstep = self.tag
        return (time_ns + delay_ns, 0) if delay_ns else (time_ns, microstep + 1)

    def _put(self, target: Action | Link, tag: Tag, value: Any) -> Event:
        """Enter an event at the tag, or at the next free microstep."""
        taken = [event.tag for event in self.events if event.target is target]
        while tag in taken:
            tag = (tag[0], tag[1] + 1)
        event = Event(tag, target, value)
        self.events.append(event)
        return event

    def _finish(self) -> None:
        """The end of a tag: delayed connections take their values along, modes switch, presence ends."""
        for link in self.links:
            if link.after_ns is not None and link.source.present and active(link.scope):
                self._put(link, self._after(link.after_ns), link.source.value)
        for instance in self.instances:
            for channels in instance.ports.values():
                for channel in channels:
                    channel.present = False
            for timer in instance.timers.values():
                timer.present = False
            for action in instance.actions.values():
                action.present = False
        self.starting, self.resetting = [], []
        if any(instance.wish for instance in self.instances):
            self._switch()

    def _switch(self) -> None:
        before = [scope for scope in self.scopes if active(scope)]
        reset = self._choose_modes()
        after = [scope for scope in self.scopes if active(scope)]
        self._clear(reset)
        for event in [event for event in self.events if event.scope is not None and event.scope not in after]:
            self.events.remove(event)
            remaining_ns = event.tag[0] - self.tag[0]
            microsteps = event.tag[1] if remaining_ns else event.tag[1] - self.tag[1]
            self.asleep.append(Asleep(event, remaining_ns, microsteps))
        for scope in before:
            scope.left_ns = self.tag[0]
        for scope in after:
            if scope not in before or scope in reset:
                self._enter(scope)
        if any(self._begins(reaction) for reaction in self.reactions):
            self.events.append(Event(self._after(0), None))

    def _begins(self, reaction: Reaction) -> bool:
        """Whether the reaction runs because its mode is entered."""
        triggers = reaction.spec.triggers
        starts = STARTUP in triggers and reaction.scope in self.starting
        return starts or (RESET in triggers and reaction.scope in self.resetting)

    def _choose_modes(self) -> list[Scope]:
        """Set the current modes, outer reactors first; the scopes that were entered by a reset."""
        entered: list[Scope] = []
        for instance in self.instances:
            around = list(enclosing(instance.scope))
            if instance.scopes and any(scope in entered for scope in around):
                instance.current = next(iter(instance.scopes))
                if around[0] in entered:
                    entered.append(instance.scopes[instance.current])
            elif instance.wish is not None:
                kind, mode = instance.wish
                instance.current = mode
                if kind == "reset":
                    entered.append(instance.scopes[mode])
            instance.wish = None
        return entered

    def _clear(self, reset: list[Scope]) -> None:
        """Everything inside a mode that is entered by a reset begins anew."""

        def inside(scope: Scope | None) -> bool:
            return any(each in reset for each in enclosing(scope))

        self.events = [event for event in self.events if not inside(event.scope)]
        self.asleep = [entry for entry in self.asleep if not inside(entry.event.scope)]
        for scope in self.scopes:
            if inside(scope):
                scope.reset_due = scope in reset
        for instance in self.instances:
            for timer in instance.timers.values():
                timer.started = timer.started and not inside(timer.scope)
            for action in instance.actions.values():
                action.scheduled = [] if inside(action.scope) else action.scheduled
            for state in instance.states.values():
                if state.spec.reset and inside(state.scope):
                    state.value = state.initial

    def _enter(self, scope: Scope) -> None:
        """A mode becomes active at the next microstep."""
        time_ns, microstep = self.tag
        for event in self._past_events(scope):  # on local time, no time has passed
            event.tag = (event.tag[0] + time_ns - scope.left_ns, 0)
        for entry in [entry for entry in self.asleep if entry.event.scope is scope]:
            self.asleep.remove(entry)
            if entry.remaining_ns:
                entry.event.tag = (time_ns + entry.remaining_ns, entry.microsteps)
            else:
                entry.event.tag = (time_ns, microstep + entry.microsteps)
            self.events.append(entry.event)
        self._start_timers(scope, at_once=self._after(0))
        if scope.fresh:
            scope.fresh = False
            self.starting.append(scope)
        if scope.reset_due:
            scope.reset_due = False
            self.resetting.append(scope)

    def _past_events(self, scope: Scope) -> list[Event]:
        """The past events of the mode's actions, from which minimum spacing is counted."""
        waiting = [entry.event for entry in self.asleep]
        actions = [action for instance in self.instances for action in instance.actions.values()]
        scheduled = [event for action in actions if action.scope is scope for event in action.scheduled]
        return [event for event in scheduled if event not in waiting]

    def _start_timers(self, scope: Scope | None, at_once: Tag) -> None:
        for instance in self.instances:
            named = {name for reaction in instance.reactions for name in (*reaction.spec.triggers, *reaction.spec.uses)}
            for name, timer in instance.timers.items():
                if name in named and timer.scope is scope and not timer.started:
                    timer.started = True
                    tag = (self.tag[0] + timer.offset_ns, 0) if timer.offset_ns else at_once
                    self.events.append(Event(tag, timer))


def _spaced(event: Event, spacing_ns: int) -> Tag:
    """The first tag for the event after this one; a spacing of 0 keeps it from the same tag."""
    time_ns, microstep = event.tag
    return (time_ns + spacing_ns, 0) if spacing_ns else (time_ns, microstep + 1)
