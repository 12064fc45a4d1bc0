#!/usr/bin/env python3
"""What does it cost to change an adapter while it is read?

    scenarios/studies/lora-reload/study.py [--umfsim PROGRAM] [--out FOLDER] [--quick]

Decode steps of llama-3-70b with adapters; during one of them a second stream copies new weights of one
adapter from the host. Writes table.csv and table.md. Needs Python 3 alone; a few minutes.
"""
import json
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common

SCENARIO = common.ROOT / "scenarios/hardware/umf-three-tier.json"
ADAPTERS, RANK, STEPS, AT = 8, 16, 8, 4
LINKS = {8: {}, 1: {"links.gpu0-sw0.count": 1, "links.sw0-cxl.count": 1, "tiers.cxl.bandwidth": "52GB/s"}}
RATES = [0.1, 0.3, 1, 3, 10]  # changes a second
POOL = {"policy.name": "static", "policy.hbm_share": '{"lora": 0}'}
HOME = {"policy.name": "static"}
# name: (scenario keys, whether the adapters lie in the pool)
WAYS = {
    "in HBM, written there": {**HOME, "scheduler.pool_writes": "direct"},
    "pool, written directly": {**POOL, "scheduler.pool_writes": "direct"},
    "pool, staged, reads wait": {**POOL, "scheduler.pool_writes": "staged"},
    "pool, staged, forwarded": {**POOL, "scheduler.pool_writes": "staged",
                                "scheduler.forward_from_staging": "true"},
    "pool, staged in 1 GiB, reads wait": {**POOL, "scheduler.pool_writes": "staged",
                                          "scheduler.staging": "1GiB"},
    "pool, staged in 1 GiB, forwarded": {**POOL, "scheduler.pool_writes": "staged",
                                         "scheduler.staging": "1GiB",
                                         "scheduler.forward_from_staging": "true"},
}


def with_reload(source, target, *, adapters):
    """A second stream waits for step AT to begin, then copies the tensors of adapters from the host."""
    tensors, marks, next_id = [], 0, 10 ** 6
    with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
        for line in lines:
            out.write(line)
            record = json.loads(line)
            kind = record.get("record")
            if kind == "tensor" and record["role"] == "lora" and int(record["name"].split(".")[-1]) < adapters:
                tensors.append(record)
            if kind != "mark":
                continue
            marks += 1
            if marks != AT:
                continue
            there = {"device": 0, "stream": 1}
            out.write(json.dumps({"record": "sync", "waiting": there,
                                  "awaited": {"device": 0, "stream": 0}}) + "\n")
            for tensor in tensors:
                next_id += 1
                out.write(json.dumps({"record": "copy", "id": next_id, "kind": "host-to-device",
                                      **there, "bytes": tensor["bytes"],
                                      "destination_tensor": tensor["id"]}) + "\n")
    return sum(t["bytes"] for t in tensors)


def restart(source, target):
    """All weights and adapters copied from the host, as a process that starts anew does."""
    kept, next_id = [], 0
    for line in open(source, encoding="utf-8"):
        record = json.loads(line)
        if "umfsim-stream" in record or (record.get("record") == "tensor"
                                         and record["role"] in ("weight", "lora")):
            kept.append(record)
    with open(target, "w", encoding="utf-8") as out:
        for record in kept:
            out.write(json.dumps(record) + "\n")
        for tensor in kept[1:]:
            next_id += 1
            out.write(json.dumps({"record": "copy", "id": next_id, "kind": "host-to-device",
                                  "bytes": tensor["bytes"], "destination_tensor": tensor["id"]}) + "\n")


def point(program, folder, keys, *traces):
    """Steps without and with the change, and how long its copies took."""
    plain, changed = (common.replay(program, folder / trace, SCENARIO, folder / trace[:-6],
                                    policy="static", sets={**keys, "report.timeline_events": 1_000_000})
                     for trace in traces)
    before, after = common.steps_ms(plain), common.steps_ms(changed)
    timeline = json.loads((folder / traces[1][:-6] / "timeline.json").read_text(encoding="utf-8"))
    copies = [(e["ts"], e["ts"] + e["dur"]) for e in timeline["traceEvents"] if e.get("cat") == "copy"]
    took = (max(end for _, end in copies) - min(copies)[0]) / 1e3
    unit = changed["scheduler"]
    return {"step": sum(before) / len(before), "lost": sum(after) - sum(before),
            "took": took, "syncs": unit["worm_syncs"],
            "crowded": unit["worm"]["crowded_writes"], "torn": unit["worm"]["torn_accesses"],
            "coherence": changed["time_by_cause"]["coherence_ns"] / 1e6,
            "ledger": plain["ledger"]["ok"] and changed["ledger"]["ok"]}


def main():
    asked = common.options(__doc__, "lora-reload").parse_args()
    program, points = str(asked.umfsim), {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        common.run(program, "generate", "--model", "llama-3-70b", "--weight-dtype", "i4", "--kv-dtype",
                   "f8", "--context", 8000, "--batch", ADAPTERS, "--lora-adapters", ADAPTERS,
                   "--lora-rank", RANK, "--steps", STEPS, "--out", folder / "plain.jsonl")
        sizes = {n: with_reload(folder / "plain.jsonl", folder / f"changed{n}.jsonl", adapters=n)
                 for n in (1, ADAPTERS)}
        restart(folder / "plain.jsonl", folder / "restart.jsonl")
        again = common.replay(program, folder / "restart.jsonl", SCENARIO, folder / "restart",
                              policy="static", sets=POOL)["time"]["simulated_ns"] / 1e6
        for links, cut in list(LINKS.items())[:1] if asked.quick else LINKS.items():
            for n, size in sizes.items():
                for way, keys in WAYS.items():
                    at = (links, f"{n} ({size / 1e6:.0f} MB)", way)
                    points[at] = point(program, folder, {**keys, **cut}, "plain.jsonl",
                                       f"changed{n}.jsonl")
                    print(*at, f"{points[at]['lost']:.2f} ms lost", flush=True)
    head = ["links", "changed", "adapters lie", "step (ms)", "lost by one change (ms)", "copies took (ms)",
            "syncs", "writes that waited", "torn accesses", "waited for coherence (ms)",
            *(f"time lost at {rate:g} changes/s (%)" for rate in RATES)]
    rows = [[*at, f"{r['step']:.2f}", f"{r['lost']:.2f}", f"{r['took']:.1f}",
             r["syncs"], r["crowded"], r["torn"], f"{r['coherence']:.2f}",
             *(f"{r['lost'] * rate / 10:.2f}" for rate in RATES)] for at, r in points.items()]
    rows.append(["", "any", "locked: restart, all weights copied anew", "", f"{again:.0f}", f"{again:.0f}", 0, 0, 0, "",
                 *(f"{min(again * rate / 10, 100):.1f}" for rate in RATES)])
    common.write_csv(asked.out / "table.csv", head, rows)
    common.write_md(asked.out / "table.md", head, rows)
    common.check([at for at, row in points.items() if not row["ledger"]])


main()
