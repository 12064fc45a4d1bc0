#!/usr/bin/env python3
"""How far ahead should KV be brought in? Windows from 128 to 32768 tokens, at 128 K of context.

    scenarios/studies/prefetch-window/study.py [--umfsim PROGRAM] [--out FOLDER] [--quick]

Writes table.csv, table.md and plot.svg. Needs Python 3 alone; a minute or two.
"""
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import common

SCENARIO = common.ROOT / "scenarios/hardware/umf-three-tier.json"
WINDOWS = [0, 128, 256, 512, 1024, 2048, 4096, 8192, 32768]  # tokens; 0: no prefetch
LINKS = [1, 8]
CONTEXT = 131000


def trace_of(program, folder, batch, steps):
    common.run(program, "generate", "--model", "llama-3-70b", "--weight-dtype", "i4", "--context",
               CONTEXT, "--batch", batch, "--steps", steps, "--out", folder / "plain.jsonl")
    common.with_load_and_prompt(folder / "plain.jsonl", folder / "trace.jsonl")
    return folder / "trace.jsonl"


def point(program, folder, trace, links, window):
    sets = {"links.gpu0-sw0.count": links, "links.sw0-cxl.count": links,
            "tiers.cxl.bandwidth": "null",
            **({"policy.prefetch_window": window} if window else {"policy.prefetch": "false"})}
    run = common.replay(program, trace, SCENARIO, folder / "out", policy="umf", sets=sets)
    steps = common.steps_ms(run)
    times, moved = common.last_steps(folder / "out", run)
    return {"ms": steps[-1], "pool_gb": moved["cxl"] / 1e9, "why": common.causes(times),
            "moved_gb": run["scheduler"]["migrated_bytes"] / 1e9,
            "ledger": run["ledger"]["ok"], **run["scheduler"]["prefetch"]}


def main():
    parse = common.options(__doc__, "prefetch-window")
    parse.add_argument("--steps", type=int, default=3, help="decode steps; the last one is shown")
    parse.add_argument("--batch", type=int, default=4)
    asked = parse.parse_args()
    grid = [(links, window) for links in LINKS for window in WINDOWS]
    if asked.quick:
        grid = [(8, 0), (8, 512), (8, 2048)]
    points = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        trace = trace_of(str(asked.umfsim), folder, asked.batch, asked.steps)
        for at in grid:
            points[at] = point(str(asked.umfsim), folder, trace, *at)
            row = points[at]
            print(*at, f"{row['ms']:.1f} ms, {row['useful']} useful, {row['late']} late, "
                  f"{row['wasted']} wasted, {row['refused']} refused", flush=True)
    head = ["links", "window (tokens)", "last step (ms)", "issued (pages)", "useful", "late", "wasted",
            "refused", "accuracy", "coverage", "timeliness", "moved (GB, all steps)",
            "pool (GB, last step)", "time of the last step"]
    rows = [[links, window or "off", f"{r['ms']:.2f}", r["issued"], r["useful"], r["late"],
             r["wasted"], r["refused"], *(f"{r[k]:.3f}" for k in ("accuracy", "coverage", "timeliness")),
             f"{r['moved_gb']:.1f}", f"{r['pool_gb']:.1f}", r["why"]]
            for (links, window), r in points.items()]
    common.write_csv(asked.out / "table.csv", head, rows)
    common.write_md(asked.out / "table.md", head, rows)
    lines = {}
    for (links, window), row in points.items():
        if window:
            lines.setdefault(f"{links} link{'s' if links > 1 else ''}", []).append((window, row["ms"]))
            lines.setdefault(f"{links}, none", []).append((window, points[(links, 0)]["ms"]))
    common.write_svg(asked.out / "plot.svg", common.chart(
        lines, [(w, f"{w}") for w in WINDOWS if w], "prefetch_window, tokens",
        title="dense decode at 128 K, batch 4: ms a step", dashed=("1, none", "8, none")))
    common.check([at for at, row in points.items() if not row["ledger"]])


main()
