"""Constant parts of templates: worked out as they are compiled, and the same as at each call."""

from html import escape

from tillhouse.desk.frame.sentences import SENTENCES
from tillhouse.desk.rendering import TEMPLATES

MACROS = "{% import 'frame/macros.html' as m %}"
QUOTED = next(name for name, text in SENTENCES.items() if "'" in text or '"' in text)


def written(source: str) -> str:
    """The program that a template becomes."""
    return str(TEMPLATES.compile(source, raw=True))


def test_constant_parts_cost_nothing_at_each_page() -> None:
    """Sentences, addresses of files and icons are text of the program."""
    program = written(
        MACROS + "{{ t('frame.cancel') }}{{ asset('app.css') }}{{ m.icon('left', 'big') }}"
    )
    assert SENTENCES["frame.cancel"] in program
    assert "/app.css" in program
    assert "icon big" in program
    assert "context.call" not in program


def test_a_folded_part_is_escaped_as_any_other() -> None:
    """A quote stays one in text and in an attribute; marks of a macro stay marks."""
    texts = [
        TEMPLATES.from_string(MACROS + source).render(name=QUOTED, icon="left")
        for source in (
            f"{{{{ t('{QUOTED}') }}}}|{{{{ m.icon('left') }}}}",
            "{{ t(name) }}|{{ m.icon(icon) }}",
        )
    ]
    assert texts[0] == texts[1]
    assert texts[0].startswith(
        escape(SENTENCES[QUOTED]).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")
    )
    assert "<svg" in texts[0]


def test_what_depends_on_the_page_is_asked_for() -> None:
    """A sentence with values, or whose name is made of facts."""
    for source in ("{{ t('frame.of', first=1, last=2) }}", "{{ t(name) }}", "{{ t('a.' ~ name) }}"):
        assert "context.call" in written(source)
