#!/usr/bin/env python3
"""Does collecting the pool pay, or is it a trap? Decode at 243 K tokens with references to what is long past.

    scenarios/studies/gc-trap/study.py [--umfsim PROGRAM] [--out FOLDER] [--quick]

Writes table.csv and table.md. Needs Python 3 alone; two or three minutes.
"""
import math
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common

SCENARIO = pathlib.Path(__file__).resolve().parents[1] / "mixtral-40g/machine.json"
CONTEXT = 243_000
# The cache of 29.7 GiB leaves some 15 GiB of the pool free. What HBM does not hold lies in the pool alone.
BASE = {"tiers.hbm.capacity": "20GiB", "tiers.cxl.capacity": "40GiB", "policy.spread": "false",
        "scheduler.pool_writes": "direct"}


def settings(quick, short, long):
    """name: keys. Windows of so many milliseconds stand for the document's 10 s."""
    def keys(collects, threshold, window, **more):
        return {"policy.gc": collects, "policy.gc_threshold": f"{threshold}GiB",
                "policy.gc_window": f"{window * 1000}us", "policy.gc_pause": f"{window * 100}us", **more}

    one_by_one = {"scheduler.fault_batch": 1}
    yield "off (sticky)", {}
    yield f"kv, 16 GiB, {short} ms", keys("kv", 16, short)
    yield f"kv, 16 GiB, {short} ms, faults one by one", keys("kv", 16, short, **one_by_one)
    if quick:
        return
    yield f"kv, 16 GiB, {long} ms", keys("kv", 16, long)
    yield f"kv, 32 GiB, {short} ms", keys("kv", 32, short)
    yield f"kv, 32 GiB, {short} ms, faults one by one", keys("kv", 32, short, **one_by_one)
    yield f"values, 16 GiB, {short} ms", keys("values", 16, short)
    yield f"values, 16 GiB, {short} ms, faults one by one", keys("values", 16, short, **one_by_one)
    yield (f"values, 16 GiB, {short} ms, no more than needed",
           keys("values", 16, short, **{"policy.gc_full": "false"}))


def rank(values, share):
    return sorted(values)[max(math.ceil(share * len(values)), 1) - 1]


def point(program, folder, trace, keys):
    run = common.replay(program, trace, SCENARIO, folder / "out", policy="umf", sets={**BASE, **keys})
    steps = common.steps_ms(run)
    times, _ = common.last_steps(folder / "out", run, len(steps))
    unit, gc = run["scheduler"], run["scheduler"]["gc"] or {}
    freed, regret = gc.get("freed_pages", 0), gc.get("regret_pages", 0)
    faults = gc.get("fault_pages", 0)
    return {"p50": rank(steps, 0.5), "p99": rank(steps, 0.99), "mean": sum(steps) / len(steps),
            "all": steps, "runs": unit["gc_runs"], "freed": gc.get("freed_bytes", 0) / 1e9,
            "regret": regret / freed if freed else 0, "faults": faults / (sum(steps) / 1e3),
            "wait": gc.get("fault_wait_ns", 0) / faults / 1e3 if faults else 0,
            "scan": gc.get("scan_ns", 0) / 1e6, "why": common.causes(times),
            "ledger": run["ledger"]["ok"]}


def main():
    parse = common.options(__doc__, "gc-trap")
    parse.add_argument("--steps", type=int)
    asked = parse.parse_args()
    steps = asked.steps or (24 if asked.quick else 60)
    program, points = str(asked.umfsim), {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        # Every fourth step looks at a section of 512 tokens anywhere in the context.
        common.run(program, "generate", "--model", "llama-3-8b", "--context", CONTEXT,
                   "--beyond-context", "--batch", 1, "--steps", steps, "--access", "sinks",
                   "--set", "access.reference=0.25", "--set", "access.heavy_share=0.02", "--out",
                   folder / "plain.jsonl")
        common.with_load_and_prompt(folder / "plain.jsonl", folder / "trace.jsonl")
        for rule, keys in settings(asked.quick, 100, 400):
            points[rule] = point(program, folder, folder / "trace.jsonl", keys)
            print(rule, f"P50 {points[rule]['p50']:.1f} ms, P99 {points[rule]['p99']:.1f} ms", flush=True)
    quiet = points["off (sticky)"]
    head = ["collection", "P50 (ms)", "P99 (ms)", "mean (ms)", "P99 against quiet", "runs", "scans (ms)", "freed (GB)",
            "of it wanted again (%)", "faulted pages (a second)", "wait of a fault (us)", "time of the steps"]
    rows = [[rule, f"{r['p50']:.1f}", f"{r['p99']:.1f}", f"{r['mean']:.1f}", f"{r['p99'] / quiet['p99']:.2f}",
             r["runs"], f"{r['scan']:.2f}", f"{r['freed']:.1f}", f"{100 * r['regret']:.1f}",
             f"{r['faults']:.0f}", f"{r['wait']:.0f}", r["why"]] for rule, r in points.items()]
    common.write_csv(asked.out / "table.csv", head, rows)
    common.write_md(asked.out / "table.md", head, rows)
    common.check([rule for rule, r in points.items() if not r["ledger"]])


main()
