"""How Ray is set up: the environment variables of each style of session. Imports nothing of Ray."""

# One thread per worker in the numeric libraries; the other backends run under the same limit.
THREAD_LIMITS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}

# No prompt, no report home, no advice on our console: true of every style.
QUIET = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}

# As Ray's documentation advises: workers at the driver's priority, reports that nobody reads turned off. Then a
# setting found by measurement: memory of unreferenced objects is free after 20 ms instead of a second. It is used
# again while it is in a cache. `make ray-options` compares it with a second. The last two make an overflowing
# object store an error: neither spilling nor a silent move to the disk.
_ADVISED = {
    "RAY_worker_niceness": "0",
    "RAY_task_events_report_interval_ms": "0",
    "RAY_enable_metrics_collection": "0",
    "RAY_metrics_report_interval_ms": "0",
    "RAY_free_objects_period_milliseconds": "20",
    "RAY_automatic_object_spilling_enabled": "0",
    "RAY_local_fs_capacity_threshold": "0.0",
}
# In seconds. By default a compiled graph gives up after ten, which a loaded machine may need for its first round.
_PATIENT = {
    "RAY_CGRAPH_submit_timeout": "300",
    "RAY_CGRAPH_get_timeout": "300",
    "RAY_CGRAPH_teardown_timeout": "60",
}
STYLES: dict[str, dict[str, str]] = {
    "paper": {},  # as a user starts Ray: every default of Ray's own
    "tuned": _ADVISED,
    "compiled": _ADVISED | _PATIENT,
}

# The largest value that Ray passes inline in a call (its setting max_direct_call_object_size). A larger one goes
# through the object store, where all actors can read the same copy; a smaller one would only take a detour there.
INLINE_LIMIT_BYTES = 100 * 1024


def is_setting(variable: str) -> bool:
    """Whether an environment variable is one that Ray reads: some when it is imported, the others when it starts."""
    return variable.startswith("RAY_")
