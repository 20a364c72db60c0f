"""Pack the built book into one file that its readers unpack and open without a network:
pack.py. The same book gives the same bytes.
"""

import re
import sys
import zipfile
from pathlib import Path

BOOK = Path(__file__).resolve().parents[2] / "_build" / "html"
NAME = "tfbook"
# what asks for a server, or serves other programs
LEFT = {"lite", f"{NAME}.zip", "objects.inv", ".buildinfo", "sitemap.xml"}
OFFER = re.compile(rf'<a href="../{NAME}\.zip"[^>]*>(.*?)</a>', re.DOTALL)


def files(book):
    """What a reader needs, in order."""
    found = (path for path in sorted(book.rglob("*")) if path.is_file())
    kept = (path for path in found if path.relative_to(book).parts[0] not in LEFT)
    return [
        path
        for path in kept
        if path.suffix != ".map" and not path.match("_static/*.html")
    ]


def pack(book, target):
    """Write the files of a book into one folder of an archive; the link to the archive
    itself becomes plain words.
    """
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in files(book):
            data = path.read_bytes()
            if path.suffix == ".html":
                data = OFFER.sub(r"\1", data.decode("utf-8")).encode("utf-8")
            entry = zipfile.ZipInfo(
                f"{NAME}/{path.relative_to(book).as_posix()}",
                date_time=(1980, 1, 1, 0, 0, 0),
            )
            entry.compress_type, entry.external_attr, entry.create_system = (
                zipfile.ZIP_DEFLATED,
                0o644 << 16,
                3,
            )
            archive.writestr(entry, data)


if __name__ == "__main__":
    if not (BOOK / "index.html").is_file():
        sys.exit(f"{BOOK} holds no built book: run `make book` first.")
    pack(BOOK, BOOK / f"{NAME}.zip")
