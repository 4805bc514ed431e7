"""The status of a row: `ok`, or in one line why there is no value."""

OK = "ok"
# How the status begins of a trial that a backend cannot run, for no fault of its own.
UNSUPPORTED = "unsupported: "
_STATUS_CHARACTERS = 240


def one_line(text: str) -> str:
    """`text` as it fits into a status: one line of limited length, and never empty or `ok`."""
    line = " ".join(text.split())
    if len(line) > _STATUS_CHARACTERS:
        line = line[: _STATUS_CHARACTERS - 3] + "..."
    return line if line and line != OK else f"failed: {line}"
