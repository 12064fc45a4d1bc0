#!/usr/bin/env python3
"""How policies stand to what is best as the working set outgrows HBM.

    scenarios/studies/over-subscription/study.py [--umfsim PROGRAM] [--out FOLDER] [--quick]

Writes table.csv, table.md and plot.svg. Needs Python 3 alone; some minutes.
"""
import json
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common

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
    summary = common.replay(
        program, name, common.ROOT / "scenarios/hardware/umf-small-hbm.json", folder / "out",
        policy=base, against=["bound"] + others,
        sets={"tiers.hbm.capacity": f"{hbm_mib}MiB", "gpu.l2.capacity": "8MiB",
              "tiers.sram.capacity": "4MiB"})
    rows = {base: figures(summary)}
    for rung in summary["against"]:
        if "refused" not in rung:
            rows[rung["policy"]] = figures(rung)
    bound = summary["bound"]
    rows["bound"] = {"ms": bound["time"]["simulated_ns"] / 1e6, "link_mb": bound["link_bytes"] / 1e6,
                     "fetched_pages": bound["link_bytes"] // 65536, "faults": 0, "remote_hits": 0,
                     "unmet": 0, "ledger": True}
    return rows


def main():
    parse = common.options(__doc__, "over-subscription")
    parse.add_argument("--hbm", type=int, default=128, help="MiB of HBM")
    parse.add_argument("--turns", type=int, default=4, help="passes over all weights")
    asked = parse.parse_args()
    hbm, ratios = (16, [0.5, 1.25, 2, 4]) if asked.quick else (asked.hbm, RATIOS)
    points = {}
    with tempfile.TemporaryDirectory() as folder:
        for ratio in ratios:
            points[ratio] = point(str(asked.umfsim), pathlib.Path(folder), ratio, hbm, asked.turns)
            print(f"{ratio:5} ×  " + "  ".join(f"{p} {points[ratio][p]['ms']:.3f}" for p in POLICIES
                                               if p in points[ratio]), flush=True)
    keys = list(points[ratios[0]]["bound"])
    common.write_csv(asked.out / "table.csv", ["ratio", "policy"] + keys,
                     [[ratio, policy] + [rows[policy][k] for k in keys]
                      for ratio, rows in points.items() for policy in POLICIES if policy in rows])
    common.write_md(asked.out / "table.md", ["working set / HBM"] + [f"`{p}`" for p in POLICIES],
                    [[f"{ratio:g}"] + [f"{rows[p]['ms']:.2f}" if p in rows else "refused"
                                       for p in POLICIES] for ratio, rows in points.items()])
    lines = {p: [(ratio, rows[p]["ms"]) for ratio, rows in points.items() if p in rows]
             for p in POLICIES}
    common.write_svg(asked.out / "plot.svg", common.chart(
        lines, [(r, f"{r:g} ×") for r in (0.5, 1, 2, 4, 8)], "working set / HBM"))
    common.check([(r, p) for r, rows in points.items() for p in rows if not rows[p]["ledger"]])


main()
