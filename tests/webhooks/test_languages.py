"""The samples and libraries of other languages, asked about a delivery that was really sent.

Each is a program of its own, which a machine may lack: then its test is skipped.
"""

import base64
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from tests.tools import node_module, program
from tests.waiting import HUNG_S
from tests.webhooks.receiver import Received, Receiver
from tests.webhooks.shop import Shop
from tests.webhooks.test_samples import Case, cases, sample

pytestmark = pytest.mark.proof
JUDGES = ["stripe", "standardwebhooks", "svix"]


class Language(msgspec.Struct, frozen=True):
    """How a sample becomes a program that reads cases as lines and answers true or false."""

    name: str
    file: str
    command: Sequence[str]
    before: str
    after: str


LANGUAGES = [
    Language(
        "php", "sample.php", ["php"], "<?php\n",
        r"""
foreach (file($argv[1]) as $line) {
    $case = array_map("base64_decode", explode(" ", rtrim($line, "\n")));
    echo is_signed(...$case) ? "true\n" : "false\n";
}
""",
    ),
    Language(
        "ruby", "sample.rb", ["ruby"], 'require "openssl"\n',
        r"""
File.foreach(ARGV[0]) do |line|
  puts signed?(*line.chomp.split(/ /, -1).map { |part| part.unpack1("m") })
end
""",
    ),
    Language(
        "go", "sample.go", ["go", "run"],
        """package main

import ("bufio"; "crypto/hmac"; "crypto/sha256"; "encoding/base64"; "encoding/hex"; "fmt"; "os"
    "strconv"; "strings"; "time")
""",
        r"""
func main() {
	file, _ := os.Open(os.Args[1])
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var parts [3][]byte
		for place, part := range strings.Split(lines.Text(), " ") {
			parts[place], _ = base64.StdEncoding.DecodeString(part)
		}
		fmt.Println(isSigned(parts[0], string(parts[1]), string(parts[2]), 300*time.Second))
	}
}
""",
    ),
    Language(
        "java", "Sample.java", ["java"],
        """
import static java.nio.charset.StandardCharsets.UTF_8;
import java.nio.file.*; import java.security.*; import java.time.*; import java.util.*;
import javax.crypto.Mac; import javax.crypto.spec.SecretKeySpec;
class Sample {
""",
        r"""
    static String text(String part) { return new String(Base64.getDecoder().decode(part), UTF_8); }
    public static void main(String[] args) throws Exception {
        for (var line : Files.readAllLines(Path.of(args[0]))) {
            var parts = line.split(" ", -1);
            var body = Base64.getDecoder().decode(parts[0]);
            System.out.println(isSigned(body, text(parts[1]), text(parts[2]), 300));
        }
    }
}
""",
    ),
]  # fmt: skip

# Each library is asked about each case of a file; it answers a list of true and false.
_JUDGE = """
const cases = JSON.parse(require("node:fs").readFileSync(process.argv[2], "utf8"));
const name = process.argv[3];
const library = require(require.resolve(name, { paths: [process.argv[4]] }));
const verify = (body, headers, secret) => name === "stripe"
  ? library.webhooks.signature.verifyHeader(body, headers["service-signature"], secret, 300)
  : new library.Webhook(secret).verify(body, headers);
const accepts = (...one) => { try { verify(...one); return true; } catch { return false; } };
console.log(JSON.stringify(cases.map((one) => accepts(...one))));
"""


def output(command: Sequence[str | Path]) -> str:
    """The output of a program."""
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, timeout=HUNG_S,
        env={**os.environ, "GO111MODULE": "off"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
async def captured(sender: Shop, receiver: Receiver) -> tuple[Received, str]:
    """A delivery as it came in, and the secret of its endpoint."""
    made = await sender.endpoint(receiver.url)
    await sender.act(made["id"], "test")
    [got] = await receiver.until(1)
    return got, await sender.secret()


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
async def test_a_sample_believes_what_we_send_and_nothing_else(
    captured: tuple[Received, str], language: Language, tmp_path: Path
) -> None:
    """The block as it stands: the captured delivery is believed, one changed byte is not."""
    # Java's launcher alone runs no source; its compiler comes with it.
    program("javac" if language.name == "java" else language.command[0])
    got, secret = captured
    body, header = got.body.decode(), got.headers["Service-Signature"]
    given, expected = cases(HUNG_S)
    given += [
        Case(body, header, secret),
        Case(body.replace("test", "tast", 1), header, secret),
        Case(body, "garbage", secret),
    ]
    expected += [True, False, False]
    source = language.before + sample(language.name) + language.after
    (tmp_path / language.file).write_text(source, "utf-8")
    lines = (" ".join(base64.b64encode(part.encode()).decode() for part in one) for one in given)
    (tmp_path / "cases").write_text("\n".join(lines) + "\n", "ascii")
    said = output([*language.command, tmp_path / language.file, tmp_path / "cases"])
    assert [line == "true" for line in said.splitlines()] == expected, said


@pytest.mark.parametrize("judge", JUDGES)
async def test_a_library_of_node_believes_what_we_send_and_nothing_else(
    captured: tuple[Received, str], judge: str, tmp_path: Path
) -> None:
    """The captured delivery is accepted; another body, time, secret or signature is not."""
    folder = node_module(judge)
    got, secret = captured
    headers = {name.lower(): value for name, value in got.headers.items()}
    at = headers["webhook-timestamp"]
    later = {
        **headers,
        "webhook-timestamp": str(int(at) + 1),
        "service-signature": headers["service-signature"].replace(f"t={at}", f"t={int(at) + 1}"),
    }
    cut = {
        **headers,
        "webhook-signature": headers["webhook-signature"][:-2],
        "service-signature": headers["service-signature"][:-2],
    }
    body = got.body.decode()
    told = [
        ((body, headers, secret), True),
        ((body + " ", headers, secret), False),
        ((body.replace("test", "tast", 1), headers, secret), False),
        ((body, later, secret), False),
        ((body, cut, secret), False),
        ((body, headers, "whsec_" + base64.b64encode(bytes(24)).decode()), False),
    ]
    (tmp_path / "judge.cjs").write_text(_JUDGE, "utf-8")
    (tmp_path / "cases.json").write_text(json.dumps([one for one, _ in told]), "utf-8")
    said = output(["node", tmp_path / "judge.cjs", tmp_path / "cases.json", judge, folder])
    assert json.loads(said) == [is_good for _, is_good in told]
