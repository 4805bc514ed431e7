"""What holds for all tests: a Hypothesis example may take as long as a busy machine makes it."""

from hypothesis import settings

settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
