"""Files of a run's directory: replaced atomically, and JSON that is checked as it is read."""

import codecs
import json
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import UsageError


def write_atomically(path: Path, data: bytes) -> None:
    """Put `data` in place of the file, which any reader sees as it was or as it will be.

    Raises OSError, which names the file and not the temporary one.
    """
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Put an object in place of the file, atomically."""
    write_atomically(path, (json.dumps(content, indent=2) + "\n").encode())


def read_json(path: Path, kind: Any, remedy: str) -> dict[str, Any]:
    """The object in a file, which has the fields of a TypedDict and maybe more.

    Raises UsageError, which ends with the remedy.
    """
    try:
        content: dict[str, Any] = msgspec.json.decode(path.read_bytes().removeprefix(codecs.BOM_UTF8))
        msgspec.convert(content, kind)
        return content
    except FileNotFoundError:
        reason = "no such file"
    except OSError as error:
        reason = str(error.strerror)
    except RecursionError:
        reason = "broken (nested too deep)"
    except msgspec.DecodeError as error:
        reason = f"broken ({': '.join(filter(None, explained(error)))})"
    raise UsageError(f"{path}: {reason}; {remedy}")


def explained(error: msgspec.DecodeError) -> tuple[str, str]:
    """The place in a document, such as `points[0].trials`, and the fault there."""
    reason, _, place = str(error).partition(" - at `$")
    if "..." in place:  # a path through mappings, whose keys it does not name
        place = ""
    reason = re.sub(r"`(.*?)`", r"\1", reason)
    return place.strip("`."), reason[:1].lower() + reason[1:]
