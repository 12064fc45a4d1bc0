#!/usr/bin/env python3
"""How policies stand to what is best as the working set outgrows HBM.

    scenarios/studies/over-subscription/study.py [--umfsim PROGRAM] [--out FOLDER] [--quick]

Writes table.csv, table.md and plot.svg. Needs Python 3 alone; some minutes.
"""
import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
POLICIES = ["bound", "best-static", "belady", "umf", "lru", "remote-read"]
RATIOS = [0.5, 0.75, 0.9, 1.0, 1.125, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5, 6, 8]
MIB = 1 << 20


def trace(path, weights, turns):
    """`turns` forward passes of `weights` layers: each reads its weight of 2 MiB, and an activation
    of 256 KiB that its predecessor wrote."""
    with open(path, "w", encoding="ascii") as out:
        def put(**record):
            out.write(json.dumps(record) + "\n")

        def access(tensor, length, write=False):
            return {"tensor": tensor, "rule": "recorded", "length_bytes": length, "write": write}

        out.write('{"umfsim-stream":1,"format":"study","source":"study.py",'
                  '"devices":[{"id":0,"name":"GPU"}]}\n')
        for t in range(weights):
            put(record="tensor", id=t, name=f"w{t}", role="weight", dtype="f16", bytes=2 * MIB)
        for side in (0, 1):
            put(record="tensor", id=weights + side, name=f"x{side}", role="activation",
                dtype="f16", bytes=MIB // 4)
        for k in range(weights * turns):
            x, y = weights + k % 2, weights + (k + 1) % 2
            put(record="kernel", id=k, name="layer", grid=[1056, 1, 1], block=[256, 1, 1],
                rule="recorded", flops=4e6, flops_dtype="f16",
                accesses=[access(k % weights, 2 * MIB), access(x, MIB // 4),
                          access(y, MIB // 4, True)])


def figures(run):
    """Of a policy's run: seconds, bytes over the GPU's link, fetches, faults, ledger."""
    scheduler = run["scheduler"]
    link = run["links"]["gpu0-sw0"]
    return {"ms": run["time"]["simulated_ns"] / 1e6, "link_mb": link["payload_bytes"] / 1e6,
            "fetched_pages": scheduler["promotions"], "faults": scheduler["faults"],
            "remote_hits": scheduler["remote_hits"], "unmet": scheduler["unmet_fault_pages"],
            "ledger": run["ledger"]["ok"]}


def point(program, folder, ratio, hbm_mib, turns):
    name = folder / "trace.jsonl"
    weights = round(ratio * hbm_mib / 2)
    trace(name, weights, turns)
    base, *others = [p for p in POLICIES if p != "bound"]
    done = subprocess.run(
        [program, "replay", name, "--scenario", ROOT / "scenarios/hardware/umf-small-hbm.json",
         "--set", f"tiers.hbm.capacity={hbm_mib}MiB", "--set", "gpu.l2.capacity=8MiB",
         "--set", "tiers.sram.capacity=4MiB", "--policy", base,
         "--against", ",".join(["bound"] + others), "--out", folder / "out", "--quiet"],
        check=False, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{ratio}: {done.stderr}")
    summary = json.loads((folder / "out/summary.json").read_text())
    rows = {base: figures(summary)}
    for rung in summary["against"]:
        if "refused" not in rung:
            rows[rung["policy"]] = figures(rung)
    bound = summary["bound"]
    rows["bound"] = {"ms": bound["time"]["simulated_ns"] / 1e6, "link_mb": bound["link_bytes"] / 1e6,
                     "fetched_pages": bound["link_bytes"] // 65536, "faults": 0, "remote_hits": 0,
                     "unmet": 0, "ledger": True}
    return rows


def plot(points):
    """Time against ratio, both logarithmic, as SVG."""
    colours = dict(zip(POLICIES, ["#000", "#4c72b0", "#55a868", "#dd8452", "#c44e52", "#8172b3"]))
    width, height, left, top = 560, 380, 60, 20
    times = [rows[p]["ms"] for rows in points.values() for p in rows]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    ratios = list(points)
    span = math.log2(ratios[-1] / ratios[0])

    def x(ratio):
        return left + width * math.log2(ratio / ratios[0]) / span

    def y(ms):
        return top + height * (high - math.log10(ms)) / (high - low)

    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 130}" '
           f'height="{top + height + 50}" font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="#fff"/>']
    for decade in range(low, high + 1):
        svg.append(f'<path d="M{left} {y(10 ** decade):.1f}h{width}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{y(10 ** decade) + 4:.1f}" text-anchor="end">'
                   f'{10 ** decade:g} ms</text>')
    for ratio in (0.5, 1, 2, 4, 8):
        if ratios[0] <= ratio <= ratios[-1]:
            svg.append(f'<path d="M{x(ratio):.1f} {top}v{height}" stroke="#ddd"/><text '
                       f'x="{x(ratio):.1f}" y="{top + height + 18}" text-anchor="middle">'
                       f'{ratio:g} ×</text>')
    for policy in POLICIES:
        there = [(x(r), y(rows[policy]["ms"])) for r, rows in points.items() if policy in rows]
        dash = ' stroke-dasharray="6 3"' if policy == "bound" else ""
        svg.append(f'<polyline fill="none" stroke="{colours[policy]}" stroke-width="2"{dash} '
                   f'points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in there)}"/>')
    ends = sorted((y(rows[p]["ms"]), p) for rows in [points[ratios[-1]]] for p in rows)
    at = top
    for end, policy in ends:
        at = max(end + 4, at + 14)
        svg.append(f'<text x="{left + width + 6}" y="{at:.1f}" fill="{colours[policy]}">'
                   f'{policy}</text>')
    svg.append(f'<text x="{left + width / 2}" y="{top + height + 40}" text-anchor="middle">'
               'working set / HBM</text></svg>')
    return "\n".join(svg) + "\n"


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("--umfsim", default=ROOT / "build/release/app/umfsim")
    parse.add_argument("--out", type=pathlib.Path, default=pathlib.Path("over-subscription"))
    parse.add_argument("--hbm", type=int, default=128, help="MiB of HBM")
    parse.add_argument("--turns", type=int, default=4, help="passes over all weights")
    parse.add_argument("--quick", action="store_true", help="few points, little memory")
    asked = parse.parse_args()
    hbm, ratios = (16, [0.5, 1.25, 2, 4]) if asked.quick else (asked.hbm, RATIOS)
    points = {}
    with tempfile.TemporaryDirectory() as folder:
        for ratio in ratios:
            points[ratio] = point(str(asked.umfsim), pathlib.Path(folder), ratio, hbm, asked.turns)
            print(f"{ratio:5} ×  " + "  ".join(f"{p} {points[ratio][p]['ms']:.3f}" for p in POLICIES
                                               if p in points[ratio]), flush=True)
    asked.out.mkdir(parents=True, exist_ok=True)
    keys = list(points[ratios[0]]["bound"])
    with open(asked.out / "table.csv", "w", newline="", encoding="ascii") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["ratio", "policy"] + keys)
        for ratio, rows in points.items():
            for policy in POLICIES:
                if policy in rows:
                    writer.writerow([ratio, policy] + [rows[policy][k] for k in keys])
    with open(asked.out / "table.md", "w", encoding="utf-8") as out:
        out.write("| working set / HBM | " + " | ".join(f"`{p}`" for p in POLICIES) + " |\n")
        out.write("|---" * (len(POLICIES) + 1) + "|\n")
        for ratio, rows in points.items():
            cells = [f"{rows[p]['ms']:.2f}" if p in rows else "refused" for p in POLICIES]
            out.write(f"| {ratio:g} | " + " | ".join(cells) + " |\n")
    (asked.out / "plot.svg").write_text(plot(points), encoding="utf-8")
    wrong = [(r, p) for r, rows in points.items() for p in rows if not rows[p]["ledger"]]
    if wrong:
        sys.exit(f"the ledger does not balance at {wrong}")


main()
