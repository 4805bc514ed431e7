"""Replay of recorded sensors: two recordings, merged at the times at which they were taken, give one estimate.

    python -m reactorlib run examples/gallery/sensor_replay.py:Replay --fast

The live program has two physical actions in place of the recordings. The estimator stays as it is.
"""

from reactorlib import MSEC, Input, LogicalAction, Output, Reactor, connect, reaction, run, startup

Recording = list[tuple[int, float]]  # (milliseconds since the start, value)
ODOMETER: Recording = [(0, 1.0), (10, 1.0), (20, 1.2), (30, 1.2), (40, 1.1), (50, 1.0)]  # metres per second
BEACON: Recording = [(20, 0.030), (50, 0.050)]  # metres


class Recorded(Reactor):
    """A sensor that sends each value of its recording at the time at which it was taken."""

    due = LogicalAction[float]()
    value = Output[float]()

    def __init__(self, recording: Recording):
        self.recording = recording

    @reaction(startup, effects=due)
    def load(self, due):
        for at, value in self.recording:
            due.schedule(at * MSEC, value=value)

    @reaction(due, effects=value)
    def send(self, due, value):
        value.set(due.value)


class Estimator(Reactor):
    """Integrates the speed, and corrects the position halfway towards each beacon."""

    speed = Input[float]()
    beacon = Input[float]()
    position = Output[float]()

    def __init__(self):
        self.at = 0.0

    @reaction(speed, beacon, effects=position)
    def estimate(self, speed, beacon, position):
        if speed.is_present:
            self.at += speed.value * 0.01
        if beacon.is_present:
            self.at += (beacon.value - self.at) / 2
        position.set(self.at)


class Replay(Reactor):
    """Both sensors, the estimator, and a log."""

    def __init__(self):
        self.odometer = Recorded(ODOMETER)
        self.beacon = Recorded(BEACON)
        self.estimator = Estimator()
        connect(self.odometer.value, self.estimator.speed)
        connect(self.beacon.value, self.estimator.beacon)

    @reaction("estimator.position")
    def log(self, position):
        print(f"{position.value:.4f} m")


if __name__ == "__main__":
    run(Replay, fast=True)
