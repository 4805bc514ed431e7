"""Views of programs and runs: `diagram` and `timeline`. No run imports them, so they are free when unused."""
