"""Follows every link between the pages of a folder of HTML, to files and to places within them."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places.add(given.get("id") or given.get("name"))
        target = given.get("href") or given.get("src")
        if target and tag in ("a", "img", "link", "script"):
            self.links.append(target)


def faults(folder):
    """One line for each link that leads nowhere."""
    pages = {path: Page(path) for path in folder.rglob("*.html")}
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{path.relative_to(folder)}: no file for {link}"
            elif (
                parts.fragment
                and target in pages
                and unquote(parts.fragment) not in pages[target].places
            ):
                yield f"{path.relative_to(folder)}: no such place, {link}"


def check(folder):
    found = sorted(set(faults(folder.resolve())))
    if found:
        sys.exit("site: links that lead nowhere:\n" + "\n".join(found))


if __name__ == "__main__":
    check(Path(sys.argv[1]))
