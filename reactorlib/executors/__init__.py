"""One interface, several ways to run the same Program; each gives the tag loop its schedules."""
