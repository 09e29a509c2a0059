# SPDX-License-Identifier: MIT
"""Checks the links of the documentation's pages, and converts the pages for DocC.

    pages.py check ROOT       checks every relative link and anchor of every Markdown file in git; exits with 1 if one is broken
    pages.py convert FROM TO  copies a catalogue, and replaces its Markdown links between pages by those that DocC needs
"""

import pathlib
import re
import subprocess
import sys

LINK = re.compile(r"!?\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+(?:\([^()\s]*\))?)(?:\s+\"[^\"]*\")?\)")
FENCE = re.compile(r"^\s*(```|~~~)")


def blocks(text):
    """The text in pieces: blocks of code, with their fences, and what stands between them."""
    pieces = [[False, []]]
    fenced = False
    for line in text.split("\n"):
        if FENCE.match(line):
            if not fenced:
                pieces.append([True, []])
            pieces[-1][1].append(line)
            fenced = not fenced
            if not fenced:
                pieces.append([False, []])
        else:
            pieces[-1][1].append(line)
    return [(is_code, lines) for is_code, lines in pieces if lines]


def prose(text):
    """The text without its blocks of code; line numbers stay."""
    return "\n".join(line if not is_code else "" for is_code, lines in blocks(text) for line in lines)


def headings(text):
    return [
        match.group(2).strip().rstrip("#").strip()
        for match in re.finditer(r"^(#{1,6}) (.*)$", prose(text), re.MULTILINE)
    ]


def anchor(heading):
    """What readers of Markdown make of a heading."""
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def anchors(text):
    seen = {}
    names = set()
    for heading in headings(text):
        name = anchor(heading)
        count = seen.get(name, 0)
        seen[name] = count + 1
        names.add(f"{name}-{count}" if count else name)
    return names


def check(root):
    root = pathlib.Path(root).resolve()
    files = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=root, check=True, capture_output=True, text=True,
    ).stdout.split("\0")
    files = [root / name for name in files if name and (root / name).is_file()]
    count, broken = 0, []
    for file in files:
        text = file.read_text(encoding="utf-8")
        # Code between backquotes holds no link.
        words = re.sub(r"`[^`\n]*`", lambda code: " " * len(code.group()), prose(text))
        for match in LINK.finditer(words):
            target = match.group(2)
            if re.match(r"^[a-z][a-z0-9+.-]*:", target):
                continue
            count += 1
            path, _, fragment = target.partition("#")
            place = (file.parent / path).resolve() if path else file
            where = f"{file.relative_to(root)}:{words.count(chr(10), 0, match.start()) + 1}: {target}"
            if not place.is_relative_to(root) or not place.exists():
                broken.append(f"{where}: there is no such file")
            elif fragment and (
                place.suffix != ".md" or fragment not in anchors(place.read_text(encoding="utf-8"))
            ):
                broken.append(f"{where}: there is no such heading")
        broken += unlinked(root, file, text)
    for line in broken:
        print(line)
    if not broken:
        print(f"{count} links in {len(files)} files")
    return 1 if broken else 0


def unlinked(root, file, text):
    """Files that a text names in code, such as `Documentation/TLS.md`, without being there."""
    for number, line in enumerate(prose(text).split("\n"), 1):
        for name in re.findall(r"`((?:Documentation|Tests|Sources|Scripts|Fuzz|Benchmarks)/[\w./+-]+)`", line):
            if not (root / name).exists():
                yield f"{file.relative_to(root)}:{number}: {name}: there is no such file"


def convert(source, target):
    source, target = pathlib.Path(source), pathlib.Path(target)
    target.mkdir(parents=True)
    pages = {file.name: file.read_text(encoding="utf-8") for file in sorted(source.glob("*.md"))}

    def link(match, page):
        text, address = match.group(1), match.group(2)
        path, _, fragment = address.partition("#")
        if re.match(r"^[a-z][a-z0-9+.-]*:", address):
            return match.group()
        if path and path not in pages:
            # A file beside the catalogue, which the built documentation does not have.
            return text
        name = path or page
        place = name.removesuffix(".md")
        if fragment:
            heading = next(h for h in headings(pages[name]) if anchor(h) == fragment)
            words = re.sub(r"[^\w-]", "-", re.sub("[`'\"]", "", heading))
            place += "#" + re.sub(r"-+", "-", words).strip("-")
        return f"[{text}](doc:{place})"

    for name, text in pages.items():
        pieces = []
        for is_code, lines in blocks(text):
            piece = "\n".join(lines)
            if not is_code:
                piece = LINK.sub(lambda match: link(match, name), piece)
                # The topics of the root are DocC's list of pages.
                words, topics, list_of_pages = piece.partition("\n## Topics\n")
                list_of_pages = re.sub(r"^- \[[^\]]*\]\((doc:[^)]*)\)$", r"- <\1>", list_of_pages, flags=re.MULTILINE)
                piece = words + topics + list_of_pages
            pieces.append(piece)
        (target / name).write_text("\n".join(pieces), encoding="utf-8")
    return 0


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "check":
        sys.exit(check(sys.argv[2]))
    if len(sys.argv) == 4 and sys.argv[1] == "convert":
        sys.exit(convert(sys.argv[2], sys.argv[3]))
    print(__doc__, file=sys.stderr)
    sys.exit(64)
