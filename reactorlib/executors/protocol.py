"""Messages between workers. The last item of a message is its kind, so that a packed one is decoded where it lies.

Messages of every tag are packed bytes, also between threads. The others have the kind CONTROL, a name and arguments.
They are pickled for another process, and a tuple for another thread.

    from worker 0   begin(started)           the run began at this physical time in ns
                    learn(number, part)      your part of the split of this number
                    switch(flags, restarted)     (active, entered) of each mode, and the modes that were reset since
                    forget()                 all numbers of splits are void
                    end(early, failed, time, microstep)  leave; `early`: the run failed at this tag, by this reaction
    at every tag    GO                       from worker 0, after values of events: run your part of this split
                    SYNC                     a Send of the plan: what its cells hold
                    DONE                     to worker 0, after the cells of `Plan.last`: my part has ended
                    SCHEDULED                the same, with the requests of its reactions
                    POISON                   nothing more will come at this tag
    to worker 0     ready()                  I could be started
                    failed(failure)          a reaction of mine raised
                    rows(rows)               I recorded this
                    bye(notes)               I am gone; my last reactions raised this
"""

from __future__ import annotations

from struct import Struct

GO, DONE, SCHEDULED, SYNC, POISON, CONTROL = range(6)
POISONED = bytes([POISON])  # nothing more will come at this tag
NOTHING_CROSSES = bytes([DONE])
GO_TAIL = Struct("<IqqB")  # number of a split, time, microstep, kind; before it the values of events
GO_FIELDS = Struct("<Iqq")  # the same without the kind
SCHEDULED_TAIL = Struct("<IB")  # length of the message DONE that comes first, kind; between them the requests
CARRYING = ("logical", "physical", "delay", "physical delay", "input")  # triggers whose events have values
