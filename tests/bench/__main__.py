"""`make bench`: the figures of this machine as a table and as JSON. QUICK=1 takes fewer of each."""

from __future__ import annotations

import argparse
import json
import os
import platform
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.bench import core, server
from tests.tools.database import NAMES


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", default=bool(os.environ.get("QUICK")))
    parser.add_argument("--pg", choices=NAMES, help="only this server")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    options = parser.parse_args()
    console = Console()
    results = []
    for name in [options.pg] if options.pg else NAMES:
        cluster = server.start(name)
        console.print(f"PostgreSQL {cluster.major} ({name}), {os.cpu_count()} CPUs, fsync on")
        figures = core.measure(cluster, options.quick)
        table = Table("measure", "figure", "", "wanted", "")
        for figure in figures:
            verdict = "" if figure.met is None else "[green]met[/]" if figure.met else "[red]missed[/]"
            shown = f"{figure.value:,.2f}" if figure.value < 100 else f"{figure.value:,.0f}"
            table.add_row(figure.name, shown, figure.unit, figure.wanted, verdict)
        console.print(table)
        results.append({"server": name, "major": cluster.major, "figures": [asdict(figure) for figure in figures]})
        cluster.remove()
    if options.json:
        about = {"at": datetime.now(UTC).isoformat(), "machine": platform.machine(), "cpus": os.cpu_count(), "results": results}
        options.json.write_text(json.dumps(about, indent=2) + "\n")


main()
