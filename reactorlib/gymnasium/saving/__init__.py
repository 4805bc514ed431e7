"""Saved states of environments: a pickle, or a journal of the calls since the environment was made."""

from reactorlib.gymnasium.saving.environment_pickle import KnowingPickler, known_to_all
from reactorlib.gymnasium.saving.journal import Journal
from reactorlib.gymnasium.saving.states import (
    Refused,
    ResumeError,
    SavedEnvironment,
    opened,
    restore,
    restore_one,
    save,
    save_one,
    set_as_user,
)  # fmt: skip

__all__ = [
    "Journal", "KnowingPickler", "Refused", "ResumeError", "SavedEnvironment", "known_to_all", "opened",
    "restore", "restore_one", "save", "save_one", "set_as_user",
]  # fmt: skip
