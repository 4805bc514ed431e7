"""Write into pages what they quote: files of the repository, and the first paragraph about each public name.

    python -m tools.quotes

A block after `<!-- from PATH -->` is that file. Pages of docs/api list names. The site shows whole docstrings instead.
"""

import inspect
import re
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
API = ROOT / "docs" / "api"
_FILE = re.compile(r"^<!-- from (\S+) -->\n(```\w+\n).*?^```$", re.MULTILINE | re.DOTALL)
# Adapters, whose libraries may be absent, are not among these names.
_NAME = re.compile(r"^- \[?`(reactorlib(?:\.gymnasium|\.lf)?)\.(\w+)`.*$", re.MULTILINE)


def quoted(page: Path) -> str:
    """The text of a page with what it quotes, as it is now."""
    text = _FILE.sub(lambda found: _file(*found.groups()), page.read_text(encoding="utf-8"))
    return _NAME.sub(lambda found: _name(*found.groups()) or found[0], text) if page.parent == API else text


def _file(path: str, fence: str) -> str:
    return f"<!-- from {path} -->\n{fence}{(ROOT / path).read_text(encoding='utf-8')}```"


def _name(module: str, name: str) -> str:
    """The line of a class or function: its file, and the first paragraph of its docstring. Empty for other names."""
    held = getattr(import_module(module), name)
    if not (inspect.isclass(held) or inspect.isfunction(held)):
        return ""
    file = Path(inspect.getsourcefile(inspect.unwrap(held)) or "").resolve().relative_to(ROOT)
    first = " ".join((inspect.getdoc(held) or "").partition("\n\n")[0].split())
    return f"- [`{module}.{name}`](../../{file}): {first}"


def main() -> None:
    """Rewrite all pages of docs/."""
    for page in sorted((ROOT / "docs").rglob("*.md")):
        page.write_text(quoted(page), encoding="utf-8")


if __name__ == "__main__":
    main()
