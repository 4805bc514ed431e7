"""List sentences of pages, docstrings and comments that are hard to read. More than the limits allow fail.

    python -m tools.prose [PATH...]

The limits only ever go down: lower them when you mend sentences.
"""

import ast
import io
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from reactorlib.tool import standard_output

ROOT = Path(__file__).resolve().parent.parent
PLACES = (
    "README.md", "ARTIFACT.md", "CONTRIBUTING.md", "docs", "reactorlib", "harness", "plots", "workloads", "benchmarks",
    "examples", "tools",
)  # fmt: skip
MOST_WORDS = 25
LONG, HEADLESS = f"more than {MOST_WORDS} words", "begins with a bare who or what"
LIMITS = {LONG: 5, HEADLESS: 0}

_HEADLESS = re.compile(r"(?:and |but |so |or |then )?(?:who|whoever|what|whatever)\b(?!.*\?$)", re.IGNORECASE)
_LEFT_OUT = re.compile(
    r"^ *```.*?^ *```$|^<!-- \w+:begin.*?:end -->$|^ *(?:>>> |examples:).*?(?:\n\s*\n|\Z)", re.MULTILINE | re.DOTALL
)
_SKIPPED = re.compile(r"\||#|<|!\[|---|:::|  +\S")
_ITEM = re.compile(r"^(?:[-*]|\d+\.) ")
_DIRECTIVE = re.compile(r"#!|# ?(?:type|noqa|fmt|pragma|ruff)\b")


def paragraphs(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs and list items of Markdown, each with its first line.

    Code, tables, headings, examples with their output, and generated parts are left out.
    """
    text = _LEFT_OUT.sub(lambda found: "\n" * found[0].count("\n"), text)
    start, part = 0, ""
    for number, line in enumerate([*text.splitlines(), ""], 1):
        skipped = not line.strip() or _SKIPPED.match(line if not part else line.lstrip())
        if part and (skipped or _ITEM.match(line.lstrip())):
            yield start, part
            part = ""
        if not skipped:
            start, part = (start, f"{part} {line.strip()}") if part else (number, _ITEM.sub("", line.strip(), count=1))


def of_python(source: str) -> Iterator[tuple[int, str]]:
    """The paragraphs of docstrings, and comments. Comments on lines of their own, one below the other, are one."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0].lineno - 1 if node.body else 0
            for line, text in paragraphs(ast.get_docstring(node) or ""):
                yield first + line, text
    tokens = [t for t in tokenize.generate_tokens(io.StringIO(source).readline) if t.type == tokenize.COMMENT]
    joined = ""
    for comment, following in pairwise([*tokens, None]):
        assert comment is not None
        if not _DIRECTIVE.match(comment.string):
            joined = f"{joined} {comment.string.lstrip('# ')}".strip()
        own = not comment.line[: comment.start[1]].strip()
        goes_on = following is not None and following.start == (comment.start[0] + 1, comment.start[1])
        if joined and not (own and goes_on):
            yield comment.start[0], joined
            joined = ""


def faults(sentence: str) -> Iterator[str]:
    """The rules that a sentence breaks.

    >>> list(faults("What waits is suspended."))
    ['begins with a bare who or what']
    """
    plain = re.sub(r"`[^`]*`|\[([^\]]*)\]\([^)]*\)", lambda found: found[1] or "code", sentence)
    if len(plain.split()) > MOST_WORDS:
        yield LONG
    if _HEADLESS.match(plain):
        yield HEADLESS


def findings(file: Path) -> Iterator[tuple[int, str, str]]:
    """Line, rule and sentence of each fault in a file."""
    text = file.read_text(encoding="utf-8")
    for line, paragraph in paragraphs(text) if file.suffix == ".md" else of_python(text):
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`*\[\"'(])", " ".join(paragraph.split())):
            for rule in faults(sentence):
                yield line, rule, sentence


@standard_output.ended
def main(arguments: list[str]) -> int:
    """List the faults of the given places, or of all. Returns 1 if all places break a rule more often than allowed."""
    places = [Path(name) for name in arguments] or [ROOT / name for name in PLACES]
    files = [file for place in places for file in (sorted(place.rglob("*.*")) if place.is_dir() else [place])]
    found = [(file, *fault) for file in files if file.suffix in (".md", ".py") for fault in findings(file)]
    counts = Counter(rule for _, _, rule, _ in found)
    over = {rule for rule, limit in LIMITS.items() if counts[rule] > limit} if not arguments else set(LIMITS)
    for file, line, rule, sentence in found:
        if rule in over:
            print(f"{file}:{line}: {rule}: {sentence}")
    for rule, limit in LIMITS.items():
        print(f"{counts[rule]:4} {rule}, limit {limit}")
    return 1 if over and not arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
