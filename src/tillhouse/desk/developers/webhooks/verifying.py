"""Programs that verify a delivery: the code of the guide, with a delivery filled in."""

import base64
import re
from functools import cache

import msgspec

from tillhouse.http.pages import guides_folder


class Language(msgspec.Struct, frozen=True):
    """How the code of the guide becomes a program that runs."""

    name: str
    # The name of its code in the guide, and of the file that it is put into.
    sample: str
    file: str
    run: str
    before: str
    # The call of it: the body in base64, the header and the secret have their places there.
    ask: str


LANGUAGES = (
    Language(
        "python", "python", "verify.py", "python3 verify.py", "import base64\n",
        '\n\nbody = base64.b64decode("{body}")\n'
        'print(is_signed(body, "{header}", "{secret}", tolerance_s=10**10))\n',
    ),
    Language(
        "javascript", "node", "verify.cjs", "node verify.cjs", "",
        '\nconst body = Buffer.from("{body}", "base64");\n'
        'console.log(isSigned(body, "{header}", "{secret}", 1e10));\n',
    ),
    Language(
        "php", "php", "verify.php", "php verify.php", "<?php\n",
        '\n$body = base64_decode("{body}");\n'
        'echo is_signed($body, "{header}", "{secret}", 10 ** 10) ? "true\\n" : "false\\n";\n',
    ),
    Language(
        "ruby", "ruby", "verify.rb", "ruby verify.rb", 'require "openssl"\n\n',
        '\nbody = "{body}".unpack1("m")\n'
        'puts signed?(body, "{header}", "{secret}", 10**10)\n',
    ),
    Language(
        "go", "go", "verify.go", "go run verify.go",
        'package main\n\nimport (\n\t"crypto/hmac"\n\t"crypto/sha256"\n\t"encoding/base64"\n'
        '\t"encoding/hex"\n\t"fmt"\n\t"strconv"\n\t"strings"\n\t"time"\n)\n\n',
        '\nfunc main() {{\n\tbody, _ := base64.StdEncoding.DecodeString("{body}")\n'
        '\tfmt.Println(isSigned(body, "{header}", "{secret}", 800000*time.Hour))\n}}\n',
    ),
)  # fmt: skip


@cache
def code(language: Language) -> str:
    """The code of the guide in a language."""
    guide = (guides_folder() / "webhooks.md").read_text("utf-8")
    mark = rf"<!-- sample: {language.sample} -->\n```\w+\n(.*?)```"
    [found] = re.findall(mark, guide, re.DOTALL)
    return found


def program(language: Language, body: bytes, header: str, secret: str) -> str:
    """A program that verifies one delivery, however long ago it was."""
    encoded = base64.b64encode(body).decode()
    ask = language.ask.format(body=encoded, header=header, secret=secret)
    return language.before + code(language) + ask
