#!/usr/bin/env python3
"""What a larger pool for KV cache gains a server whose requests share prefixes.

    scenarios/studies/prefix-reuse/study.py [--trace FILE] [--requests N] [--umfsim PROGRAM]
                                            [--out FOLDER] [--quick]

Writes table.csv, table.md and plot.svg. Needs Python 3 alone, and a trace of requests: without it
the exit status is 77.
"""
import json
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common

SCENARIO = common.ROOT / "scenarios/hardware/umf-three-tier.json"
TRACE = common.ROOT.parent / "shared/data/traces/requests/conversation_trace.jsonl"
POOLS = [0, 32, 64, 128, 256, 512, 1024]  # GiB for KV cache beside what HBM has


def point(program, folder, trace, requests, policy, pool):
    """Figures of the trace with so many GiB of pool."""
    device = max(pool, 256)
    words = ["serve-sim", trace, "--model", "llama-3-8b", "--tp", 2, "--scenario", SCENARIO,
             "--policy", policy, "--out", folder, "--quiet",
             *common.settings({"tiers.cxl.capacity": f"{device}GiB",
                               "serving.pool_share": pool / device})]
    if requests:
        words += ["--requests", requests]
    common.run(program, *words)
    run = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    latency, kv = run["latency"], run["kv_cache"]
    return {"blocks": kv["blocks"], "hit": run["tokens"]["prefix_hit_rate"],
            "ttft_p50": latency["ttft_ms"]["p50"], "ttft_p95": latency["ttft_ms"]["p95"],
            "tpot_p50": latency["tpot_ms"]["p50"], "tpot_p95": latency["tpot_ms"]["p95"],
            "goodput": latency["goodput"]["requests_per_s"],
            "kept": latency["goodput"]["share"], "evicted": kv["evicted_blocks"],
            "done": run["requests"]["done"], "ledger": run["ledger"]["ok"]}


def write(out, points):
    common.write_csv(out / "table.csv", ["pool (GiB)", "policy", "KV blocks of 512 tokens",
                                         "prefix hit rate (of prompt tokens)", "TTFT P50 (ms)",
                                         "TTFT P95 (ms)", "TPOT P50 (ms)", "TPOT P95 (ms)",
                                         "goodput (requests/s)", "requests within limits (share)",
                                         "evicted blocks", "requests done"],
                     [[*at] + [row[k] for k in row if k != "ledger"] for at, row in points.items()])
    common.write_md(
        out / "table.md",
        ["pool (GiB)", "policy", "prefix hits (% of prompt tokens)", "TTFT P50 (s)", "TTFT P95 (s)",
         "TPOT P50 (ms)", "TPOT P95 (ms)", "goodput (requests/s)", "evicted blocks"],
        [[pool, f"`{policy}`", f"{100 * row['hit']:.1f}", f"{row['ttft_p50'] / 1000:.2f}",
          f"{row['ttft_p95'] / 1000:.2f}", f"{row['tpot_p50']:.1f}", f"{row['tpot_p95']:.1f}",
          f"{row['goodput']:.3f}", row["evicted"]] for (pool, policy), row in points.items()])


def plot(points):
    """Times against blocks of KV cache, which HBM alone has some of too."""
    lines = {name: [(row["blocks"], row[key]) for row in points.values() if row[key]]
             for name, key in (("TTFT P50", "ttft_p50"), ("TTFT P95", "ttft_p95"),
                               ("TPOT P50", "tpot_p50"), ("TPOT P95", "tpot_p95"))}
    return common.chart(lines, [(row["blocks"], f"{pool}") for (pool, _), row in points.items()],
                        "GiB of pool for KV cache (drawn by blocks, those of HBM included)")


def main():
    parse = common.options(__doc__, "prefix-reuse")
    parse.add_argument("--trace", type=pathlib.Path, default=TRACE)
    parse.add_argument("--requests", type=int, default=0, help="the first N alone; 0: all")
    parse.add_argument("--policy", default="static")
    asked = parse.parse_args()
    if not asked.trace.exists():
        print(f"{asked.trace} is not there: name a trace of requests with --trace", file=sys.stderr)
        sys.exit(77)
    pools, requests = POOLS, asked.requests
    if asked.quick:
        pools, requests = [0, 64], requests or 40
    points = {}
    with tempfile.TemporaryDirectory() as folder:
        for pool in pools:
            row = point(str(asked.umfsim), pathlib.Path(folder), asked.trace, requests,
                        asked.policy, pool)
            points[pool, asked.policy] = row
            print(f"{pool:5} GiB  hits {100 * row['hit']:.1f} %  TTFT P50 "
                  f"{row['ttft_p50'] / 1000:.2f} s  P95 {row['ttft_p95'] / 1000:.2f} s  TPOT P50 "
                  f"{row['tpot_p50']:.1f} ms  goodput {row['goodput']:.3f}/s  evicted "
                  f"{row['evicted']}", flush=True)
            write(asked.out, points)  # after each: an interrupted study shows what it has
    if len(points) > 1:
        common.write_svg(asked.out / "plot.svg", plot(points))
    common.check([at for at, row in points.items() if not row["ledger"]])


main()
