"""The samples as a picture: memory, polls, and how long somebody waits; a line for each fault."""

from xml.sax.saxutils import escape

WIDTH, PANEL, GAP, LEFT, TOP = 960, 150, 46, 64, 96
COLOURS = {"one": "#2266aa", "two": "#cc7722", "polls": "#227744", "troubles": "#bb3333", "tick": "#775599"}


def nice(most):
    """The end of an axis."""
    step = 1.0
    while step * 10 < most:
        step *= 10
    return next(step * times for times in (1, 2, 5, 10) if step * times >= most)


def panel(parts, place, title, span, series):
    """One set of axes with lines in it; a line is a name, a colour, and pairs."""
    top = TOP + place * (PANEL + GAP)
    most = nice(max([value for _, _, pairs in series for _, value in pairs] + [1]))
    parts.append(f'<text x="{LEFT}" y="{top - 8}" class="t">{escape(title)}</text>')
    for share in (0, 0.5, 1):
        y = top + PANEL * (1 - share)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - 16}" y2="{y:.1f}" class="g"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" class="n">{most * share:g}</text>')
    beside = WIDTH - 16
    for name, colour, pairs in reversed(series):
        parts.append(f'<text x="{beside}" y="{top - 8}" class="k" fill="{colour}">{escape(name)}</text>')
        beside -= 9 * len(name) + 14
        points = " ".join(
            f"{LEFT + (WIDTH - 16 - LEFT) * t / span:.1f},{top + PANEL * (1 - min(value, most) / most):.1f}"
            for t, value in pairs
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.4"/>')


def draw(samples, happened, title, path):
    """Writes the picture."""
    span = max(samples[-1]["t"], 1)
    height = TOP + 3 * (PANEL + GAP) + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif">',
        "<style>.t{font-size:13px;font-weight:bold}.n,.f{font-size:10px;fill:#555}.n,.k{text-anchor:end}.k{font-size:11px}"
        ".g{stroke:#ddd}.v{stroke:#999;stroke-dasharray:3 3}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="{LEFT}" y="20" class="t">{escape(title)}</text>',
    ]
    for nth, (t, name) in enumerate(happened):
        x = LEFT + (WIDTH - 16 - LEFT) * t / span
        parts.append(f'<line x1="{x:.1f}" y1="{TOP - 22}" x2="{x:.1f}" y2="{height - 44}" class="v"/>')
        parts.append(f'<text x="{x:.1f}" y="{34 + 11 * (nth % 4)}" class="f">{escape(name)}</text>')

    def pairs(field):
        return [(sample["t"], sample[field]) for sample in samples if sample[field] is not None]

    one, two = ("one", COLOURS["one"], pairs("one_mib")), ("two", COLOURS["two"], pairs("two_mib"))
    panel(parts, 0, "resident memory, MiB", span, [one, two])
    polls = ("answered", COLOURS["polls"], pairs("polls"))
    panel(parts, 1, "polls a second", span, [polls, ("in trouble", COLOURS["troubles"], pairs("troubles"))])
    verb = ("verb under way", COLOURS["troubles"], pairs("verb_age"))
    panel(parts, 2, "age, seconds", span, [verb, ("last tick", COLOURS["tick"], pairs("tick_age"))])
    for minute in range(0, int(span / 60) + 1, max(1, int(span / 900))):
        x = LEFT + (WIDTH - 16 - LEFT) * minute * 60 / span
        parts.append(f'<text x="{x:.1f}" y="{height - 28}" class="f">{minute} min</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([*parts, "</svg>", ""]))
