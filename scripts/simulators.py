#!/usr/bin/env python3
"""The table of scripts/simulators.sh: JSON reports of line_dram_bench, one after the other, on
stdin; Markdown on stdout."""
import json
import statistics
import sys

NEEDED = {1: 10, 16: 20}  # times the fastest listed: one access a transaction, runs of them

reports = []
decoder = json.JSONDecoder()
text = sys.stdin.read()
at = 0
while (at := text.find("{", at)) >= 0:
    report, at = decoder.raw_decode(text, at)
    reports.append(report["benchmarks"][0])

rows = {}
for report in reports:
    _, simulator, pattern, lines = report["name"].split("/")[:4]
    rows.setdefault((simulator, pattern, int(lines)), []).append(report)

fastest = {}
for (_, pattern, _), runs in rows.items():
    fastest[pattern] = max(fastest.get(pattern, 0), runs[0]["listed_per_second"])

print(
    """# Against other simulators

Made by `scripts/simulators.sh` (medians of CPU time, one core). Requests of one access through
the TLM-2.0 socket of a DRAM tier, one a transaction (*lines* 1) or in runs of 16; each simulator's
configuration and figures are in `published/simulators`. *fastest* is the most of all listed
simulators on that pattern; *idle* has one request outstanding and is held against 1 M/s.

| configuration | pattern | lines | M requests/s | listed M/s | fastest listed | times fastest | wanted | share of peak | listed | read latency ns | listed |
|---|---|---|---|---|---|---|---|---|---|---|---|"""
)
for (simulator, pattern, lines), runs in rows.items():
    speed = statistics.median(run["items_per_second"] for run in runs)
    first = runs[0]
    listed = first["listed_per_second"]
    best = fastest[pattern]
    listed_share = f"{first['listed_share']:.1%}" if first["listed_share"] else "–"
    print(
        f"| {simulator} | {pattern} | {lines} | {speed / 1e6:.2f} | "
        + (f"{listed / 1e6:.3f} | {best / 1e6:.3f} | {speed / best:.1f} | {NEEDED[lines]} | " if best
           else f"– | – | – | {speed / 1e6:.1f} of 1 M/s | ")
        + f"{first['share']:.1%} | {listed_share if lines == 1 else '–'} | {first['latency_ns']:.1f} | "
        + (f"{first['listed_latency_ns']:.0f} |" if lines == 1 else "– |")
    )
