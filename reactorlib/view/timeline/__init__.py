"""The report of a traced run: its causes and critical paths, a summary of its times, and a file for Perfetto."""

from reactorlib.view.timeline.events import trace_events
from reactorlib.view.timeline.summary import ReactionTimes, Summary, summarised

__all__ = ["ReactionTimes", "Summary", "summarised", "trace_events"]
