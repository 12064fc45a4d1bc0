#!/usr/bin/env python3
"""Mixtral 8x22B on 40 GiB of HBM: what is left of the speed with experts in the pool.

    scenarios/studies/mixtral-40g/study.py [--umfsim PROGRAM] [--out FOLDER] [--quick]

Writes table.csv, table.md and plot.svg. Needs Python 3 alone; some minutes.
"""
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common

SCENARIO = pathlib.Path(__file__).resolve().parent / "machine.json"
# Beside the ladder: the same machine with HBM enough for everything.
POLICIES = ["all in HBM", "bound", "hbm-only", "best-static", "belady", "umf", "lru", "remote-read"]
FORMATS = ["i4", "f8", "bf16"]
ROUTINGS = ["expert-local", "expert-scattered"]
CONTEXT = 4096


def generate(program, path, weights, routing, batch, steps):
    common.run(program, "generate", "--model", "mixtral-8x22b", "--weight-dtype", weights,
               "--routing", routing, "--context", CONTEXT, "--batch", batch, "--steps", steps,
               "--out", path)
    return path


def point(program, folder, weights, routing, batch, links, steps):
    """Of each policy the figures of the later half of its steps."""
    sets = {"links.gpu0-sw0.count": links, "links.sw0-cxl.count": links}
    out, late = folder / "out", steps // 2
    generate(program, folder / "plain.jsonl", weights, routing, batch, steps)
    common.with_load_and_prompt(folder / "plain.jsonl", folder / "trace.jsonl")
    rows = {"bound": {"ms": common.bound_ms(
        program, lambda n: generate(program, folder / "bound.umft", weights, routing, batch, n),
        SCENARIO, out, sets=sets, few=max(2, steps - late), more=max(4, steps)), "ledger": True}}
    for policy in POLICIES:
        if policy == "bound":
            continue
        more = {"tiers.hbm.capacity": "512GiB"} if policy == "all in HBM" else {}
        run = common.replay(program, folder / "trace.jsonl", SCENARIO, out, sets={**sets, **more},
                            policy="hbm-only" if policy == "all in HBM" else policy)
        if "refused" in run:
            continue
        ms = common.steps_ms(run)
        times, moved = common.last_steps(out, run, late)
        rows[policy] = {"ms": sum(ms[-late:]) / late, "second_ms": ms[1],
                        "pool_gb": moved["cxl"] / 1e9, "host_gb": moved["host"] / 1e9,
                        "why": common.causes(times), "ledger": run["ledger"]["ok"]}
    return rows


def write(out, points):
    common.write_csv(
        out / "table.csv",
        ["weights", "routing", "batch", "links", "policy", "later half of steps (ms a step)",
         "second step (ms)", "tokens/s", "pool (GB a step)", "host (GB a step)", "time of them"],
        [[*at, p] + ([f"{row['ms']:.3f}", f"{row['second_ms']:.3f}" if "second_ms" in row else "",
                      f"{1000 * at[2] / row['ms']:.2f}",
                      f"{row['pool_gb']:.2f}" if "pool_gb" in row else "",
                      f"{row['host_gb']:.2f}" if "host_gb" in row else "", row.get("why", "")]
                     if (row := rows.get(p)) else ["does not fit"] + [""] * 5)
         for at, rows in points.items() for p in POLICIES])
    common.write_md(
        out / "table.md",
        ["weights", "routing", "batch", "links"]
        + [(f"`{p}`" if " " not in p else p) + " (ms)" for p in POLICIES]
        + ["`umf` (tokens/s)", "speed left, `umf`", "pool, `umf` (GB a step)", "time of `umf`"],
        [[*at] + [f"{rows[p]['ms']:.1f}" if p in rows else "does not fit" for p in POLICIES]
         + [f"{1000 * at[2] / rows['umf']['ms']:.1f}",
            f"{100 * rows['all in HBM']['ms'] / rows['umf']['ms']:.1f} %",
            f"{rows['umf']['pool_gb']:.1f}", rows["umf"]["why"]] for at, rows in points.items()])


def main():
    parse = common.options(__doc__, "mixtral-40g")
    parse.add_argument("--links", type=int, nargs="+", default=[1], help="on each hop")
    asked = parse.parse_args()
    grid = [(weights, routing, batch, links) for links in asked.links for weights in FORMATS
            for batch in (1, 16) for routing in ROUTINGS]
    if asked.quick:
        grid = [("i4", routing, 1, 1) for routing in ROUTINGS]
    points = {}
    with tempfile.TemporaryDirectory() as folder:
        for at in grid:
            points[at] = point(str(asked.umfsim), pathlib.Path(folder), *at, 8 if at[2] == 1 else 2)
            print(*at, "  ".join(f"{p} {points[at][p]['ms']:.2f}" for p in POLICIES
                                 if p in points[at]), flush=True)
            write(asked.out, points)  # after each: an interrupted study shows what it has
    lines = {}
    sizes = {"i4": 73.1, "f8": 141.0, "bf16": 281.2}  # GB of weights, as `generate` prints
    for (weights, routing, batch, links), rows in points.items():
        if links == asked.links[0]:
            for p, row in rows.items():
                lines.setdefault((routing, batch), {}).setdefault(p, []).append(
                    (sizes[weights], row["ms"]))
    if not asked.quick:
        common.write_svg(asked.out / "plot.svg", *[
            common.chart({p: line[p] for p in POLICIES if p in line},
                         [(size, f"{name}, {size:g} GB") for name, size in sizes.items()],
                         "weights", title=f"{routing}, batch {batch}: ms a step", at=750 * k)
            for k, ((routing, batch), line) in enumerate(lines.items())])
    common.check([(at, p) for at, rows in points.items() for p in rows if not rows[p]["ledger"]])


main()
