"""What the studies share: running the program, reading its summary, tables and pictures.

Python's standard library alone.
"""
import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COLOURS = {"bound": "#000", "best-static": "#4c72b0", "belady": "#55a868", "umf": "#dd8452",
           "lru": "#c44e52", "remote-read": "#8172b3", "hbm-only": "#937860", "static": "#da8bc3"}


def options(doc, name):
    """The options of every study; a study adds its own to what comes back."""
    parse = argparse.ArgumentParser(description=doc.splitlines()[0])
    parse.add_argument("--umfsim", default=ROOT / "build/release/app/umfsim")
    parse.add_argument("--out", type=pathlib.Path, default=pathlib.Path(name))
    parse.add_argument("--quick", action="store_true", help="few points")
    return parse


def run(program, *arguments, may_return=(0, 1)):
    """The program's run. 1 is a ledger that does not balance: the study says so at its end."""
    done = subprocess.run([str(word) for word in (program, *arguments)], check=False,
                          capture_output=True, text=True)
    if done.returncode not in may_return or "internal error" in done.stderr:
        sys.exit(f"{' '.join(str(word) for word in done.args)}\n{done.stderr}")
    return done


def settings(values):
    """{"a.b": 1} as --set a.b=1."""
    return [word for key, value in values.items() for word in ("--set", f"{key}={value}")]


def replay(program, trace, scenario, folder, *, policy, sets=None, against=()):
    """A replay's summary, or {"refused": why} where the trace does not fit under the policy."""
    words = ["replay", trace, "--scenario", scenario, "--policy", policy, "--out", folder,
             "--quiet", *settings(sets or {})]
    if against:
        words += ["--against", ",".join(against)]
    done = run(program, *words, may_return=(0, 1, 2))
    if done.returncode == 2:
        if "does not fit" not in done.stderr:
            sys.exit(f"{' '.join(done.args)}\n{done.stderr}")
        return {"refused": done.stderr.strip()}
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def with_load_and_prompt(source, target):
    """The trace behind a stretch that reads all experts and writes the whole KV cache, by layer.

    Memory is given at first touch. Without the stretch, experts and KV that no step reads would
    have no place at all, and what steps do read would get the best places by being read first."""
    load, prompt, kernels = {}, {}, 0
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    for line in lines:
        if '"record":"kernel"' in line:
            kernels += 1
        elif '"record":"tensor"' in line:
            tensor = json.loads(line)
            of = {"expert": load, "kv-key": prompt, "kv-value": prompt}.get(tensor["role"])
            if of is not None:
                of.setdefault(tensor["layer"], []).append(tensor)
    first = next(i for i, line in enumerate(lines)
                 if '"record":"tensor"' not in line and '"umfsim-stream"' not in line)
    with open(target, "w", encoding="utf-8") as out:
        out.writelines(lines[:first])
        for name, layers in (("load", load), ("prompt", prompt)):
            for layer, tensors in sorted(layers.items()):
                out.write(json.dumps({
                    "record": "kernel", "id": kernels, "name": name, "rule": "recorded",
                    "grid": [1056, 1, 1], "block": [256, 1, 1], "layer": layer,
                    "accesses": [{"tensor": t["id"], "rule": "recorded",
                                  "length_bytes": t["bytes"], "write": name == "prompt"}
                                 for t in tensors]}) + "\n")
                kernels += 1
        out.writelines(lines[first:])


def steps_ms(summary):
    """Milliseconds of each decode step. Steps follow one another without a gap but a launch."""
    steps = [s for s in summary["energy"]["steps"] if s["name"].startswith("step ")]
    ends = [s["end_ns"] for s in steps]
    return [(end - begin) / 1e6 for begin, end in zip([steps[0]["start_ns"]] + ends, ends)]


def causes(times, least=0.05):
    """Where time went, the longest first: "link_bandwidth 94 %, compute 6 %"."""
    total = sum(times.values())
    parts = sorted(((t, name) for name, t in times.items() if t >= least * total), reverse=True)
    return ", ".join(f"{name.removesuffix('_ns')} {100 * t / total:.0f} %" for t, name in parts)


def last_steps(folder, summary, count=1, tiers=("cxl", "host")):
    """Of the last decode steps: time by cause (ns) and bytes read and written of each tier, a step.

    From the windows of timeseries.csv, of one that reaches out of the steps its share."""
    steps = summary["energy"]["steps"][-count:]
    begin, end = steps[0]["start_ns"], steps[-1]["end_ns"]
    times, moved = {}, dict.fromkeys(tiers, 0)
    with open(folder / "timeseries.csv", newline="", encoding="ascii") as rows:
        for row in csv.DictReader(rows):
            start, length = float(row["start_ns"]), float(row["duration_ns"])
            share = max(0, min(end, start + length) - max(begin, start)) / length
            if not share:
                continue
            for key, value in row.items():
                if key.startswith("gpu0.") and key.endswith("_ns"):
                    name = key.removeprefix("gpu0.")
                    times[name] = times.get(name, 0) + share / count * float(value)
            for tier in tiers:
                moved[tier] += share / count * (float(row[tier + ".read_bytes"])
                                                + float(row[tier + ".write_bytes"]))
    return times, moved


def bound_ms(program, make, scenario, folder, *, sets, few, more):
    """What one more step adds to the bound, in ms: `make(steps)` is a trace of so many steps.

    The bound counts nothing that may have been in HBM beforehand, so that a first step is free."""
    at = [replay(program, make(steps), scenario, folder, policy="remote-read", sets=sets,
                 against=["bound"])["bound"]["time"]["simulated_ns"] for steps in (few, more)]
    return (at[1] - at[0]) / (more - few) / 1e6


def write_csv(path, head, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)


def write_md(path, head, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write("| " + " | ".join(head) + " |\n")
        out.write("|---" * len(head) + "|\n")
        for row in rows:
            out.write("| " + " | ".join(str(cell) for cell in row) + " |\n")


def chart(series, ticks, x_title, *, unit=" ms", title="", at=0, dashed=("bound",)):
    """A panel: lines {name: [(x, y), ...]}, both axes logarithmic, ticks [(x, label), ...].

    Points whose y is None are left out. `at` is where the panel begins; it is 750 wide."""
    width, height, left, top = 560, 380, at + 60, 20 + (20 if title else 0)
    lines = {name: [(x, y) for x, y in line if y is not None] for name, line in series.items()}
    lines = {name: line for name, line in lines.items() if line}
    xs = sorted({x for line in lines.values() for x, _ in line})
    ys = [y for line in lines.values() for _, y in line]
    low, high = math.floor(math.log10(min(ys))), math.ceil(math.log10(max(ys)))
    high = max(high, low + 1)
    span = math.log2(xs[-1] / xs[0])

    def across(x):
        return left + width * math.log2(x / xs[0]) / span

    def down(y):
        return top + height * (high - math.log10(y)) / (high - low)

    svg = []
    if title:
        svg.append(f'<text x="{left + width / 2}" y="24" text-anchor="middle" '
                   f'font-weight="bold">{title}</text>')
    for decade in range(low, high + 1):
        svg.append(f'<path d="M{left} {down(10 ** decade):.1f}h{width}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{down(10 ** decade) + 4:.1f}" text-anchor="end">'
                   f'{10 ** decade:g}{unit}</text>')
    for x, label in ticks:
        if xs[0] <= x <= xs[-1]:
            svg.append(f'<path d="M{across(x):.1f} {top}v{height}" stroke="#ddd"/><text '
                       f'x="{across(x):.1f}" y="{top + height + 18}" text-anchor="middle">'
                       f'{label}</text>')
    for name, line in lines.items():
        dash = ' stroke-dasharray="6 3"' if name in dashed else ""
        points = " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in line)
        svg.append(f'<polyline fill="none" stroke="{COLOURS.get(name, "#333")}" '
                   f'stroke-width="2"{dash} points="{points}"/>')
    ends = sorted((down(line[-1][1]), name) for name, line in lines.items())
    below = top
    for end, name in ends:
        below = max(end + 4, below + 14)
        svg.append(f'<text x="{left + width + 6}" y="{below:.1f}" '
                   f'fill="{COLOURS.get(name, "#333")}">{name}</text>')
    svg.append(f'<text x="{left + width / 2}" y="{top + height + 40}" text-anchor="middle">'
               f'{x_title}</text>')
    return svg


def write_svg(path, *panels):
    """Panels side by side."""
    path.parent.mkdir(parents=True, exist_ok=True)
    width, height = 750 * len(panels), 450 if len(panels) == 1 else 470
    path.write_text("\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
         'font-family="sans-serif" font-size="12">',
         '<rect width="100%" height="100%" fill="#fff"/>']
        + [line for panel in panels for line in panel]) + "</svg>\n", encoding="utf-8")


def check(wrong):
    """Ends the study with an error if there are points whose ledger does not balance."""
    if wrong:
        sys.exit(f"the ledger does not balance at {wrong}")
