"""A modal program: a thermostat that heats in pulses until it is warm, and then waits until it is cold again."""

from reactorlib import (
    MSEC,
    SEC,
    Input,
    Mode,
    Output,
    Reactor,
    State,
    Timer,
    connect,
    history,
    reaction,
    reset,
    run,
)


class Room(Reactor):
    """Cools down by itself, warms up with each pulse, and tells its temperature."""

    pulse = Input[float]()
    temperature = Output[float]()
    tick = Timer(period=500 * MSEC)
    degrees = State(20.0)

    @reaction(pulse)
    def warm(self, pulse):
        self.degrees += pulse.value

    @reaction(tick, effects=temperature)
    def cool(self, tick, temperature):
        self.degrees -= 0.5
        temperature.set(self.degrees)


class Thermostat(Reactor):
    """Has two modes. The elements of a mode are suspended while it is not active."""

    temperature = Input[float]()
    pulse = Output[float]()
    idle = Mode(initial=True)
    heating = Mode()

    with idle:

        @reaction(temperature, effects=reset(heating))
        def wait(self, temperature, heating):
            if temperature.value < 18.0:
                heating.set()

    with heating:
        beat = Timer(period=100 * MSEC)
        pulses = State(0, reset=True)

        @reaction(beat, effects=pulse)
        def heat(self, beat, pulse):
            self.pulses += 1
            pulse.set(0.4)

        @reaction(temperature, effects=history(idle))
        def enough(self, temperature, idle):
            if temperature.value > 21.0:
                print(f"warm after {self.pulses} pulses")
                idle.set()


class Furnace(Reactor):
    """A room and its thermostat; the pulse takes a moment to arrive."""

    def __init__(self):
        self.thermostat = Thermostat()
        self.room = Room()
        connect(self.room.temperature, self.thermostat.temperature)
        connect(self.thermostat.pulse, self.room.pulse, after=10 * MSEC)


if __name__ == "__main__":
    run(Furnace, timeout=20 * SEC, fast=True)
