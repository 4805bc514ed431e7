"""The fake workload as it should be."""


def run(task, probe):
    """Count."""
    probe.state(task.count(probe))
