#!/usr/bin/env python3
"""What do workers of one model lose by page tables of their own?

    scenarios/studies/fork-spawn/study.py [--umfsim PROGRAM] [--out FOLDER] [--quick]

One to four workers decode llama-3-8b on one GPU: spawned, each with its own weights, or forked, with
weights shared until one writes. Then one of them changes adapters, and caches are cleared. Writes
workers.csv, writes.csv and clear.csv, each as .md too. Needs Python 3 alone; three minutes.
"""
import json
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common

SCENARIO = common.ROOT / "scenarios/hardware/umf-three-tier.json"
HBM = {"tiers.hbm.capacity": "24GiB"}
CONTEXT, BATCH, STEPS, ADAPTERS, RANK = 4000, 4, 3, 4, 16
STARTS = ("spawn", "fork")


def generate(program, target):
    common.run(program, "generate", "--model", "llama-3-8b", "--context", CONTEXT, "--batch", BATCH,
               "--steps", STEPS, "--launch", "graph", "--lora-adapters", ADAPTERS, "--lora-rank", RANK,
               "--out", target)


def with_writes(source, target, wanted):
    """Before the second step the tensors that `wanted` names are copied anew from the host."""
    tensors, marks, next_id = [], 0, 10 ** 6
    with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
        for line in lines:
            out.write(line)
            record = json.loads(line)
            if record.get("record") == "tensor" and wanted(record):
                tensors.append(record)
            marks += record.get("record") == "mark"
            if record.get("record") != "mark" or marks != 2:
                continue
            for tensor in tensors:
                next_id += 1
                out.write(json.dumps({"record": "copy", "id": next_id, "kind": "host-to-device",
                                      "device": 0, "stream": 0, "bytes": tensor["bytes"],
                                      "destination_tensor": tensor["id"]}) + "\n")
    return sum(tensor["bytes"] for tensor in tensors)


def run(program, folder, traces, sets, policy):
    out = folder / "out"
    common.run(program, "replay", *traces, "--scenario", SCENARIO, "--policy", policy, "--out", out, "--quiet",
               *common.settings({**HBM, **sets}))
    return json.loads((out / "summary.json").read_text(encoding="utf-8"))


def gib(count):
    return f"{count / 2 ** 30:.2f}"


def weights(summary, tier):
    return summary["tiers"][tier]["regions"]["weight"]["peak_bytes"]


def workers(program, folder, out, quick, wrong):
    rows = []
    for policy in ("static",) if quick else ("static", "umf"):
        for count in (1, 2) if quick else (1, 2, 3, 4):
            for start in STARTS if count > 1 else STARTS[:1]:
                s = run(program, folder, [folder / "plain.jsonl"] * count, {"replay.processes": start}, policy)
                p = s.get("processes", {"duplicated_at_begin": {"bytes": 0},
                                        "duplicated_at_end": {"bytes": 0, "by_tier": {}}})
                step = [t.get("steps", {"p50_ns": s["time"]["simulated_ns"] / STEPS})["p50_ns"]
                        for t in s["tenants"]]
                rows.append([policy, count, start if count > 1 else "", gib(s["tiers"]["hbm"]["peak_bytes"]),
                             gib(s["tiers"]["cxl"]["peak_bytes"]),
                             gib(p["duplicated_at_begin"]["bytes"]), gib(p["duplicated_at_end"]["bytes"]),
                             gib(p["duplicated_at_end"]["by_tier"].get("cxl", 0)),
                             f"{100 * s['l2']['hit_rate']:.0f}", f"{max(step) / 1e6:.2f}",
                             f"{s['time']['simulated_ns'] / 1e6:.1f}"])
                wrong += [] if s["ledger"]["ok"] else [("workers", policy, count, start)]
                print(*rows[-1], flush=True)
    head = ["policy", "workers", "start", "HBM peak (GiB)", "pool peak (GiB)", "duplicated at begin (GiB)",
            "at end (GiB)", "of it in the pool (GiB)", "L2 hits (% of reads)", "step, slowest worker's P50 (ms)",
            "all done (ms)"]
    common.write_csv(out / "workers.csv", head, rows)
    common.write_md(out / "workers.md", head, rows)


def writes(program, folder, out, quick, wrong):
    kinds = {"nothing": lambda t: False,
             "one adapter": lambda t: t["role"] == "lora" and t["name"].endswith(".0"),
             "all adapters": lambda t: t["role"] == "lora",
             "layer 0": lambda t: t["role"] == "weight" and t.get("layer", -1) == 0}
    rows = []
    for name, wanted in list(kinds.items())[:2] if quick else kinds.items():
        size = with_writes(folder / "plain.jsonl", folder / "writer.jsonl", wanted)
        for start in STARTS:
            s = run(program, folder, [folder / "plain.jsonl", folder / "writer.jsonl"],
                    {"replay.processes": start}, "static")
            p = s["processes"]
            rows.append([name, f"{size / 1e6:.1f}", start, p["copied_on_write_pages"],
                         f"{p['copied_on_write_bytes'] / 1e6:.1f}", p["copy_fault_batches"],
                         gib(p["duplicated_at_end"]["bytes"]), gib(s["tiers"]["hbm"]["peak_bytes"]),
                         f"{s['tenants'][1]['simulated_ns'] / 1e6:.2f}",
                         f"{s['tenants'][0]['simulated_ns'] / 1e6:.2f}"])
            wrong += [] if s["ledger"]["ok"] else [("writes", name, start)]
            print(*rows[-1], flush=True)
    head = ["one of two workers writes", "MB", "start", "pages copied first", "MB copied first", "fault batches",
            "duplicated at end (GiB)", "HBM peak (GiB)", "writer done (ms)", "other done (ms)"]
    common.write_csv(out / "writes.csv", head, rows)
    common.write_md(out / "writes.md", head, rows)


def clear(program, folder, out, quick, wrong):
    rows = []
    for when, cost in (("never", "120ms"), ("repetitions", "0ms"), ("repetitions", "120ms")):
        s = run(program, folder, [folder / "plain.jsonl"] * 2,
                {"replay.processes": "fork", "replay.repeat": 2 if quick else 4,
                 "replay.clear_cache": when, "replay.clear_cache_cost": cost}, "static")
        last = s["tenants"][0]["repeats"][-1]["simulated_ns"]
        rows.append([when, cost if when != "never" else "", s["processes"]["clear_caches"],
                     f"{s['time']['simulated_ns'] / 1e6:.2f}", f"{last / 1e6:.3f}",
                     f"{100 * s['scheduler']['tlb_hit_rate']:.2f}",
                     f"{s['time_by_cause']['idle_ns'] / 1e6:.1f}"])
        wrong += [] if s["ledger"]["ok"] else [("clear", when, cost)]
        print(*rows[-1], flush=True)
    head = ["clear_cache", "cost", "caches cleared", "all done (ms)", "last repetition (ms)", "TLB hits (%)",
            "idle (ms)"]
    common.write_csv(out / "clear.csv", head, rows)
    common.write_md(out / "clear.md", head, rows)


def main():
    asked = common.options(__doc__, "fork-spawn").parse_args()
    program, wrong = str(asked.umfsim), []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        generate(program, folder / "plain.jsonl")
        for part in (workers, writes, clear):
            part(program, folder, asked.out, asked.quick, wrong)
    common.check(wrong)


main()
