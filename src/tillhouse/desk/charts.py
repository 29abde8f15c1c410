"""Charts as SVG: numbers in, marks out. Words stand beside them as HTML."""

from collections.abc import Sequence

from markupsafe import Markup

_BAR_SHARE = 0.68
WIDTH, HEIGHT = 900, 168
_STACK_WIDTH, _STACK_HEIGHT = 600, 12
_TICK_WIDTH, _TICK_HEIGHT = 5, 20


def top_of(values: Sequence[float]) -> float:
    """A round number above all values, for the top of an axis whose middle is told as well."""
    highest = max(values, default=0)
    step = 1.0
    while highest > step * 10:
        step *= 10
    return next((step * times for times in (1, 2, 4, 6, 8, 10) if step * times >= highest), step)


def bars(
    values: Sequence[float], before: Sequence[float], top: float, running: int | None
) -> Markup:
    """Bars of one day, paler where it is still running, and the steps of the day before."""
    slot = WIDTH / max(len(values), len(before), 1)
    parts = [f'<path class="g-grid" d="M0 {HEIGHT * share:g}H{WIDTH}"/>' for share in (0, 0.5)]
    for index, value in enumerate(values):
        height = HEIGHT * max(value, 0) / top
        name = "g-bar now" if index == running else "g-bar"
        parts.append(
            f'<rect class="{name}" x="{(index + (1 - _BAR_SHARE) / 2) * slot:.1f}" '
            f'y="{HEIGHT - height:.1f}" width="{slot * _BAR_SHARE:.1f}" height="{height:.1f}" '
            'rx="2"/>'
        )
    steps = "".join(
        f"{'L' if index else 'M'}{index * slot:.0f} {HEIGHT - HEIGHT * max(value, 0) / top:.1f}"
        f"H{(index + 1) * slot:.0f}"
        for index, value in enumerate(before)
    )
    if steps:
        parts.append(f'<path class="g-line" d="{steps}"/>')
    parts.append(f'<path class="g-base" d="M0 {HEIGHT}H{WIDTH}"/>')
    return Markup("").join(map(Markup, parts))


def stacked(shares: Sequence[float]) -> Markup:
    """One bar of parts, each as wide as its share."""
    total = sum(shares)
    parts: list[str] = []
    left = 0.0
    for index, share in enumerate(shares):
        width = _STACK_WIDTH * share / total if total else 0
        gap = 1 if index else 0
        parts.append(
            f'<rect class="g-{index % 5 + 1}" x="{left + gap:.1f}" y="0" '
            f'width="{max(0, width - gap):.1f}" height="{_STACK_HEIGHT}"/>'
        )
        left += width
    inner = Markup("").join(map(Markup, parts))
    return Markup(
        '<svg class="stacked" viewBox="0 0 {} {}" preserveAspectRatio="none" '
        'aria-hidden="true">{}</svg>'
    ).format(_STACK_WIDTH, _STACK_HEIGHT, inner)


def ticks(marks: Sequence[str], count: int) -> Markup:
    """A mark each, `good`, `bad` or `none`, at the end of a row of so many."""
    left = (count - len(marks)) * _TICK_WIDTH
    parts = [
        f'<rect class="g-{mark}" x="{left + index * _TICK_WIDTH}" y="{0 if mark != "none" else 7}" '
        f'width="3" height="{_TICK_HEIGHT if mark != "none" else 6}" rx="1"/>'
        for index, mark in enumerate(marks)
    ]
    return Markup(
        '<svg class="ticks" viewBox="0 0 {} {}" preserveAspectRatio="none" aria-hidden="true">{}'
        "</svg>"
    ).format(count * _TICK_WIDTH, _TICK_HEIGHT, Markup("").join(map(Markup, parts)))
