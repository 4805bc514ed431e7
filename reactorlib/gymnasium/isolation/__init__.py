"""Whether an environment is its own: the check, which plays it in processes of its own, and the report."""

from reactorlib.gymnasium.isolation.check import check_isolation
from reactorlib.gymnasium.isolation.report import Finding, Isolation

__all__ = ["Finding", "Isolation", "check_isolation"]
