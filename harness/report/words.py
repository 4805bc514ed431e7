"""The explanations of `words.toml`, which reports and pages print."""

import tomllib
from pathlib import Path

_WORDS: dict[str, str] = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


def explanation(name: str, **values: object) -> str:
    """An explanation, with these values in it."""
    return _WORDS[name].format(**values)
