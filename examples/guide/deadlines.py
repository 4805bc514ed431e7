"""A reaction that is useless when it is late: a handler runs in its place."""

import time

from reactorlib import MSEC, Input, Output, Reactor, Timer, connect, reaction, run


class Camera(Reactor):
    """Takes a picture every 600 ms; the second takes too long."""

    shutter = Timer(period=600 * MSEC)
    picture = Output[int]()

    def __init__(self) -> None:
        self.number = 0

    @reaction(shutter, effects=picture)
    def take(self, shutter: Timer, picture: Output[int]) -> None:
        self.number += 1
        if self.number == 2:
            time.sleep(0.4)
        picture.set(self.number)


class Brake(Reactor):
    """Acts within 300 ms of the tag of a picture, or does what is safe."""

    picture = Input[int]()

    @reaction(picture, deadline=300 * MSEC)
    def act(self, picture: Input[int]) -> None:
        print("picture", picture.value, "in time")

    @act.missed
    def stop(self, picture: Input[int]) -> None:
        print("picture", picture.value, "too late: stop")


class Car(Reactor):
    """A camera and a brake."""

    def __init__(self) -> None:
        self.camera, self.brake = Camera(), Brake()
        connect(self.camera.picture, self.brake.picture)


if __name__ == "__main__":
    run(Car, timeout=1200 * MSEC)
