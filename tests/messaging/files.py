"""Files as customers send them, each as small as its kind can be told by its content."""

JPEG = b"\xff\xd8\xff\xe0" + b"a picture" * 20
PNG = b"\x89PNG\r\n\x1a\n" + b"a picture"
WEBP = b"RIFF\x10\x00\x00\x00WEBPVP8 "
MP3 = b"ID3\x04" + b"a song"
OGG = b"OggS\x00\x02" + bytes(22) + b"OpusHead"
VORBIS = b"OggS\x00\x02" + bytes(22) + b"\x01vorbis"
MP4 = b"\x00\x00\x00\x18ftypisom" + b"a film"
M4A = b"\x00\x00\x00\x18ftypM4A " + b"a song"
PDF = b"%PDF-1.7\n" + b"a menu"
DOCX = b"PK\x03\x04" + b"word/document.xml"
ZIP = b"PK\x03\x04" + b"virus.exe"
OLD = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"a letter"
TEXT = "Ein Menü\n".encode()
HTML = b"<script>alert(1)</script>"
PROGRAM = b"\x7fELF\x02\x01\x01\x00"

KINDS = (
    (JPEG, "image", "image/jpeg"),
    (PNG, "image", "image/png"),
    (WEBP, "sticker", "image/webp"),
    (MP3, "audio", "audio/mpeg"),
    (OGG, "audio", "audio/ogg"),
    (M4A, "audio", "audio/mp4"),
    (MP4, "video", "video/mp4"),
    (PDF, "document", "application/pdf"),
    (TEXT, "document", "text/plain"),
    (HTML, "document", "text/plain"),
)
