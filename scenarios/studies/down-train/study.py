#!/usr/bin/env python3
"""What does a pool behind a bad link cost, and does it pay to stop writing to it (S7)?

    scenarios/studies/down-train/study.py [--umfsim PROGRAM] [--out FOLDER] [--quick]

Decode and prefill of eight layers of llama-3-8b on umf-three-tier with 5 GiB of HBM; in the middle third of the run
the link between switch and pool is bad. Writes table.csv and table.md. Needs Python 3 alone; some minutes.
"""
import csv
import json
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common

SCENARIO = common.ROOT / "scenarios/hardware/umf-three-tier.json"
MODEL = {"model": {"name": "llama-3-8b, 8 layers", "layers": 8, "hidden": 4096, "vocabulary": 128256,
                   "max_context": 131072},
         "attention": {"kind": "full", "heads": 32, "kv_heads": 8, "head_dim": 128},
         "ffn": {"dense": 14336}}
OFF = {"scheduler.degrade_below": 0, "scheduler.degrade_errors": 0}
TIERS = ["hbm", "host", "cxl"]
# name: (arguments of generate, HBM)
WORK = {
    "decode": (["--context", 4096, "--batch", 16, "--steps", 24], "5GiB"),
    "prefill": (["--phase", "prefill", "--chunk", 2048, "--context", 4096, "--batch", 16], "5GiB"),
}


def us(ns):
    return f"{ns / 1e3:.0f}us"


def falls(to):
    return lambda begin, end: [f"{us(begin)} {to}", f"{us(end)} gen5 x16"]


def flaps(down, up):
    """Down and up in turn, in us, from begin to end."""
    def changes(begin, end):
        listed = []
        while begin + (down + up) * 1e3 < end:
            listed += [f"{us(begin)} gen4 x16", f"{us(begin + down * 1e3)} gen5 x16"]
            begin += (down + up) * 1e3
        return listed
    return changes


BAD = {
    "Gen4 x16": falls("gen4 x16"),
    "Gen5 x8": falls("gen5 x8"),
    "Gen3 x4": falls("gen3 x4"),
    "Gen4, back for 0.5 ms of 2 ms": flaps(1500, 500),
    "Gen4, back for 3 ms of 6 ms": flaps(3000, 3000),
    "errors 1e-3": lambda begin, end: [f"{us(begin)} errors 1e-3 for {us(end - begin)}"],
    "errors 1e-2": lambda begin, end: [f"{us(begin)} errors 1e-2 for {us(end - begin)}"],
}

# Less of those that move nothing.
POLICIES = {"umf": list(BAD),
            "remote-read": ["Gen4 x16", "Gen3 x4", "Gen4, back for 0.5 ms of 2 ms", "errors 1e-2"],
            "best-static": ["Gen4 x16", "Gen3 x4"]}


def generate(program, folder, quick):
    (folder / "model.json").write_text(json.dumps(MODEL), encoding="utf-8")
    for name, (words, _) in WORK.items():
        if quick:
            words = [6 if word == 24 else word for word in words]
        common.run(program, "generate", "--model", folder / "model.json", *words, "--out",
                   folder / f"{name}.umft")


def used(folder, at):
    """Bytes taken of each tier in the window that holds a time."""
    with open(folder / "timeseries.csv", newline="", encoding="ascii") as rows:
        for row in csv.DictReader(rows):
            if float(row["start_ns"]) + float(row["duration_ns"]) >= at:
                return {tier: float(row[f"{tier}.used_bytes"]) for tier in TIERS}
    return {tier: float(row[f"{tier}.used_bytes"]) for tier in TIERS}


def phases(summary, begin, end):
    """Mean step before, while and after the link is bad, and steps until it is as fast as before."""
    steps = [s for s in summary["energy"]["steps"] if s["name"].startswith("step ")]
    if len(steps) < 6:
        return ["", "", "", ""]
    ends = [s["end_ns"] for s in steps]
    took = [(b, e, (e - b) / 1e6) for b, e in zip([steps[0]["start_ns"]] + ends, ends)]
    parts = [[t for b, e, t in took if keep(b, e)] for keep in
             (lambda b, e: e <= begin, lambda b, e: e > begin and b < end, lambda b, e: b >= end)]
    mean = [sum(part) / len(part) if part else float("nan") for part in parts]
    as_before = next((i for i, t in enumerate(parts[2]) if t <= 1.01 * mean[0]), "not")
    return [f"{m:.2f}" for m in mean] + [as_before]


def main():
    asked = common.options(__doc__, "down-train").parse_args()
    program, rows, wrong = str(asked.umfsim), [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        generate(program, folder, asked.quick)
        for work, (_, hbm) in WORK.items():
            for policy, bad in POLICIES.items():
                if asked.quick:
                    bad = bad[:1] if policy == "umf" else []
                if not bad:
                    continue

                def replay(sets):
                    return common.replay(program, folder / f"{work}.umft", SCENARIO, folder / "out",
                                         policy=policy, sets={"tiers.hbm.capacity": hbm,
                                                              "report.timeline_events": 100, **sets})
                good = replay({})
                total = good["time"]["simulated_ns"]
                begin, end = total / 3, 2 * total / 3
                for what in bad:
                    link = {"links.sw0-cxl.training.changes": json.dumps(BAD[what](begin, end))}
                    for way, sets in (("on", {}), ("off", OFF)):
                        run = replay({**link, **sets})
                        if not run["ledger"]["ok"]:
                            wrong.append((work, policy, what, way))
                        before, after = used(folder / "out", begin), used(folder / "out", end)
                        unit = run["scheduler"]
                        rows.append([
                            work, policy, what, way, f"{run['time']['simulated_ns'] / 1e6:.1f}",
                            f"{100 * (run['time']['simulated_ns'] / total - 1):.1f}",
                            *phases(run, begin, end), f"{unit['degraded_ns'] / 1e6:.1f}",
                            sum(unit["degrade"]["entered"].values()),
                            *(f"{(after[t] - before[t]) / 2 ** 20:.0f}" for t in TIERS),
                            unit["degrade"]["forced_pages"], unit["degrade"]["forced_writes"]])
                        print(*rows[-1], flush=True)
    head = ["work", "policy", "link", "S7", "run (ms)", "longer (%)", "step before (ms)", "bad", "after",
            "steps until as before", "read only (ms)", "times", *(f"new in {t} (MiB)" for t in TIERS),
            "pages forced", "writes forced"]
    common.write_csv(asked.out / "table.csv", head, rows)
    common.write_md(asked.out / "table.md", head, rows)
    common.check(wrong)


main()
