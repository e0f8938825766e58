"""Hooks of the documentation site: the README is its first page, and links to files outside docs/ become plain text."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

LINK = re.compile(r"(?<!!)\[(?P<text>[^\[\]]*)\]\((?!\w+:|#)(?P<target>[^)\s]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the README as the first page, its links seen from docs/."""
    readme = Path(config.config_file_path).with_name("README.md").read_text(encoding="utf-8")
    text = LINK.sub(lambda found: f"[{found['text']}](../{found['target']})", readme).replace("](../docs/", "](")
    files.append(File.generated(config, "index.md", content=text.replace("](docs/", "](")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Show a link to a file that is not part of the site as its text."""
    folder = PurePosixPath(page.file.src_uri).parent

    def link(found: re.Match[str]) -> str:
        target = os.path.normpath(folder / found["target"].partition("#")[0])
        return found["text"] if target.startswith("..") else found[0]

    return LINK.sub(link, markdown)
