#!/usr/bin/env python3
"""What do three unlike tasks cost one another on one server?

    scenarios/studies/three-tenants/study.py [--umfsim PROGRAM] [--out FOLDER] [--quick]

Code, mathematics and captioning with llama-3-8b on one GPU, alone and together; in one class of
service or in three; admitted by arrival or by tokens; with KV cache in the pool or all in HBM; and
with one of them asking for four times as much. Writes tenants.csv and runs.csv, each as .md too. Needs Python 3 alone; three minutes.
"""
import json
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common

SCENARIO = common.ROOT / "scenarios/hardware/umf-three-tier.json"
# Weights are 15 GiB: the rest of 90 % of 20 GiB holds some of the KV cache, the pool the rest.
MACHINE = {"tiers.hbm.capacity": "20GiB", "serving.max_sequences": 64}
RATES = {"code": 6.0, "math": 2.0, "caption": 6.0}
ONE = '["default 1 2s 50ms"]'
THREE = '["interactive 0.4 1s 50ms","standard 0.3 2s 50ms","batch 0.3 30s 200ms"]'
CLASS_OF = {"code": "interactive", "caption": "standard", "math": "batch"}


def tenants(rates, class_of=None):
    return json.dumps([f"{name} {name} {rate:g}Hz {(class_of or {}).get(name, 'default')} 1"
                       for name, rate in rates.items()])


def serve(program, folder, seconds, sets):
    common.run(program, "serve-sim", "tenants", "--model", "llama-3-8b", "--scenario", SCENARIO,
               "--policy", "static", "--out", folder, "--quiet",
               *common.settings({**MACHINE, "serving.tenant_time": f"{seconds}s", **sets}))
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def main():
    asked = common.options(__doc__, "three-tenants").parse_args()
    program, seconds = str(asked.umfsim), 10 if asked.quick else 120
    noisy = {**RATES, "code": 4 * RATES["code"]}
    together = {"serving.tenants": tenants(RATES), "serving.classes": ONE}
    loud = {**together, "serving.tenants": tenants(noisy)}
    tokens = {"serving.fairness": "tokens"}
    home = {"tiers.hbm.capacity": "96GiB"}
    runs = {f"{name} alone": {"serving.tenants": tenants({name: rate}), "serving.classes": ONE}
            for name, rate in RATES.items()}
    runs["together"] = together
    runs["together, all in HBM"] = {**together, **home}
    runs["together, 256 sequences"] = {**together, "serving.max_sequences": 256}
    runs["together, by tokens"] = {**together, **tokens}
    runs["together, three classes"] = {"serving.tenants": tenants(RATES, CLASS_OF), "serving.classes": THREE}
    runs["code asks 4 times"] = loud
    runs["code asks 4 times, all in HBM"] = {**loud, **home}
    runs["code asks 4 times, by tokens"] = {**loud, **tokens}
    runs["code asks 4 times, three classes"] = {"serving.tenants": tenants(noisy, CLASS_OF),
                                                "serving.classes": THREE}
    if asked.quick:
        runs = {name: runs[name] for name in ("code alone", "together", "code asks 4 times, by tokens")}
    rows, totals, wrong = [], [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for run, sets in runs.items():
            s = serve(program, folder, seconds, sets)
            for t in s["tenants"]:
                rows.append([run, t["name"], t["class"], t["requests"],
                             *(f"{t['ttft_ms'][p]:.0f}" for p in ("p50", "p95", "p99")),
                             *(f"{t['tpot_ms'][p]:.1f}" for p in ("p50", "p95", "p99")),
                             f"{100 * t['goodput']['share']:.1f}", f"{100 * t['share_of_tokens']:.1f}",
                             f"{100 * t['served_tokens'] / max(t['asked_tokens'], 1):.1f}"])
                print(*rows[-1], flush=True)
            u, f = s["utilisation"], s["fairness"]
            tiers = s["machine"]["tiers"]
            read = sum(t["read_bytes"] for t in tiers.values())
            totals.append([run, f"{s['throughput']['output_tokens_per_s']:.0f}",
                           f"{f['jain_tokens']:.3f}", f"{f['jain_served']:.3f}",
                           *(f"{100 * u[w]['mean']:.1f} ± {100 * u[w]['deviation']:.1f}"
                             for w in ("busy", "memory", "arithmetic")),
                           s["requests"]["preemptions"], f"{100 * tiers['cxl']['read_bytes'] / read:.1f}"])
            wrong += [] if s["ledger"]["ok"] else [run]
    head = ["run", "tenant", "class", "requests", "TTFT P50 (ms)", "P95", "P99", "TPOT P50 (ms)", "P95", "P99",
            "kept (%)", "share of tokens (%)", "served of asked (%)"]
    common.write_csv(asked.out / "tenants.csv", head, rows)
    common.write_md(asked.out / "tenants.md", head, rows)
    head = ["run", "output tokens/s", "Jain, tokens", "Jain, served", "busy (%)", "memory (%)", "arithmetic (%)",
            "pre-emptions", "read from the pool (%)"]
    common.write_csv(asked.out / "runs.csv", head, totals)
    common.write_md(asked.out / "runs.md", head, totals)
    common.check(wrong)


main()
