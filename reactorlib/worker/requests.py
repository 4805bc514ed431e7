"""What the reactions of a worker other than 0 ask of worker 0: one tuple each, its first item says what."""

from __future__ import annotations

from typing import Any, Literal

Request = (
    tuple[Literal["soon"], int, Any]  # a trigger by index, its value: the next microstep
    | tuple[Literal["at"], int, int, Any]  # a trigger, a time in ns since the start, its value
    | tuple[Literal["schedule"], int, int, Any]  # a logical action, its extra delay in ns, its value
    | tuple[Literal["action"], int, int, Any]  # a physical connection, a time in ns since the start, its value
    | tuple[Literal["switch"], int, bool]  # a mode, whether by history
    | tuple[Literal["stop"]]
    | tuple[Literal["listen"]]  # to threads that reactions started
)


def carried(request: Request) -> tuple[int, Any] | None:
    """The trigger and the value of a request that carries one."""
    if request[0] == "stop" or request[0] == "listen" or request[0] == "switch":
        return None
    return request[1], request[-1]
