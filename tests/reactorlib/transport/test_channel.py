"""Messages arrive once, in order, whole: between processes, in both ways to order memory, whatever their size."""

import random
import zlib

import pytest

from reactorlib.errors import WorkerError
from reactorlib.transport.channel import INLINE, PUBLISH, SLOTS
from reactorlib.transport.exchange import Endpoint
from reactorlib.transport.waiting import AWAKE, STATE_WORDS
from tests.reactorlib.transport.conftest import MakeExchange
from tests.reactorlib.transport.peer import Peer, endpoint

SIZES = [0, 1, 7, 8, 9, 100, 1000, INLINE - 1, INLINE, INLINE + 1, 50_000]


def _messages(seed: int, count: int) -> list[bytes]:
    """Random messages, mostly small, each ending in a check sum of number and content."""
    generator = random.Random(seed)
    noise = generator.randbytes(100_000)
    made = []
    for number in range(count):
        size = generator.choice(SIZES) if generator.random() < 0.02 else generator.randrange(200)
        begin = generator.randrange(len(noise) - size)
        body = noise[begin : begin + size]
        made.append(body + zlib.crc32(body, number).to_bytes(4, "little"))
    return made


def _check(number: int, message: bytes) -> None:
    assert zlib.crc32(message[:-4], number) == int.from_bytes(message[-4:], "little"), f"message {number} is damaged"


def test_hundreds_of_thousands_of_messages_of_random_sizes_both_ways(make_exchange: MakeExchange, fenced: bool) -> None:
    count = 30_000 if fenced else 150_000
    there, back = _messages(1, count), _messages(2, count)

    def echo(end: Endpoint) -> None:
        for number in range(count):
            _check(number, end.receiver_from(0)())
            end.sender_to(0)(back[number])

    exchange = make_exchange(fenced=fenced)
    end = endpoint(exchange, 0)
    with Peer(exchange, 1, echo):
        ahead = 0
        for number in range(count):
            while ahead < min(count, number + 1 + number % 20):
                end.sender_to(1)(there[ahead])
                ahead += 1
            _check(number, end.receiver_from(1)())


def test_only_a_receiver_that_sleeps_on_this_sender_is_woken(make_exchange: MakeExchange, fenced: bool) -> None:
    channel = endpoint(make_exchange(fenced=fenced), 0).channel(0, 1)
    for state, rings in ((AWAKE, False), (1, True), (2, False)):  # asleep, waiting for worker 0 or 1
        channel.states[STATE_WORDS] = state
        channel.send(b"message")
        assert channel.bell.sleep(0) is rings
        assert channel.states[STATE_WORDS] == (AWAKE if rings else state)


def test_a_fast_sender_waits_for_room(make_exchange: MakeExchange, fenced: bool) -> None:
    messages = _messages(3, 20_000)

    def drink(end: Endpoint) -> None:
        for number in range(len(messages)):
            _check(number, end.receiver_from(0)())
        end.sender_to(0)(b"done")

    exchange = make_exchange(fenced=fenced)
    end = endpoint(exchange, 0)
    with Peer(exchange, 1, drink):
        for message in messages:
            end.sender_to(1)(message)
        assert end.receiver_from(1)() == b"done"


def test_two_that_send_before_they_receive_do_not_deadlock(make_exchange: MakeExchange, fenced: bool) -> None:
    messages = _messages(4, 50 * SLOTS)

    def exchange_all(end: Endpoint) -> None:
        other = 1 - end.me
        for message in messages:
            end.sender_to(other)(message)
        for number in range(len(messages)):
            _check(number, end.receiver_from(other)())

    exchange = make_exchange(fenced=fenced)
    with Peer(exchange, 1, exchange_all):
        exchange_all(endpoint(exchange, 0))


def test_a_cycle_of_waits_is_broken_by_pulling(make_exchange: MakeExchange, fenced: bool) -> None:
    """0 fills its ring to 1 before it sends to 2; 1 first waits for 2, which waits for 0."""
    count = 5 * SLOTS

    def first_waits(end: Endpoint) -> None:
        assert end.receiver_from(2)() == b"go"
        for number in range(count):
            assert end.receiver_from(0)() == b"%d" % number
        end.sender_to(0)(b"done")

    def waits_for_0(end: Endpoint) -> None:
        assert end.receiver_from(0)() == b"go"
        end.sender_to(1)(b"go")

    exchange = make_exchange(3, fenced=fenced)
    end = endpoint(exchange, 0)
    with Peer(exchange, 1, first_waits), Peer(exchange, 2, waits_for_0):
        for number in range(count):
            end.sender_to(1)(b"%d" % number)
        end.sender_to(2)(b"go")
        assert end.receiver_from(1)() == b"done"


def test_many_workers_pass_a_token_around(make_exchange: MakeExchange, fenced: bool) -> None:
    workers, laps = 5, 300

    def member(end: Endpoint) -> None:
        receive, send = end.receiver_from(end.me - 1), end.sender_to((end.me + 1) % workers)
        for _ in range(laps):
            send(receive() + bytes([end.me]))

    exchange = make_exchange(workers, fenced=fenced)
    end = endpoint(exchange, 0)
    peers = [Peer(exchange, worker, member) for worker in range(1, workers)]
    for _ in range(laps):
        end.sender_to(1)(b"\0")
        assert end.receiver_from(workers - 1)() == bytes(range(workers))
    for peer in peers:
        assert peer.wait() == 0


def test_arrived_and_pull_neither_lose_nor_double_nor_reorder(make_exchange: MakeExchange, fenced: bool) -> None:
    exchange = make_exchange(fenced=fenced)
    one, other = endpoint(exchange, 0).channel(0, 1), endpoint(exchange, 1).channel(0, 1)
    generator = random.Random(5)
    sent = received = 0
    for _ in range(20_000):
        choice = generator.randrange(4)
        if choice == 0 and sent - received < SLOTS - PUBLISH:
            one.send(b"%d" % sent)
            sent += 1
        elif choice == 1:
            other.pull()
        elif choice == 2:
            assert other.arrived() == (received < sent)
        elif received < sent:
            assert other.receive() == b"%d" % received
            received += 1
    assert received > 1000


def test_a_wait_ends_when_the_run_is_aborted(make_exchange: MakeExchange, fenced: bool) -> None:
    exchange = make_exchange(fenced=fenced)
    end = endpoint(exchange, 0)

    def leave(peer: Endpoint) -> None:
        assert peer.receiver_from(0)() == b"waiting"
        peer.exchange.abort()

    with Peer(exchange, 1, leave):
        end.sender_to(1)(b"waiting")
        with pytest.raises(WorkerError, match="aborted"):
            end.receiver_from(1)()
    assert exchange.aborted


@pytest.mark.parametrize("wants", ["a message", "room"])
def test_a_wait_for_a_dead_peer_ends(make_exchange: MakeExchange, fenced: bool, wants: str) -> None:
    peers: list[Peer] = []

    def check() -> None:
        if not peers[0].is_alive:
            raise WorkerError("the peer died")

    def say_and_wait(end: Endpoint) -> None:
        end.sender_to(0)(b"here")
        end.receiver_from(0)()

    exchange = make_exchange(fenced=fenced)
    end = endpoint(exchange, 0, check)
    peers.append(Peer(exchange, 1, say_and_wait))
    assert end.receiver_from(1)() == b"here"
    peers[0].kill()
    for _ in range(SLOTS if wants == "room" else 0):
        end.sender_to(1)(b"x")
    with pytest.raises(WorkerError, match="died"):
        end.sender_to(1)(b"x") if wants == "room" else end.receiver_from(1)()
