"""Changes to pages while the site is built: pictures and reports of results are added, and examples of docstrings are
shown as code. Not part of any package; mkdocs.yml names it.
"""

import re
from pathlib import Path
from typing import Any

import griffe
from mkdocs.structure.files import File, Files

_ROOT = Path(__file__).resolve().parent.parent
# Files outside docs/ that pages link to: relative to the page in the repository, below results/ on the site.
_OUTSIDE = re.compile(r"\]\((?:\.\./)+(results/[^)#]+)")
_NAME = re.compile(r"^- \[?`(reactorlib[\w.]+)`.*$", re.MULTILINE)  # of a list in docs/api
_EXAMPLE = re.compile(r"^>>> .*(?:\n.+)*", re.MULTILINE)


def on_files(files: Files, config: Any) -> Files:
    """Add the files that some page links to."""
    pages = [page.content_string for page in files.documentation_pages()]
    for path in sorted({found for page in pages for found in _OUTSIDE.findall(page)}):
        files.append(File.generated(config, path, abs_src_path=str(_ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links that leave docs/ in the repository find the file on the site. Show all docstrings in docs/api."""
    if page.file.src_uri.startswith("api/"):
        markdown = _NAME.sub(r"::: \1", markdown)
    up = "../" * page.file.src_uri.count("/")
    return _OUTSIDE.sub(rf"]({up}\1", markdown)


class Doctests(griffe.Extension):
    """Examples in docstrings, from `>>>` to the next empty line, as blocks of code."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = _EXAMPLE.sub(lambda found: f"```pycon\n{found[0]}\n```", obj.docstring.value)
