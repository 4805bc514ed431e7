"""The check loses no byte of another program in the files that an environment writes, and lists these files."""

import csv
import os
import sqlite3
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from multiprocessing.connection import Client, Listener
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reactorlib.gymnasium.isolation import check_isolation
from tests.reactorlib.gymnasium.culprits import Walk

ROW = b"a row of another program\n"


def append(path: Path) -> Path:
    with path.open("a") as file:
        file.write("step\n")
    return path


def write_anew(path: Path) -> Path:
    with path.open("w") as file:
        file.write("step\n")
    return path


def rename_over(path: Path) -> Path:
    new = path.with_suffix(".new")
    new.write_text("step\n")
    return new.replace(path)


def insert(path: Path) -> Path:
    with sqlite3.connect(path) as database:
        database.execute("create table if not exists steps (made text)")
        database.execute("insert into steps values ('step')")
    database.close()
    return path


def write_table(path: Path) -> Path:
    with path.open("a", newline="") as file:
        csv.writer(file).writerow(["step"])
    return path


def save_array(path: Path) -> Path:
    np.save(path.with_suffix(".npy"), np.zeros(3))
    return path.with_suffix(".npy")


def write_by_number(path: Path) -> Path:
    number = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(number, b"step\n")
    os.close(number)
    return path


def write_bytes(path: Path) -> Path:
    path.write_bytes(b"step\n")
    return path


def make_temporary(path: Path) -> Path:
    number, name = tempfile.mkstemp(dir=path.parent)
    os.close(number)
    return Path(name)


def remove(path: Path) -> Path:
    path.unlink(missing_ok=True)
    return path


def make_folder(path: Path) -> Path:
    path.mkdir(exist_ok=True)
    return append(path / "file")


def follow_link(path: Path) -> Path:
    link = path.with_suffix(".link")
    if not link.is_symlink():
        link.symlink_to(path)
    append(link)
    return path


KEEP = (append, insert, write_table, write_by_number, make_folder, follow_link)  # what is in the file
LOSE: tuple[Callable[[Path], Path], ...] = (write_anew, rename_over, save_array, write_bytes, make_temporary, remove)
WAYS = (*KEEP, *LOSE)


class Writing(Walk):
    """Each step writes a file in another way. Then another program writes to it, before anybody else does."""

    def __init__(self, folder: Path, address: Any) -> None:
        super().__init__()
        self.folder, self.address, self.all = folder, address, 0

    def step(self, action: Any) -> Any:
        way = WAYS[self.all % len(WAYS)]
        self.all += 1
        with Client(self.address) as other:
            other.recv()
            other.send(way(self.folder / way.__name__))
            other.recv()
        return super().step(action)


class Other:
    """A program that adds a row to each file that it is told, for one client after the other."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.rows: Counter[Path] = Counter()
        self.left: dict[Path, bytes] = {}

    def run(self) -> None:
        while True:
            with self.listener.accept() as client:
                client.send("your turn")
                path = client.recv()
                if path is None:
                    return
                self._write(path)
                self.rows[path] += 1
                self.left[path] = path.read_bytes()
                client.send("done")

    def _write(self, path: Path) -> None:
        if path.name == insert.__name__:
            with sqlite3.connect(path) as database:
                database.execute("insert into steps values ('other')")
            database.close()
        else:
            with path.open("ab") as file:
                file.write(ROW)


@pytest.fixture
def other() -> Iterator[Other]:
    with Listener() as listener:
        found = Other(listener)
        thread = threading.Thread(target=found.run)
        thread.start()
        yield found
        with Client(listener.address) as client:
            client.recv()
            client.send(None)
        thread.join(30)


def test_no_byte_of_another_program_is_lost_and_the_files_are_listed(tmp_path: Path, other: Other) -> None:
    found = check_isolation(partial(Writing, tmp_path, other.listener.address), steps=2 * len(WAYS), limit_s=110)
    assert found.is_isolated
    assert not found.unchecked
    assert {path.read_bytes() == left for path, left in other.left.items()} == {True}
    assert {str(path) for path in other.left} <= set(found.files)
    assert str(tmp_path / make_folder.__name__) in found.files
    for way in KEEP:
        path = tmp_path / way.__name__ / "file" if way is make_folder else tmp_path / way.__name__
        rows = path.read_bytes().count(ROW)
        if way is insert:
            with sqlite3.connect(path) as database:
                rows = len(database.execute("select * from steps where made = 'other'").fetchall())
            database.close()
        assert rows == other.rows[path] > 10
