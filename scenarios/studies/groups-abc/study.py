#!/usr/bin/env python3
"""Two cards without a fabric, one card with the scheduler as software, one with it on the die.

    scenarios/studies/groups-abc/study.py [--umfsim PROGRAM] [--out FOLDER] [--quick]

Writes table.csv and table.md. Needs Python 3 alone; a few minutes.
"""
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common

ONE = pathlib.Path(__file__).resolve().parent / "machine.json"
TWO = common.ROOT / "scenarios/hardware/a100-80g-sxm.json"
SOFTWARE = {"scheduler.operation_cost": "12us"}
BATCHED = {**SOFTWARE, "scheduler.operation_batch": 16}
# group: (machine, policy, keys, cards)
GROUPS = {
    "A: two cards, all in HBM": (TWO, "hbm-only", {}, 2),
    "B: one card and pool, software, 12 us an operation": (ONE, "umf", SOFTWARE, 1),
    "B: the same, 16 operations at once": (ONE, "umf", BATCHED, 1),
    "C: one card and pool, hardware": (ONE, "umf", {}, 1),
    "C, KV outside packed to INT4 (loses precision)": (ONE, "umf", {"policy.pack": "away"}, 1),
    "C, KV prefetched packed while HBM is busy": (ONE, "umf", {"policy.pack": "prefetch"}, 1),
    "C, writes to the pool staged": (ONE, "umf", {"scheduler.pool_writes": "staged"}, 1),
    "C without S3 (spreading)": (ONE, "umf", {"policy.spread": "false"}, 1),
    "C without S4 (prefetch)": (ONE, "umf", {"policy.prefetch": "false"}, 1),
    "C without S5 (copies)": (ONE, "umf", {"policy.keep_copies": "false"}, 1),
    "C without S6 (promotion)": (ONE, "umf", {"policy.promotion": "off",
                                              "policy.fetch_on_touch": "false"}, 1),
    "one card, best-static": (ONE, "best-static", {}, 1),
    "one card, belady": (ONE, "belady", {}, 1),
    "one card, remote-read": (ONE, "remote-read", {}, 1),
    "one card, lru": (ONE, "lru", {}, 1),
    "one card with HBM for all": (ONE, "hbm-only", {"tiers.hbm.capacity": "512GiB"}, 1),
}
WORK = {
    "llama-3-70b, INT4, 128 K dense, KV FP8, batch 4":
        ["--model", "llama-3-70b", "--weight-dtype", "i4", "--kv-dtype", "f8", "--context", 131000,
         "--batch", 4],
    "the same, top-k pages":
        ["--model", "llama-3-70b", "--weight-dtype", "i4", "--kv-dtype", "f8", "--context", 131000,
         "--batch", 4, "--access", "top-k"],
}


def generate(program, path, words, cards, steps):
    common.run(program, "generate", *words, "--tp", cards, "--steps", steps, "--out", path)
    return path


def point(program, folder, words, machine, policy, keys, cards, steps):
    generate(program, folder / "plain.jsonl", words, cards, steps)
    common.with_load_and_prompt(folder / "plain.jsonl", folder / "trace.jsonl")
    run = common.replay(program, folder / "trace.jsonl", machine, folder / "out", policy=policy,
                        sets=keys)
    if "refused" in run:
        return None
    ms = common.steps_ms(run)
    tiers = ("cxl",) if machine == ONE else ()
    times, moved = common.last_steps(folder / "out", run, tiers=tiers)
    unit = run["scheduler"]
    return {"ms": ms[-1], "pool_gb": moved.get("cxl", 0) / 1e9, "why": common.causes(times),
            "hbm_gib": run["tiers"]["hbm"]["peak_bytes"] / 2**30,
            "pool_gib": run["tiers"].get("cxl", {}).get("peak_bytes", 0) / 2**30,
            "moved_gb": unit["migrated_bytes"] / 1e9, "operations": unit["host_operations"],
            "ledger": run["ledger"]["ok"]}


def main():
    parse = common.options(__doc__, "groups-abc")
    parse.add_argument("--steps", type=int, default=8, help="the last one is shown")
    asked = parse.parse_args()
    head = ["work", "group", "last step (ms)", "tokens/s", "tokens/s a card", "HBM (GiB)", "pool (GiB)",
            "read and written in the pool (GB a step)", "moved (GB, all steps)", "host operations",
            "time of the last step"]
    rows, wrong = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for work, words in WORK.items():
            floor = common.bound_ms(
                str(asked.umfsim),
                lambda n, words=words: generate(str(asked.umfsim), folder / "bound.umft", words, 1, n),
                ONE, folder / "out", sets={}, few=2, more=4)
            rows.append([work, "one card, bound", f"{floor:.1f}", f"{4000 / floor:.1f}",
                         f"{4000 / floor:.1f}"] + [""] * 6)
            for group, (machine, policy, keys, cards) in GROUPS.items():
                if asked.quick and group[0] not in "ABC":
                    continue
                steps = 2 if policy in ("lru", "belady") else asked.steps
                row = point(str(asked.umfsim), folder, words, machine, policy, keys, cards, steps)
                if row is None:
                    rows.append([work, group, "does not fit"] + [""] * 8)
                    continue
                rate = 4000 / row["ms"]
                print(work, "|", group, f"{row['ms']:.1f} ms", row["why"], flush=True)
                rows.append([work, group, f"{row['ms']:.1f}", f"{rate:.1f}", f"{rate / cards:.1f}",
                             f"{row['hbm_gib']:.1f}", f"{row['pool_gib']:.1f}", f"{row['pool_gb']:.1f}",
                             f"{row['moved_gb']:.1f}", row["operations"], row["why"]])
                if not row["ledger"]:
                    wrong.append((work, group))
            if asked.quick:
                break
    common.write_csv(asked.out / "table.csv", head, rows)
    common.write_md(asked.out / "table.md", head, rows)
    common.check(wrong)


main()
