"""The fake workload as it should be."""


def run(task, probe, *, style):
    """Count."""
    probe.state(task.count(probe))
