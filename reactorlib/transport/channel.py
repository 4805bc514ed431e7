"""The way of messages from one worker to one other: a ring of slots in shared memory, first in, first out.

A slot is a word and room for a message. The word holds the number of the message and its length. The sender writes it
last, the receiver reads it first. On x86 stores become visible in program order. Elsewhere both ends put a fence
between word and message. A message larger than a slot travels in a block of the sender's arena.
"""

from __future__ import annotations

from collections import deque

from reactorlib.transport.arena import Arena, Lender
from reactorlib.transport.codec import REFERENCE
from reactorlib.transport.debug import after
from reactorlib.transport.memory import fence
from reactorlib.transport.waiting import AWAKE, STATE_WORDS, Bell, Waiter

SLOTS = 32  # a power of two
SLOT_BYTES = 129 * 64  # not a multiple of 4096, so that the words of neighbouring slots share no cache set
HEADER_BYTES = 64
RING_BYTES = HEADER_BYTES + SLOTS * SLOT_BYTES
INLINE = SLOT_BYTES - 8  # the longest message that fits into a slot
FIRST_LOOKS = 100  # before the waiter takes over: a few microseconds
PUBLISH = SLOTS // 4  # messages after which the receiver says that their slots are empty
NUMBER, IN_BLOCK, LENGTH = 16, 0x8000, 0x7FFF  # the parts of a word: a shift, a flag, a mask
FOR_ROOM = 0x10000  # added to the receiver's number in the state of a sender that waits for an empty slot
_SLOT_WORDS, _HEADER_WORDS = SLOT_BYTES // 8, HEADER_BYTES // 8


def _has_kept_to_its_room(channel: MessageChannel, _result: None) -> None:
    taken = channel._words[0]
    assert taken <= channel._number, "the receiver has taken what was not sent"
    assert channel._number <= taken + SLOTS, "a message was written over one that was not taken"


def _has_taken_the_next_one(channel: MessageChannel, _message: bytes) -> None:
    """The slot of the last message holds it, or the one that the sender may write there once its slot is empty."""
    number = channel._number
    found = channel._words[channel._slots[number % SLOTS][1]] >> NUMBER
    again = number + SLOTS if channel._words[0] >= number else number
    assert found in (number, again), "a message is missing, or was written over"


class MessageChannel:
    """One end of one direction between two workers; the sender uses `send`, the receiver the rest.

    `ring` is the place of the channel, and `bell` wakes the other end. `waiter`, `arena` and `lender` are those of this
    end. `fenced`: the machine does not keep the order of stores and loads.
    """

    def __init__(
        self, sender: int, receiver: int, ring: int, waiter: Waiter, arena: Arena, lender: Lender, bell: Bell,
        fenced: bool,
    ) -> None:  # fmt: skip
        memory = arena.memory
        self.bell = bell
        self.states = waiter.states
        self.receiver = receiver
        self._fenced = fenced
        self._waiter = waiter
        self._arena = arena
        self._lender = lender
        self._sender_state = sender * STATE_WORDS
        self._receiver_state = receiver * STATE_WORDS
        self._waited_for = sender + 1  # in the state of a receiver that waits for this sender
        memory.fund(ring, RING_BYTES)
        self._map = memory.map
        self._words = memory.view[ring : ring + RING_BYTES].cast("Q")
        first = ring + HEADER_BYTES + 8
        # Of each slot: where its message begins, and the place of its word among the words.
        self._slots = [(first + n * SLOT_BYTES, _HEADER_WORDS + n * _SLOT_WORDS) for n in range(SLOTS)]
        self._number = 0  # of the last message that was sent or taken
        self._limit = SLOTS  # the last message for which there is room
        self._backlog: deque[bytes] = deque()  # taken, not yet asked for

    # The sender's end

    @after(_has_kept_to_its_room)
    def send(self, message: bytes) -> None:
        """Append a message of any length; waits while all slots are full."""
        number = self._number + 1
        if number > self._limit:
            self._await_room(number)
        word = length = len(message)
        if length > INLINE:  # control messages and many requests: the codec puts its own large messages into blocks
            message = self._in_block(message)
            length = len(message)
            word = length | IN_BLOCK
        at, word_at = self._slots[number % SLOTS]
        self._map[at : at + length] = message
        if self._fenced:
            fence()
        self._words[word_at] = number << NUMBER | word
        self._number = number
        if self.states[self._receiver_state] == self._waited_for:
            # Cleared first, then rung: the ring wakes a receiver that fell asleep in between.
            self.states[self._receiver_state] = AWAKE
            self.bell.ring()

    def _await_room(self, number: int) -> None:
        def has_room() -> bool:
            self._limit = self._words[0] + SLOTS
            return number <= self._limit

        if not has_room():
            self._waiter.wait(has_room, FOR_ROOM + self.receiver)

    def _in_block(self, message: bytes) -> bytes:
        block = self._arena.take(len(message))
        self._map[block.offset : block.offset + len(message)] = message
        self._arena.commit([block], [self.receiver])
        return REFERENCE.pack(block.first, block.offset, block.room, len(message))

    # The receiver's end

    @after(_has_taken_the_next_one)
    def receive(self) -> bytes:
        """The next message; waits for it as long as the waiter's check lets it."""
        if self._backlog:
            return self._backlog.popleft()
        number = self._number + 1
        at, word_at = self._slots[number % SLOTS]
        word = self._words[word_at]
        if word >> NUMBER < number:
            self._await()
            return self.receive()
        if self._fenced:
            fence()
        message = self._map[at : at + (word & LENGTH)]
        self._number = number
        if not number % PUBLISH:
            if self._fenced:
                fence()
            self._words[0] = number
            if self.states[self._sender_state] == FOR_ROOM + self.receiver:
                self.bell.ring()
        if word & IN_BLOCK:
            first, offset, room, length = REFERENCE.unpack(message)
            return bytes(memoryview(self._lender.borrow(first, offset, room))[:length])
        return message

    def arrived(self) -> bool:
        number = self._number + 1
        word: int = self._words[self._slots[number % SLOTS][1]]
        return bool(self._backlog) or word >> NUMBER >= number

    def pull(self) -> None:
        """Take what has arrived out of the ring, so that the sender has room; `receive` will return it."""
        backlog, self._backlog = self._backlog, deque()
        while self.arrived():  # in the ring: the backlog is aside
            backlog.append(self.receive())
        self._backlog = backlog

    def _await(self) -> None:
        words, number = self._words, self._number + 1
        word_at, least = self._slots[number % SLOTS][1], number << NUMBER
        for _ in range(FIRST_LOOKS):
            if words[word_at] >= least:
                return
        self._waiter.wait(self.arrived, self._waited_for)  # while it waits, it may pull the message into the backlog
