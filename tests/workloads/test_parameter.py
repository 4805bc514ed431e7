"""Parameters: accepted values, text that is read, and refusals of one line that name the right form."""

from dataclasses import dataclass

import pytest

from workloads.parameter import ParameterError, build, parameter, parameters_of, unknown, validate


@dataclass(frozen=True)
class Example:
    count: int = parameter(3, "how many", minimum=1, maximum=9)
    share: float = parameter(0.5, "how much", minimum=0)
    object_bytes: int = parameter(8, "how large")
    kind: str = parameter("round", "which", choices=("round", "square"))
    loud: bool = parameter(False, "whether")

    def __post_init__(self):
        validate(self)


def test_parameters_are_listed_in_order_with_their_declaration():
    declared = parameters_of(Example)
    assert list(declared) == ["count", "share", "object_bytes", "kind", "loud"]
    count = declared["count"]
    assert (count.name, count.kind, count.default, count.help) == ("count", int, 3, "how many")
    assert (count.minimum, count.maximum, count.choices) == (1, 9, None)
    assert declared["kind"].choices == ("round", "square")


def test_build_takes_defaults_and_turns_an_int_into_a_declared_float():
    task = build(Example, {"share": 2})
    assert task == Example(share=2.0)
    assert type(task.share) is float
    assert task.count == 3


REFUSED = {
    "below": ({"count": 0}, "count: must be at least 1, got 0"),
    "above": ({"count": 10}, "count: must be at most 9, got 10"),
    "text for a number": ({"count": "3"}, "count: expected an integer, got str '3'"),
    "a float for an integer": ({"count": 3.0}, "count: expected an integer, got float 3.0"),
    "a bool for an integer": ({"count": True}, "count: expected an integer, got bool True"),
    "an integer for a bool": ({"loud": 1}, "loud: expected true or false, got int 1"),
    "no number": ({"share": float("nan")}, "share: expected a finite number, got nan"),
    "infinite": ({"share": float("inf")}, "share: expected a finite number, got inf"),
    "no choice": ({"kind": "rond"}, "kind: unknown 'rond'; did you mean round?"),
    "no parameter": ({"cuont": 1}, "parameter: unknown 'cuont'; did you mean count?"),
}


@pytest.mark.parametrize(("values", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refusals_say_what_would_be_right(values, message):
    with pytest.raises(ParameterError) as refusal:
        build(Example, values)
    assert str(refusal.value) == message


READ = {
    "integer": ("count", " 7 ", 7),
    "float": ("share", "1e-3", 0.001),
    "integer as float": ("share", "2", 2.0),
    "text": ("kind", "square", "square"),
    "true": ("loud", "True", True),
    "false": ("loud", "false", False),
    "plain size": ("object_bytes", "4096", 4096),
    "binary size": ("object_bytes", "10MiB", 10 * 2**20),
    "decimal size": ("object_bytes", "1.5 kB", 1500),
}


@pytest.mark.parametrize(("name", "text", "value"), READ.values(), ids=READ.keys())
def test_text_is_read_as_the_declared_type(name, text, value):
    read = parameters_of(Example)[name].parse(text)
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(("name", "text"), [("count", "many"), ("count", "10MiB"), ("loud", "1"), ("share", "")])
def test_unreadable_text_is_refused_in_one_line(name, text):
    with pytest.raises(ParameterError, match=f"^{name}: expected .*, got '{text}'$"):
        parameters_of(Example)[name].parse(text)


def test_unknown_lists_few_names_and_an_excerpt_of_many():
    assert unknown("backend", "x", ["serial", "ray-paper"]) == "backend: unknown 'x'; known: serial, ray-paper"
    many = unknown("env", "!", [f"name{index}" for index in range(50)])
    assert many.startswith("env: unknown '!'; 50 are known, such as name0, name1")
    assert "\n" not in many
