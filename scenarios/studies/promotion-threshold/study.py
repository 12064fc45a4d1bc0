#!/usr/bin/env python3
"""When should the block used last be promoted? The threshold from 400 to 2000 events a second, and far beyond.

    scenarios/studies/promotion-threshold/study.py [--umfsim PROGRAM] [--out FOLDER] [--quick]

Writes table.csv and table.md. Needs Python 3 alone; a minute or two.
"""
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common

HERE = pathlib.Path(__file__).resolve().parents[1]
SCENARIO = HERE / "mixtral-40g/machine.json"
# name: (promotion keys); thresholds are pages a second.
PLAIN = {"off": {"promotion": "off"}, "reuse": {"promotion": "reuse"},
         "fetch on touch": {"promotion": "off", "fetch_on_touch": "true"},
         "all but recent": {"promotion": "reuse", "fetch_on_touch": "true"}}
THRESHOLDS = [400, 800, 1200, 1600, 2000, 10_000, 100_000, 400_000, 1_000_000]
WORK = [("mixtral, local", ["--model", "mixtral-8x22b", "--routing", "expert-local", "--context", 4096,
                            "--weight-dtype", "i4"]),
        ("mixtral, scattered", ["--model", "mixtral-8x22b", "--routing", "expert-scattered",
                                "--context", 4096, "--weight-dtype", "i4"]),
        ("llama-3-70b 128 K, top-k", ["--model", "llama-3-70b", "--weight-dtype", "i4", "--context",
                                      131000, "--batch", 1, "--access", "top-k"])]


def settings():
    yield from PLAIN.items()
    for counts in ("remote_reads", "faults"):
        for threshold in THRESHOLDS if counts == "remote_reads" else THRESHOLDS[:1]:
            yield (f"recent, {counts} > {threshold:,}",
                   {"promotion": "recent", "promotion_counts": counts,
                    "promotion_threshold": threshold})


def point(program, folder, trace, keys):
    sets = {"policy.fetch_on_touch": "false", "policy.prefetch": "false",
            **{"policy." + key: value for key, value in keys.items()}}
    run = common.replay(program, trace, SCENARIO, folder / "out", policy="umf", sets=sets)
    steps = common.steps_ms(run)
    late = len(steps) // 2
    times, _ = common.last_steps(folder / "out", run, late)
    unit = run["scheduler"]
    return {"ms": sum(steps[-late:]) / late, "promotions": unit["promotions"],
            "moved_gb": unit["migrated_bytes"] / 1e9, "returned": unit["returned_pages"],
            "remote_per_s": unit["remote_pages"] / (run["time"]["simulated_ns"] / 1e9),
            "why": common.causes(times), "ledger": run["ledger"]["ok"]}


def main():
    parse = common.options(__doc__, "promotion-threshold")
    parse.add_argument("--steps", type=int, default=12)
    asked = parse.parse_args()
    points = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for work, words in WORK[:1] if asked.quick else WORK:
            common.run(str(asked.umfsim), "generate", *words, "--steps", asked.steps, "--out",
                       folder / "plain.jsonl")
            common.with_load_and_prompt(folder / "plain.jsonl", folder / "trace.jsonl")
            for rule, keys in settings():
                points[(work, rule)] = point(str(asked.umfsim), folder, folder / "trace.jsonl", keys)
                print(work, rule, f"{points[(work, rule)]['ms']:.1f} ms", flush=True)
    head = ["work", "promotion", "later half of steps (ms a step)", "promoted (pages)", "moved (GB)",
            "returned (pages)", "pages read outside (a second)", "time of them"]
    rows = [[work, rule, f"{r['ms']:.2f}", r["promotions"], f"{r['moved_gb']:.1f}", r["returned"],
             f"{r['remote_per_s']:.0f}", r["why"]] for (work, rule), r in points.items()]
    common.write_csv(asked.out / "table.csv", head, rows)
    common.write_md(asked.out / "table.md", head, rows)
    common.check([at for at, row in points.items() if not row["ledger"]])


main()
