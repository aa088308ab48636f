#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Build the documentation as a site of HTML: site.py FOLDER MAN

FOLDER gets the site, FOLDER.pages what MkDocs makes it of: the Markdown pages of the sources, a
page for each header of the C interface, made from its comments, and one for each man page of the
folder MAN, by mandoc. Examples that pages link to become pages, too; other sources are put there as
they are. Every link inside the site is checked, with its anchor. Ends with 1 where one leads
nowhere, with 77 where MkDocs or mandoc is missing.
"""
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[1]
MKDOCS = ROOT / "build/mkdocs/bin/mkdocs"

# Sections of the site: title of a page and its file. "c" and "man" are the pages made here.
SECTIONS = [
    ("Start", [("kith", "README.md"), ("What there is", "docs/overview.md"),
               ("All documents", "docs/README.md"),
               ("Gallery", "docs/gallery.md")]),
    ("First steps", [("Pairs", "docs/first/pairs.md"), ("Nearest", "docs/first/nearest.md"),
                     ("Halos", "docs/first/fof.md"), ("g(r)", "docs/first/rdf.md"),
                     ("Scattering", "docs/first/debye.md"),
                     ("Overlaps", "docs/first/overlap.md"), ("Flocks", "docs/first/flock.md"),
                     ("View", "docs/first/view.md"), ("In C", "docs/first/c.md"),
                     ("In Python", "python/README.md"),
                     ("Examples in C", "examples/README.md")]),
    ("How to", [("Read trajectories", "docs/trajectories.md"),
                ("Read snapshots", "docs/snapshots.md"), ("Make films", "docs/film.md"),
                ("Watch in a browser", "docs/view.md"),
                ("Use many processes or GPUs", "docs/team.md"),
                ("Build, install, link", "docs/library.md"),
                ("Contribute", "CONTRIBUTING.md")]),
    ("Reference", [("Command", "man"), ("C", "c"), ("Python", "docs/python.md"),
                   ("Fortran", "fortran/README.md"), ("Changes", "CHANGELOG.md")]),
    ("Theory", [("Nearest neighbours", "docs/nearest.md"), ("Halos", "docs/halos.md"),
                ("g(r), n(r), S(q)", "docs/rdf.md"), ("g(r) from forces", "docs/force.md"),
                ("Scattering", "docs/debye.md"), ("Overlaps of replicas", "docs/overlap.md"),
                ("Flocks", "docs/flock.md"), ("Design", "docs/design.md"),
                ("Speed", "docs/speed.md"),
                ("Measured results", "bench/results/README.md")]),
]
# In the order in which kith.h includes them.
HEADERS = ["kith.h"] + [f"kith/{name}" for name in re.findall(
    r"#include <kith/(\w+\.h)>", (ROOT / "include/kith.h").read_text(encoding="utf-8"))]
LANGUAGES = {".c": "c", ".h": "c", ".cu": "c++", ".hpp": "c++", ".cpp": "c++", ".f90": "fortran",
             ".py": "python", ".sh": "sh"}
LINK = re.compile(r"(\]\()([^()\s]+)(\))")
CODE = re.compile(r"(`+[^`]*`+)")


# ---------------------------------------------------------------------------- pages of Markdown

def line_is_code(found):
    """Return whether a match is in a line that may be code, by its four blanks."""
    return found.string.startswith("    ")


class Pages:
    """The pages that are staged for MkDocs, by the path of their source; links bring more."""

    def __init__(self, folder):
        self.folder = folder
        self.staged = {}  # path from ROOT: path in the folder
        self.faults = []

    def add(self, name):
        """Stage a file of the sources, if it is not staged yet. Return its path in the folder."""
        if name in self.staged:
            return self.staged[name]
        source, kind = ROOT / name, pathlib.PurePath(name).suffix
        header = re.fullmatch(r"include/(.*\.h)", name)
        if kind == ".md":
            target = "index.md" if name == "README.md" else name
            self.staged[name] = target
            self.write(target, self.relink(source.read_text(encoding="utf-8"), name, target))
        elif header and header.group(1) in HEADERS:
            target = self.staged[name] = f"reference/{header.group(1).replace('/', '_')}.md"
            text = source.read_text(encoding="utf-8")
            page = header_page(header.group(1), text)
            self.faults += [f"{name}: {function} has no entry in the reference" for function in
                            re.findall(r"^KITH_API .*?(kith_\w+)\(", text, re.MULTILINE)
                            if f"\n### {function}\n" not in page]
            self.write(target, page)
        elif kind == ".png":
            target = self.staged[name] = name
            self.write(target, source.read_bytes())
        elif name.split("/")[0] in ("examples", "include", "fortran"):
            target = self.staged[name] = f"source/{name.replace('/', '_')}.md"
            text = source.read_text(encoding="utf-8")
            fence, language = "~~~~" if "```" in text else "```", LANGUAGES.get(kind, "text")
            self.write(target, f"# {name}\n\n{fence} {language}\n{text}{fence}\n")
        else:
            ending = "" if kind == ".json" else ".txt"  # browsers show both
            target = self.staged[name] = f"source/{name.replace('/', '_')}{ending}"
            self.write(target, source.read_bytes())
        return target

    def add_folder(self, name):
        """Stage what stands for a folder: its README.md, else a list of its files."""
        if (ROOT / name / "README.md").exists():
            return self.add(f"{name}/README.md")
        if name not in self.staged:
            target = self.staged[name] = f"source/{name.replace('/', '_')}.md"
            files = sorted(path.name for path in (ROOT / name).iterdir() if path.is_file())
            lines = [f"* [{one}]({os.path.relpath(self.add(f'{name}/{one}'), 'source')})"
                     for one in files]
            self.write(target, f"# {name}/\n\n" + "\n".join(lines) + "\n")
        return self.staged[name]

    def write(self, target, content):
        """Write one file of the folder."""
        path = self.folder / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    def relink(self, text, name, target):
        """Return a page's text with its links to files as links between staged files."""
        def link(found):
            before, where, after = found.groups()
            if re.match(r"[a-z]+:|#", where):
                return found.group()
            path, _, anchor = where.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(name), path))
            if not (ROOT / path).exists() or path.startswith(".."):
                if line_is_code(found):
                    return found.group()
                self.faults.append(f"{name}: no file for the link {where}")
                return found.group()
            staged = self.add_folder(path) if (ROOT / path).is_dir() else self.add(path)
            to = os.path.relpath(staged, os.path.dirname(target) or ".")
            return before + to + ("#" + anchor if anchor else "") + after

        lines, fenced = [], False
        for line in text.split("\n"):
            fenced ^= line.startswith("```")
            lines.append(line if fenced else LINK.sub(link, line))
        return "\n".join(lines)


# ------------------------------------------------------------------------- pages of C's headers

GROUP = re.compile(r"/\* -{20,} (?P<heading>[^*]+?) \*/|(?P<comment>/\*.*?\*/)|"
                   r"(?P<guard>^\s*(?:#if|#ifdef|#ifndef|#endif|#else|#elif|#include)[^\n]*$|"
                   r"^extern \"C\" \{|^\}\s*$)|"
                   r"(?P<macro>^#define(?:[^\n]*\\\n)*[^\n]*$)|"
                   r"(?P<declaration>^\w(?:[^;{]|\{[^\n]*\}|\{.*?^\})*?;(?:[ ]*/\*\*<.*?\*/)?)",
                   re.DOTALL | re.MULTILINE)
# What a declaration declares: a struct or an enum, a pointer to a function, a function, an opaque
# struct, or constants.
NAMES = [re.compile(pattern) for pattern in
         (r"\}\s*(kith_\w+);", r"\(\*(kith_\w+)\)", r"(kith_\w+)\(", r"struct\s+(kith_\w+)",
          r"(KITH_\w+)")]


def plain(text):
    """Escape what Markdown would take for its own, but not in code."""
    return "".join(part if part.startswith("`") else
                   re.sub(r"([*_\\\[\]])", r"\\\1", part).replace("<", "&lt;")
                   for part in re.split(CODE, text))


def prose(comment):
    """Return the text of a comment as Markdown. Its tables and formulae, which are indented, stay
    as they are; @param and @return become a list."""
    comment = re.sub(r"^/\*\*?<?|\*/$", "", comment.strip())
    lines = [re.sub(r"^ ?\*( |$)", "", re.sub(r"^\s+\*", " *", line)).rstrip()
             for line in comment.split("\n")]
    if lines[0].startswith(" "):  # text from the first line on is continued behind two blanks
        lines = [re.sub("^ ", "", line) for line in lines]
    lines = [line for line in lines if not line.startswith("SPDX-License-Identifier")]
    out, tagged = [], False
    for line in re.sub(r"(?<=\S) (?=@(?:param|return)\b)", "\n", "\n".join(lines)).split("\n"):
        tag = re.match(r"\s*@(param|return|pre|post)(\[\w+(?:,\w+)?\])?\s*(.*)", line)
        if tag:
            kind, way, rest = tag.groups()
            word, _, rest = rest.partition(" ") if kind == "param" else ("", "", rest)
            out += [] if tagged else [""]
            out.append(f"* **{kind if kind != 'param' else plain(word)}**"
                       f"{' ' + plain(way) if way else ''}: {plain(rest.strip())}")
            tagged = True
        elif tagged and line:
            out.append("  " + plain(line.strip()))
        elif line.startswith("    ") or (line.startswith("  ") and not tagged):
            if out and out[-1] and not out[-1].startswith("    "):
                out.append("")
            out.append(line if line.startswith("    ") else "    " + line)
        else:
            if tagged or (out and out[-1].startswith("    ") and line):
                out.append("")
            tagged = False
            out.append(plain(line))
    return "\n".join(out).strip("\n")


def header_page(name, text):
    """Return the page of a header: its comments as text, each declaration under its name."""
    out, pending = [f"# {name}", "", f"`#include <{name}>`", ""], ""

    def flush():
        nonlocal pending
        if pending:
            out.extend([prose(pending), ""])
        pending = ""

    for found in GROUP.finditer(text):
        kind, piece = found.lastgroup, found.group().strip()
        if kind == "heading":
            flush()
            out.extend([f"## {found.group('heading').capitalize()}", ""])
        elif kind == "comment":
            flush()
            if not piece.startswith("/* Declares a function that the library exports"):
                pending = piece
        elif kind == "guard" or re.match(r"#define KITH_(API|H$)", piece):
            if kind == "guard" and "#include" not in piece:
                flush()
        elif kind == "macro" and not pending and re.match(r"#define kith_", piece):
            out.extend(["```c", piece, "```", ""])
        else:
            if piece.startswith("KITH_API "):
                piece = re.sub(r"\n {9}", "\n", piece.removeprefix("KITH_API "))
            word = next(found.group(1) for found in (one.search(piece) for one in NAMES) if found)
            out.extend([f"### {word}", "", "```c", piece, "```", ""])
            flush()
    flush()
    return "\n".join(out) + "\n"


# ----------------------------------------------------------------------------------- man pages

def man_pages(pages, folder):
    """Stage the man pages of a folder, by mandoc. Return the entries of the navigation."""
    entries = []
    for path in sorted(folder.glob("*.1")):
        made = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", path], text=True,
                              stdout=subprocess.PIPE, check=True).stdout
        made = re.sub(r'<table class="(head|foot)">.*?</table>', "", made, flags=re.DOTALL)
        # A line that is empty would end the block of HTML for Markdown.
        made = re.sub(r"<pre>.*?</pre>", lambda pre: pre.group().replace("\n", "&#10;"), made,
                      flags=re.DOTALL)
        made = re.sub(r"\n\s*\n", "\n", made)
        title = path.stem.replace("-", " ", 1)
        target = f"reference/{path.stem}.1.md"
        pages.write(target, f"# {title}\n\n<div>\n{made.strip()}\n</div>\n")
        entries.append((title, target))
    return entries


# ---------------------------------------------------------------------------------- the checks

class Links(html.parser.HTMLParser):
    """The links and the anchors of a page of HTML."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key == "id" or (tag == "a" and key == "name"):
                self.anchors.add(value)
            elif key in ("href", "src") and value is not None:
                self.links.add(value)


def check(folder):
    """Return a line for each link of a site that leads nowhere in it, and one for what a page would
    load from elsewhere."""
    pages = {path: Links(path) for path in sorted(folder.rglob("*.html"))}
    faults, count = [], 0
    for path, page in pages.items():
        for link in sorted(page.links):
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            where = urllib.parse.unquote(parts.path)
            if where.startswith("/"):
                target = folder / where.lstrip("/")
            else:
                target = pathlib.Path(os.path.normpath(path.parent / where)) if where else path
            if target.is_dir():
                target = target / "index.html"
            if not target.exists():
                faults.append(f"{path.relative_to(folder)}: no page for the link {link}")
            elif (parts.fragment and target in pages
                  and urllib.parse.unquote(parts.fragment) not in pages[target].anchors):
                faults.append(f"{path.relative_to(folder)}: no anchor for the link {link}")
    print(f"{len(pages)} pages, {count} links inside the site")
    return faults


# ---------------------------------------------------------------------------------------- main

# Cells of tables hold sentences, which the theme would not wrap.
STYLE = """.wy-table-responsive table td, .wy-table-responsive table th { white-space: normal }
.wy-nav-content { max-width: 1000px }
"""
CONFIGURATION = """site_name: kith
docs_dir: {pages}
site_dir: {site}
use_directory_urls: false
strict: true
validation:
  nav:
    omitted_files: ignore
  anchors: warn
theme:
  name: readthedocs
  highlightjs: false
  collapse_navigation: true
  titles_only: true
extra_css: [kith.css]
markdown_extensions:
  - tables
  - fenced_code
  - toc:
      permalink: true
plugins:
  - search
nav:
"""


def main():
    """Build and check. Return the exit status."""
    site, man = (pathlib.Path(one).resolve() for one in sys.argv[1:3])
    for program, how in ((MKDOCS, ".ci/mkdocs, from PyPI"), ("mandoc", "apt-get install mandoc")):
        if not shutil.which(program):
            print(f"skipped: no {program} ({how})")
            return 77
    folder = site.with_name(site.name + ".pages")
    shutil.rmtree(folder, ignore_errors=True)
    pages = Pages(folder)
    nav = ""
    for section, entries in SECTIONS:
        nav += f"  - {section}:\n"
        for title, name in entries:
            if name == "man":
                inside = man_pages(pages, man)
                if not inside:
                    sys.exit(f"no man pages in {man} (apt-get install help2man)")
            elif name == "c":
                inside = [(one, pages.add(f"include/{one}")) for one in HEADERS]
                inside.append(("kith/kith.hpp", pages.add("include/kith/kith.hpp")))
            else:
                nav += f"      - '{title}': {pages.add(name)}\n"
                continue
            nav += f"      - '{title}':\n"
            nav += "".join(f"          - '{one}': {target}\n" for one, target in inside)
    pages.write("kith.css", STYLE)
    settings = folder.with_suffix(".yml")
    settings.write_text(CONFIGURATION.format(pages=folder, site=site) + nav, encoding="utf-8")
    done = subprocess.run([MKDOCS, "build", "--quiet", "--clean", "--config-file", settings],
                          check=False)
    faults = pages.faults + (check(site) if done.returncode == 0 else ["mkdocs failed"])
    print("\n".join(faults) if faults else f"The first page is {site}/index.html")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
