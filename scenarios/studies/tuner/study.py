#!/usr/bin/env python3
"""When does a loop that tunes the scheduler's reserve and prefetch window help, and when does it hurt?

    scenarios/studies/tuner/study.py [--umfsim PROGRAM] [--out FOLDER] [--quick]

Writes table.csv, table.md and trace.svg. Needs Python 3 alone; a minute or two.
"""
import csv
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common

HERE = pathlib.Path(__file__).resolve().parents[1]
HARDWARE = common.ROOT / "scenarios/hardware"
LLAMA = ["--model", "llama-3-8b", "--context", 32_000, "--beyond-context", "--launch", "graph"]
# name: (machine, what it decodes). The cache of 17 sequences fits HBM beside the weights, that of 24
# does not; Mixtral has experts outside.
WORK = {
    "8B, 17 × 32 K, all in HBM": (HARDWARE / "umf-three-tier.json", [*LLAMA, "--batch", 17]),
    "8B, 24 × 32 K, part outside": (HARDWARE / "umf-three-tier.json", [*LLAMA, "--batch", 24]),
    "Mixtral 8x22B, 40 GiB": (HERE / "mixtral-40g/machine.json",
                              ["--model", "mixtral-8x22b", "--routing", "expert-local", "--context", 4096,
                               "--weight-dtype", "i4"]),
}
# The document's 10 s and 5 min, as so many milliseconds of the steps there are.
ON = {"tuner": "true", "tuner_period": "20ms", "tuner_calm": "100ms"}
TUNERS = {
    "off": {},
    "on": ON,
    "on, no way down": {**ON, "tuner_idle": 0},
    "fixed at 0.15": {**ON, "tuner_reserve_max": 0.15},
    "limits too close": {**ON, "tuner_utilisation": 0.8, "tuner_idle": 0.79, "tuner_in_a_row": 1},
    "steps too large": {**ON, "tuner_reserve_step": 0.1, "tuner_reserve_min": 0.02,
                        "tuner_reserve_max": 0.6, "tuner_idle": 0.7, "tuner_in_a_row": 1},
}
QUICK = ("off", "on", "steps too large")


def trace(folder, summary, peak):
    """[(ms, reserve in GB, utilisation of HBM)] of the windows within the steps."""
    steps = summary["energy"]["steps"]
    begin = [s for s in steps if s["name"].startswith("step ")][0]["start_ns"]
    points = []
    with open(folder / "timeseries.csv", newline="", encoding="ascii") as rows:
        for row in csv.DictReader(rows):
            start, length = float(row["start_ns"]), float(row["duration_ns"])
            if start < begin or not length:
                continue
            moved = float(row["hbm.read_bytes"]) + float(row["hbm.write_bytes"])
            points.append(((start - begin) / 1e6, float(row.get("gpu0.hbm_reserve_bytes", 0)) / 1e9,
                           moved / length / peak))
    return points


def reversals(points):
    """How often the reserve turned round."""
    turns = direction = 0
    for (_, before, _), (_, after, _) in zip(points, points[1:]):
        change = after - before
        turns += change * direction < 0
        direction = change or direction
    return turns


def point(program, folder, source, machine, keys):
    run = common.replay(program, source, machine, folder / "out", policy="umf",
                        sets={"policy." + key: value for key, value in keys.items()})
    steps = common.steps_ms(run)
    late = len(steps) // 2
    points = trace(folder / "out", run, 2400)  # bytes a nanosecond: 2.4 TB/s
    tuner = (run["scheduler"]["tuner"] or [{}])[0]
    busy = sum(u for _, _, u in points) / max(len(points), 1)
    return {"ms": sum(steps[-late:]) / late, "busy": busy, "tuner": tuner,
            "reversals": reversals(points), "moved": run["scheduler"]["migrated_bytes"] / 1e9,
            "trace": points, "ledger": run["ledger"]["ok"]}


def picture(path, points):
    """The reserve over time, a panel a workload."""
    height, width, svg = 150, 620, []
    works = list(dict.fromkeys(work for work, _ in points))
    colours = ["#c44e52", "#4c72b0", "#55a868", "#8172b3"]
    for n, work in enumerate(works):
        top = 40 + n * (height + 60)
        lines = {t: points[(work, t)]["trace"] for w, t in points
                 if w == work and t in ("on", "on, no way down", "limits too close", "steps too large")}
        end = max(p[-1][0] for p in lines.values())
        most = max(r for p in lines.values() for _, r, _ in p)
        svg.append(f'<text x="60" y="{top - 10}" font-weight="bold">{work}: GB in reserve, {end:.0f} ms</text>'
                   f'<path d="M60 {top}v{height}h{width}" fill="none" stroke="#999"/>'
                   f'<text x="54" y="{top + 8}" text-anchor="end">{most:.0f}</text>'
                   f'<text x="54" y="{top + height}" text-anchor="end">0</text>')
        for i, (name, line) in enumerate(lines.items()):
            kept = line[::max(len(line) // 400, 1)]
            at = " ".join(f"{60 + width * ms / end:.1f},{top + height * (1 - r / most):.1f}"
                          for ms, r, _ in kept)
            svg.append(f'<polyline fill="none" stroke="{colours[i]}" stroke-width="1.5" points="{at}"/>'
                       f'<text x="{70 + width}" y="{top + 14 + 16 * i}" fill="{colours[i]}">{name}</text>')
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'<svg xmlns="http://www.w3.org/2000/svg" width="820" '
                    f'height="{40 + len(works) * (height + 60)}" font-family="sans-serif" font-size="12">'
                    '<rect width="100%" height="100%" fill="#fff"/>' + "\n".join(svg) + "</svg>\n",
                    encoding="utf-8")


def main():
    parse = common.options(__doc__, "tuner")
    parse.add_argument("--steps", type=int)
    asked = parse.parse_args()
    program, points = str(asked.umfsim), {}
    steps = asked.steps or (8 if asked.quick else 20)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for work, (machine, words) in list(WORK.items())[:1] if asked.quick else WORK.items():
            common.run(program, "generate", *words, "--steps", steps, "--out", folder / "plain.jsonl")
            common.with_load_and_prompt(folder / "plain.jsonl", folder / "trace.jsonl")
            for tuner, keys in TUNERS.items():
                if asked.quick and tuner not in QUICK:
                    continue
                points[(work, tuner)] = point(program, folder, folder / "trace.jsonl", machine, keys)
                print(work, tuner, f"{points[(work, tuner)]['ms']:.2f} ms", flush=True)
    head = ["work", "tuner", "later half of steps (ms a step)", "against off (%)", "HBM in use (%)",
            "periods", "raised", "lowered", "turned round", "reserve at the end", "prefetch window", "moved (GB)"]
    rows = [[work, tuner, f"{r['ms']:.2f}", f"{100 * (r['ms'] / points[(work, 'off')]['ms'] - 1):+.1f}",
             f"{100 * r['busy']:.0f}", *(r["tuner"].get(key, "") for key in ("periods", "reserve_raised",
                                                                            "reserve_lowered")),
             r["reversals"], f"{r['tuner']['hbm_reserve_ratio']:.2f}" if r["tuner"] else "",
             r["tuner"].get("prefetch_window", ""), f"{r['moved']:.1f}"]
            for (work, tuner), r in points.items()]
    common.write_csv(asked.out / "table.csv", head, rows)
    common.write_md(asked.out / "table.md", head, rows)
    picture(asked.out / "trace.svg", points)
    common.check([at for at, row in points.items() if not row["ledger"]])


main()
