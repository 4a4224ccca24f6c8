"""The documentation as a site: 'make site' builds it into .build/site."""
import pathlib
import re


project = "Penumbra"
extensions = ["myst_parser"]
myst_heading_anchors = 3
exclude_patterns = ["reference/parts", "man"]

html_theme = "furo"
html_title = "Penumbra"
html_show_copyright = False
html_show_sphinx = False
html_show_sourcelink = False
html_copy_source = False
html_static_path = ["site.css"]
html_css_files = ["site.css"]

docs = pathlib.Path(__file__).parent.resolve()
link = re.compile(r"(?<!!)\[([^\]]+)\]\((\.\./[^)#\s]*)(#[^)]*)?\)")
fence = re.compile(r"^(```.*?^```)", re.MULTILINE | re.DOTALL)


def without_outside_links(text, page):
    """Pages link to files of the repository. On the site these are downloads, and folders are only named."""

    def replace(match):
        words, target = match[1], (page.parent / match[2]).resolve()
        if target.is_relative_to(docs):
            return match[0]
        if not target.exists():
            raise FileNotFoundError(f"{page}: a link leads to {match[2]}, which is not there")
        return f"{{download}}`{words.replace('`', '')} <{match[2]}>`" if target.is_file() else words

    # Code stays as it is.
    parts = fence.split(text)
    return "".join(part if part.startswith("```") else link.sub(replace, part) for part in parts)


def read_source(app, name, source):
    source[0] = without_outside_links(source[0], pathlib.Path(app.env.doc2path(name)))


def setup(app):
    app.connect("source-read", read_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
