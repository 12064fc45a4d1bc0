#!/usr/bin/env python3
"""Draws a replay's timeline.json and timeseries.csv as one picture.

    scripts/plot_run.py umfsim-out [PICTURE.png [FROM_US TO_US]]

Needs python3-matplotlib. For a look around use Perfetto instead: it opens timeline.json as it is.
"""
import csv
import json
import pathlib
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.collections import PolyCollection  # noqa: E402
from matplotlib.patches import Patch  # noqa: E402

CAUSES = {
    "compute": "#4c72b0", "hbm_bandwidth": "#dd8452", "hbm_latency": "#f0b990",
    "l2_fabric": "#8c8c8c", "sram": "#937860", "cxl_bandwidth": "#55a868",
    "cxl_latency": "#a3d4ae", "link_bandwidth": "#c44e52", "link_latency": "#e5a3a5",
    "host": "#64b5cd", "migration": "#8172b3", "coherence": "#da8bc3", "translation": "#ccb974",
    "scheduler": "#b5a25a", "launch": "#222222", "idle": "#eeeeee", "unknown": "#bbbbbb",
}


def slices(axis, timeline, span):
    """A row a track of operations and moves, coloured by what bounded each."""
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in timeline["traceEvents"]
             if e["name"] == "thread_name"}
    rows = {track: row for row, track in enumerate(sorted(names))}
    boxes, colours = [], []
    for event in timeline["traceEvents"]:
        if event["ph"] != "X":
            continue
        row = rows[(event["pid"], event["tid"])]
        start, end = event["ts"], event["ts"] + event["dur"]
        boxes.append([(start, row - .4), (start, row + .4), (end, row + .4), (end, row - .4)])
        colours.append(CAUSES.get(event["args"].get("bound_by", "migration"), "#bbbbbb"))
    axis.add_collection(PolyCollection(boxes, facecolors=colours, linewidths=0))
    axis.set_yticks(list(rows.values()), [names[track] for track in rows])
    axis.set_ylim(len(rows) - .5, -.5)
    axis.set_xlim(*span)


def counters(axis, timeline, name):
    """The series of one counter as steps."""
    series = {}
    for event in timeline["traceEvents"]:
        if event["ph"] == "C" and event["name"] == name:
            for key, value in event["args"].items():
                series.setdefault(key, ([], []))
                series[key][0].append(event["ts"])
                series[key][1].append(value)
    for key, (times, values) in series.items():
        axis.step(times, values, where="post", linewidth=.8, label=key)
    axis.set_ylabel(name.replace(" (", "\n("), fontsize=7)
    axis.legend(loc="upper right", fontsize=6)


def causes(axis, rows):
    """Where each window of GPU 0 went, as shares."""
    start = [float(row["start_ns"]) / 1e3 for row in rows]
    length = [float(row["duration_ns"]) / 1e3 for row in rows]
    below, handles = [0.0] * len(rows), []
    for cause, colour in CAUSES.items():
        column = f"gpu0.{cause}_ns"
        if column not in rows[0] or not any(float(row[column]) for row in rows):
            continue
        share = [float(row[column]) / 1e3 / max(span, 1e-9) for row, span in zip(rows, length)]
        axis.bar(start, share, width=length, bottom=below, align="edge", color=colour, linewidth=0)
        below = [b + s for b, s in zip(below, share)]
        handles.append(Patch(color=colour, label=cause))
    axis.set_ylim(0, 1)
    axis.set_ylabel("gpu0\nwhere time went", fontsize=7)
    axis.legend(handles=handles, loc="upper right", fontsize=6, ncols=2)


def main():
    if len(sys.argv) not in (2, 3, 5):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    picture = sys.argv[2] if len(sys.argv) > 2 else str(folder / "run.png")
    timeline = json.loads((folder / "timeline.json").read_text(encoding="utf-8"))
    with open(folder / "timeseries.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    end = (float(rows[-1]["start_ns"]) + float(rows[-1]["duration_ns"])) / 1e3
    span = tuple(map(float, sys.argv[3:5])) if len(sys.argv) == 5 else (0, end)
    names = []
    for event in timeline["traceEvents"]:
        if event["ph"] == "C" and event["name"] not in names:
            names.append(event["name"])
    figure, axes = plt.subplots(2 + len(names), 1, sharex=True,
                                figsize=(14, 3.5 + 1.3 * len(names)), layout="constrained")
    slices(axes[0], timeline, span)
    causes(axes[1], rows)
    for axis, name in zip(axes[2:], names):
        counters(axis, timeline, name)
    axes[-1].set_xlabel("simulated time, µs")
    figure.suptitle(timeline["otherData"]["machine"])
    figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main()
