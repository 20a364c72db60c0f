"""Ask every other host that the built book links to: links.py [FOLDER]. Prints what
does not answer, with the pages that link there.
"""

import re
import sys
import urllib.error
import urllib.request
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path

BOOK = Path(__file__).resolve().parents[2] / "_build" / "html"
AGENT = {"User-Agent": "Mozilla/5.0 (tfbook: links)"}
SHUT = {401, 403, 405, 429}  # it is there, and not for programs


def links(book):
    """Every address of another host, and the pages that link to it."""
    found = defaultdict(set)
    for page in sorted(book.glob("**/*.html")):
        if page.relative_to(book).parts[0] == "lite":
            continue
        for target in re.findall(
            r'<a [^>]*href="(https?://[^"#]+)', page.read_text(encoding="utf-8")
        ):
            found[unescape(target)].add(page.relative_to(book).as_posix())
    return found


def fault(target):
    """Why an address does not answer, or an empty string."""
    try:
        with urllib.request.urlopen(
            urllib.request.Request(target, headers=AGENT), timeout=20
        ):
            return ""
    except urllib.error.HTTPError as error:
        return "" if error.code in SHUT else str(error.code)
    except (OSError, ValueError) as error:
        return str(getattr(error, "reason", error))


def main(folder=BOOK):
    found = links(Path(folder))
    with ThreadPoolExecutor(8) as pool:
        faults = {
            target: said for target, said in zip(found, pool.map(fault, found)) if said
        }
    for target, said in faults.items():
        print(f"{target}: {said}\n    on {', '.join(sorted(found[target]))}")
    print(f"{len(found)} links to other hosts, {len(faults)} broken")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
