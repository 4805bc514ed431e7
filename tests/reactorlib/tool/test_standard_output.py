"""Standard output that is closed, full or cut off: no traceback, and a status that is not 0 where output was lost."""

import os
import subprocess
import sys

import pytest

from reactorlib.tool.standard_output import CUT, LOST
from tests.reactorlib.scripts import ROOT

SMALL, LARGE = "print('word', flush=False)", "print('word ' * 100_000)"
STATUS = 7  # of the command itself
SCRIPT = """
import os, sys
from reactorlib.tool import standard_output

@standard_output.ended
def main():
    {body}
    return {status}

if __name__ == "__main__":
    sys.exit(main())
"""


def ran(body, redirection, unbuffered="", status=STATUS, **environment):
    script = SCRIPT.format(body=body, status=status)
    command = f'exec "{sys.executable}" -c "$SCRIPT" {redirection}'
    given = {"SCRIPT": script, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": unbuffered, **environment}
    done = subprocess.run(
        ["bash", "-c", command], env=os.environ | given, capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("body", [SMALL, LARGE])
@pytest.mark.parametrize(("redirection", "words"), [(">&-", "it is closed"), (">/dev/full", "No space left on device")])
def test_output_that_cannot_be_written_is_one_line_and_a_status(redirection, words, body, unbuffered):
    status, _, told = ran(body, redirection, unbuffered)
    assert (status, told) == (LOST, f"standard output cannot be written: {words}\n")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("body", [SMALL, LARGE])
def test_a_reader_that_left_is_a_status_and_no_line(body, unbuffered):
    reader, writer = os.pipe()
    os.close(reader)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": unbuffered}
    with os.fdopen(writer, "w") as closed:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT.format(body=body, status=0)], env=environment, stdout=closed,
            stderr=subprocess.PIPE, timeout=60, check=False,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (CUT, b"")


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full", ">/dev/null", "2>&-"])
def test_a_command_that_prints_nothing_loses_nothing(redirection):
    assert ran("pass", redirection) == (STATUS, "", "")


def test_help_of_argparse_that_is_lost_has_a_status():
    body = "import argparse; argparse.ArgumentParser().parse_args(['--help'])"
    assert ran(body, ">/dev/full")[0] == LOST
    assert ran(body, "")[0] == 0


def test_an_error_of_the_command_is_its_own():
    status, _, told = ran("raise OSError(28, 'No space left on device')", "")
    assert status == 1
    assert told.endswith("OSError: [Errno 28] No space left on device\n")


@pytest.mark.parametrize("redirection", [">&-", ">&- 2>&-"])
def test_a_file_that_is_opened_later_does_not_get_the_number_of_a_closed_stream(redirection):
    body = "sys.exit(11 if os.open('/dev/zero', os.O_RDONLY) > 2 else 12)"
    assert ran(body, redirection)[0] == 11


def test_letters_that_the_encoding_lacks_are_escaped():
    assert ran("print('\\u2022 word')", "", PYTHONIOENCODING="ascii") == (STATUS, "\\u2022 word\n", "")


@pytest.mark.parametrize("prints", ["print('word')", "os.system('echo word')", "C.printf(b'word')"])
def test_what_a_block_prints_goes_to_standard_error(prints):
    body = f"import ctypes; C = ctypes.CDLL(None)\n    with standard_output.to_stderr(): {prints}\n    print('result')"
    status, told, aside = ran(body, "")
    assert (status, told, aside.strip()) == (STATUS, "result\n", "word")


def test_a_command_ends_although_a_thread_of_the_user_does_not():
    body = "import threading; threading.Thread(target=threading.Event().wait).start(); standard_output.leave(3)"
    assert ran(body, "") == (3, "", "")
