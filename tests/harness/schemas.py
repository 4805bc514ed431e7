"""The formats of other tools as JSON Schema, as strict as their readers are."""

NUMBER = {"type": "number"}
TEXT = {"type": "string", "minLength": 1}

# github-action-benchmark, src/extract.ts: extractCustomBenchmarkResult; an empty array is an error there.
GITHUB = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "required": ["name", "unit", "value"],
        "additionalProperties": False,
        "properties": {"name": TEXT, "unit": TEXT, "value": NUMBER, "range": {"type": "string"}, "extra": TEXT},
    },
}

# bencher.dev/bmf.json (draft 07).
BENCHER = {
    "type": "object",
    "minProperties": 1,
    "propertyNames": {"minLength": 1, "maxLength": 1024},
    "additionalProperties": {
        "type": "object",
        "minProperties": 1,
        "propertyNames": {"pattern": "^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 64},
        "additionalProperties": {
            "type": "object",
            "required": ["value"],
            "additionalProperties": False,
            "properties": {"value": NUMBER, "lower_value": NUMBER, "upper_value": NUMBER},
        },
    },
}

_STATS = (
    "min", "max", "mean", "stddev", "rounds", "median", "iqr", "q1", "q3", "iqr_outliers", "stddev_outliers",
    "ld15iqr", "hd15iqr", "ops", "total", "iterations",
)  # fmt: skip
_MACHINE = (
    "node", "processor", "machine", "python_compiler", "python_implementation", "python_implementation_version",
    "python_version", "release", "system",
)  # fmt: skip


def _object(properties, **more):
    return {"type": "object", "required": list(properties), "properties": properties, **more}


# pytest-benchmark 5.3, plugin.py: pytest_benchmark_generate_json.
PYTEST_BENCHMARK = _object(
    {
        "machine_info": _object(
            {
                **{name: {"type": "string"} for name in _MACHINE},
                "python_build": {"type": "array", "items": {"type": "string"}},
                "cpu": {"type": "object"},
            }
        ),
        "commit_info": _object(
            {
                "id": TEXT,
                "time": TEXT,
                "author_time": TEXT,
                "dirty": {"type": "boolean"},
                "project": TEXT,
                "branch": TEXT,
            }
        ),
        "benchmarks": {
            "type": "array",
            "minItems": 1,
            "items": _object(
                {
                    "group": TEXT,
                    "name": TEXT,
                    "fullname": TEXT,
                    "params": {"type": ["object", "null"]},
                    "param": {"type": ["string", "null"]},
                    "extra_info": {"type": "object"},
                    "options": {"type": "object"},
                    "stats": _object(
                        {
                            **dict.fromkeys(_STATS, NUMBER),
                            "outliers": {"type": "string", "pattern": "^[0-9]+;[0-9]+$"},
                            "data": {"type": "array", "items": NUMBER, "minItems": 1},
                        }
                    ),
                }
            ),
        },
        "datetime": TEXT,
        "version": {"type": "string", "pattern": r"^[0-9]+\."},
    }
)
