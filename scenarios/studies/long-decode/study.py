#!/usr/bin/env python3
"""Decode at 128 K of context: what links, narrow KV and reading less of it do.

    scenarios/studies/long-decode/study.py [--umfsim PROGRAM] [--out FOLDER] [--quick]

Writes table.csv, table.md and plot.svg. Needs Python 3 alone; some minutes.
"""
import csv
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common

SCENARIO = common.ROOT / "scenarios/hardware/umf-three-tier.json"
POLICIES = ["bound", "hbm-only", "best-static", "belady", "umf", "lru", "remote-read"]
POINTS = [(access, kv, batch) for batch, kv in ((4, "bf16"), (1, "bf16"), (4, "i4"), (1, "i4"))
          for access in ("dense", "top-k")]  # first what does not fit HBM
LINKS = [1, 2, 4, 8]
CONTEXT = 131000


def generate(program, path, access, kv, batch, steps):
    common.run(program, "generate", "--model", "llama-3-70b", "--weight-dtype", "i4",
               "--kv-dtype", kv, "--context", CONTEXT, "--batch", batch, "--steps", steps,
               "--access", access, "--out", path)
    return path


def point(program, folder, access, kv, batch, links, steps):
    """Of each policy the figures of a last step."""
    sets = {"links.gpu0-sw0.count": links, "links.sw0-cxl.count": links,
            "tiers.cxl.bandwidth": "null"}
    out = folder / "out"
    rows = {"bound": {"ms": common.bound_ms(
        program, lambda n: generate(program, folder / "bound.umft", access, kv, batch, n),
        SCENARIO, out, sets=sets, few=2, more=4), "ledger": True}}
    for policy in POLICIES[1:]:
        turns = steps["dense" if access == "dense" else
                      "faults" if policy in ("lru", "belady") else "top-k"]
        plain = generate(program, folder / "plain.jsonl", access, kv, batch, turns)
        common.with_load_and_prompt(plain, folder / "trace.jsonl")
        run = common.replay(program, folder / "trace.jsonl", SCENARIO, out, policy=policy, sets=sets)
        if "refused" in run:
            continue
        ms = common.steps_ms(run)
        times, moved = common.last_steps(out, run)
        rows[policy] = {"ms": ms[-1], "second_ms": ms[1], "steps": turns,
                        "pool_gb": moved["cxl"] / 1e9, "host_gb": moved["host"] / 1e9,
                        "why": common.causes(times), "ledger": run["ledger"]["ok"]}
    return rows


def read(path):
    """The points of a table.csv that an earlier run wrote."""
    points = {}
    with open(path, newline="", encoding="utf-8") as rows:
        for access, kv, batch, links, policy, ms, second, steps, _, pool, host, why, ledger in (
                list(csv.reader(rows))[1:]):
            at = points.setdefault((access, kv, int(batch), int(links)), {})
            if policy == "bound":
                at[policy] = {"ms": float(ms), "ledger": ledger == "balances"}
            elif ms != "does not fit":
                at[policy] = {"ms": float(ms), "second_ms": float(second), "steps": int(steps),
                              "pool_gb": float(pool), "host_gb": float(host), "why": why,
                              "ledger": ledger == "balances"}
    return points


def write(out, points):
    points = {at: points[at] for at in ((*p, n) for p in POINTS for n in LINKS) if at in points}
    common.write_csv(
        out / "table.csv",
        ["access", "kv", "batch", "links", "policy", "last step (ms)", "second step (ms)",
         "steps run", "tokens/s", "pool (GB a step)", "host (GB a step)", "time of the last step", "ledger"],
        [[*at, p] + ([f"{row['ms']:.3f}", f"{row['second_ms']:.3f}" if "second_ms" in row else "",
                      row.get("steps", ""), f"{1000 * at[2] / row['ms']:.2f}",
                      f"{row['pool_gb']:.2f}" if "pool_gb" in row else "",
                      f"{row['host_gb']:.2f}" if "host_gb" in row else "", row.get("why", ""),
                      "balances" if row["ledger"] else "WRONG"]
                     if (row := rows.get(p)) else ["does not fit"] + [""] * 7)
         for at, rows in points.items() for p in POLICIES])
    common.write_md(
        out / "table.md",
        ["read", "KV", "batch", "links"] + [f"`{p}` (ms)" for p in POLICIES]
        + ["`umf` (tokens/s)", "pool, `umf` (GB a step)", "last step of `umf`"],
        [[*at[:3], "any" if "hbm-only" in rows else at[3]]
         + [f"{rows[p]['ms']:.1f}" if p in rows else "does not fit" for p in POLICIES]
         + [f"{1000 * at[2] / rows['umf']['ms']:.1f}", f"{rows['umf']['pool_gb']:.1f}",
            rows["umf"]["why"]] for at, rows in points.items()])
    lines = {}
    for at, rows in points.items():
        if "hbm-only" not in rows:
            for p, row in rows.items():
                lines.setdefault(at[:3], {}).setdefault(p, []).append((at[3], row["ms"]))
    panels = [panel for panel, line in lines.items() if len(line["umf"]) > 1]
    if panels:
        common.write_svg(out / "plot.svg", *[
            common.chart({p: lines[panel][p] for p in POLICIES if p in lines[panel]},
                         [(n, f"{n}") for n in LINKS], "links on each hop to the pool", at=750 * k,
                         title=f"{panel[0]}, KV {panel[1].upper()}, batch {panel[2]}: ms a step")
            for k, panel in enumerate(panels)])


def main():
    parse = common.options(__doc__, "long-decode")
    parse.add_argument("--steps", type=int, default=2, help="decode steps, dense")
    parse.add_argument("--top-k-steps", type=int, default=6, help="with pages chosen")
    parse.add_argument("--links", type=int, nargs="+", choices=LINKS, default=LINKS,
                       help="on each hop")
    parse.add_argument("--read", nargs="+", choices=("dense", "top-k"), default=("dense", "top-k"))
    parse.add_argument("--batch", type=int, nargs="+", choices=(1, 4), default=(1, 4))
    parse.add_argument("--resume", action="store_true", help="keep the points that --out has")
    asked = parse.parse_args()
    steps = {"dense": asked.steps, "top-k": asked.top_k_steps, "faults": 2}
    grid = [(*p, links) for p in POINTS for links in asked.links
            if p[0] in asked.read and p[2] in asked.batch]
    if asked.quick:
        grid, steps["top-k"] = [("dense", "bf16", 4, 1), ("dense", "i4", 4, 1)], 3
    points = read(asked.out / "table.csv") if asked.resume else {}
    with tempfile.TemporaryDirectory() as folder:
        for at in grid:
            if at in points or any("hbm-only" in rows for done, rows in points.items()
                                   if done[:3] == at[:3]):
                continue  # where all fits HBM other links change nothing
            points[at] = point(str(asked.umfsim), pathlib.Path(folder), *at, steps)
            print(*at, "  ".join(f"{p} {points[at][p]['ms']:.2f}" for p in POLICIES
                                 if p in points[at]), flush=True)
            write(asked.out, points)  # after each: an interrupted study shows what it has
    common.check([(at, p) for at, rows in points.items() for p in rows if not rows[p]["ledger"]])


main()
