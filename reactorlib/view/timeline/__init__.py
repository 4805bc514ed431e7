"""What a traced run can be asked afterwards: who waited for whom, where the time went, and a file for Perfetto."""

from reactorlib.view.timeline.events import trace_events
from reactorlib.view.timeline.summary import ReactionTimes, Summary, summarised

__all__ = ["ReactionTimes", "Summary", "summarised", "trace_events"]
