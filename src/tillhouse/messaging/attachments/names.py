"""Names of files: as they are kept, and as a browser saves them. Pure decisions."""

import unicodedata

_OFFICE = "application/vnd.openxmlformats-officedocument."
_SUFFIXES: dict[str, tuple[str, ...]] = {
    "image/jpeg": ("jpg", "jpeg"),
    "image/png": ("png",),
    "image/webp": ("webp",),
    "audio/aac": ("aac",),
    "audio/amr": ("amr",),
    "audio/mpeg": ("mp3",),
    "audio/mp4": ("m4a",),
    "audio/ogg": ("ogg", "oga", "opus"),
    "video/mp4": ("mp4", "m4v"),
    "video/3gpp": ("3gp",),
    "application/pdf": ("pdf",),
    "application/msword": ("doc",),
    "application/vnd.ms-excel": ("xls",),
    "application/vnd.ms-powerpoint": ("ppt",),
    _OFFICE + "wordprocessingml.document": ("docx",),
    _OFFICE + "spreadsheetml.sheet": ("xlsx",),
    _OFFICE + "presentationml.presentation": ("pptx",),
    "text/plain": ("txt", "csv", "log", "md"),
}
# Control characters, signs that turn the direction of a text, and halves of surrogates.
_UNSEEN = ("Cc", "Cf", "Cs")
# Endings that a browser shows as a page, once the file is saved.
_PAGES = ("htm", "html", "mht", "mhtml", "shtml", "svg", "xht", "xhtml", "xml")


def plain_name(text: str) -> str:
    """A name without folders and without letters that can't be seen; empty: none is left."""
    name = text.replace("\\", "/").rpartition("/")[2]
    seen = "".join(letter for letter in name if unicodedata.category(letter) not in _UNSEEN)
    return seen.strip(" .")


def saved_name(filename: str | None, attachment_id: object, content_type: str) -> str:
    """The name to save a file under, whose ending tells the type of its content."""
    name = plain_name(filename or "") or str(attachment_id)
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    endings = _SUFFIXES.get(content_type)
    if endings is None:
        return f"{name}.bin" if not ending or ending in _PAGES else name
    return name if ending in endings else f"{name}.{endings[0]}"
