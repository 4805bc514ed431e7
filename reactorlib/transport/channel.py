"""The way of messages from one worker to one other: a ring of slots in shared memory, first in, first out.

A slot is a word and room for a message. The word holds the number of the message and its length and is written
last. Two ways to know that a message is there: `Channel` looks at the word, which is right where stores become
visible in program order (x86); `KernelChannel` posts an event for each message and takes one before it looks,
so that the kernel orders memory. A message larger than a slot travels in a block of the sender's arena.
"""

from __future__ import annotations

import struct
from collections import deque

from reactorlib.transport.arena import Arena, release
from reactorlib.transport.memory import Memory
from reactorlib.transport.ordering import fence
from reactorlib.transport.signals import Bell, Waiter

SLOTS = 32  # a power of two
SLOT_BYTES = 65 * 64  # not a multiple of 4096, so that the words of neighbouring slots share no cache set
INLINE = SLOT_BYTES - 8  # the longest message that fits into a slot
RING_BYTES = 64 + SLOTS * SLOT_BYTES
LOOKS = 100  # before the waiter takes over: about 5 us
PUBLISH = SLOTS // 4  # the receiver says after so many messages that their slots are empty
IN_BLOCK = 0x8000
LENGTH = 0x7FFF
ROOM = 0x10000  # added to a worker's number in the state of a sender that waits for an empty slot
_BLOCK = struct.Struct("<QQQ")


class Channel:
    """One direction between two workers; the sender uses `send`, the receiver the rest.

    `states` holds what each worker sleeps on, `bell` is the receiver's (the sender's bell for the receiver's end).
    """

    def __init__(
        self,
        memory: Memory,
        start: int,
        sender: int,
        receiver: int,
        states: memoryview,
        arena: Arena,
        waiter: Waiter,
        bell: Bell,
    ) -> None:
        self.sender = sender
        self.receiver = receiver
        self.waiter = waiter
        self.arena = arena  # the sender's
        self.backlog: deque[bytes] = deque()
        self._memory = memory
        self._bytes = memory.map
        memory.fund(start, RING_BYTES)
        self._words = memory.view[start : start + RING_BYTES].cast("Q")
        self._first = start + 72
        self._states = states
        self._bell = bell
        self._number = 0  # of the last message sent or received
        self._limit = SLOTS  # the last message that may be sent

    # The sender's end

    def send(self, message: bytes) -> None:
        """Append a message of any length; waits while all slots are full."""
        number = self._number + 1
        if number > self._limit:
            self._await_room(number)
        length = len(message)
        if length > INLINE:
            message, length = self._in_block(message)
        slot = number % SLOTS * SLOT_BYTES
        at = self._first + slot
        self._bytes[at : at + len(message)] = message
        self._words[8 + slot // 8] = number << 16 | length
        self._number = number
        self._announce()

    def _announce(self) -> None:
        state = self._states[self.receiver * 8]
        if state and (state == self.sender + 1 or state == 0xFFFF):
            self._bell.ring()

    def _await_room(self, number: int) -> None:
        def has_room() -> bool:
            self._limit = self._words[0] + SLOTS
            return number <= self._limit

        if not has_room():
            self.waiter.wait(has_room, ROOM + self.receiver)

    def _in_block(self, message: bytes) -> tuple[bytes, int]:
        block = self.arena.take(len(message))
        self._bytes[block.offset : block.offset + len(message)] = message
        self.arena.commit(block, (self.receiver,))
        block.held = False
        reference = _BLOCK.pack(block.index, block.offset, len(message))
        return reference, len(reference) | IN_BLOCK

    # The receiver's end

    def receive(self) -> bytes:
        """The next message; waits for it as long as the waiter's check lets it."""
        if self.backlog:
            return self.backlog.popleft()
        number = self._number + 1
        word = 8 + number % SLOTS * (SLOT_BYTES // 8)
        words = self._words
        least = number << 16
        head = words[word]
        if head < least:
            head = self._await(words, word, least)
        return self._fetch(number, head)

    def arrived(self) -> bool:
        """Whether a message is there."""
        number = self._number + 1
        return bool(self.backlog) or self._words[8 + number % SLOTS * (SLOT_BYTES // 8)] >> 16 >= number

    def pull(self) -> None:
        """Take what has arrived out of the ring, so that the sender has room; `receive` will return it."""
        while True:
            number = self._number + 1
            head = self._words[8 + number % SLOTS * (SLOT_BYTES // 8)]
            if head >> 16 < number:
                return
            self.backlog.append(self._fetch(number, head))

    def _await(self, words: memoryview, word: int, least: int) -> int:
        for _ in range(LOOKS):
            head: int = words[word]
            if head >= least:
                return head
        self.waiter.wait(lambda: words[word] >= least, self.sender + 1)
        return words[word]

    def _fetch(self, number: int, head: int) -> bytes:
        at = self._first + number % SLOTS * SLOT_BYTES
        message = self._bytes[at : at + (head & LENGTH & ~IN_BLOCK)]
        self._number = number
        if not number % PUBLISH:
            self._publish(number)
        if head & IN_BLOCK:
            index, offset, length = _BLOCK.unpack(message)
            message = self._bytes[offset : offset + length]
            release(self.arena.releases, index * self.arena.workers + self.receiver)
        return message

    def _publish(self, number: int) -> None:
        self._words[0] = number
        if self._states[self.sender * 8] == ROOM + self.receiver:
            self._bell.ring()


class KernelChannel(Channel):
    """A channel for any machine: a message is looked at only after the event posted for it was taken."""

    def __init__(
        self,
        memory: Memory,
        start: int,
        sender: int,
        receiver: int,
        states: memoryview,
        arena: Arena,
        waiter: Waiter,
        bell: Bell,
        posts: Bell,
    ) -> None:
        super().__init__(memory, start, sender, receiver, states, arena, waiter, bell)
        self._posts = posts

    def _announce(self) -> None:
        self._posts.ring()
        fence()  # before looking whether the receiver sleeps
        super()._announce()

    def receive(self) -> bytes:
        """The next message; waits for it as long as the waiter's check lets it."""
        if self.backlog:
            return self.backlog.popleft()
        if not self._posts.take():
            self.waiter.wait(self._posts.take, bell=self._posts)
        return self._fetch_posted()

    def arrived(self) -> bool:
        """Whether a message is there."""
        if not self.backlog and self._posts.take():
            self.backlog.append(self._fetch_posted())
        return bool(self.backlog)

    def pull(self) -> None:
        """Take what has arrived out of the ring, so that the sender has room; `receive` will return it."""
        while self._posts.take():
            self.backlog.append(self._fetch_posted())

    def _fetch_posted(self) -> bytes:
        number = self._number + 1
        return self._fetch(number, self._words[8 + number % SLOTS * (SLOT_BYTES // 8)])

    def _publish(self, number: int) -> None:
        fence()  # we have read the slots before the sender may write to them
        super()._publish(number)
