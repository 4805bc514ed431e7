"""Which test files are run in one process, where several are at work."""

# Files that share a single resource of the machine, or count something that others would add to. Each of these groups
# is run in one process, one test after the other, the longest groups first. Every other file is a group of its own.
GROUPS = {
    "ray": (
        "tests/harness/measure/test_ray.py",
        "tests/harness/studies/test_doctor.py",
        "tests/harness/studies/breakdown/test_round_parts.py",
        "tests/workloads/actors/test_contract.py",
        "tests/workloads/test_messages_on_ray.py",
        "tests/workloads/test_learning_on_ray.py",
        "tests/workloads/test_ray_session.py",
    ),
    "mpi": ("tests/reactorlib/mpi/",),
}


def group_of(nodeid: str) -> str:
    """The name of the group of files that is run in one process, or of the file."""
    path = nodeid.partition("::")[0]
    return next((name for name, files in GROUPS.items() if path.startswith(files)), path)
