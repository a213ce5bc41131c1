"""Runs the soak: a load, the service, faults and a judge of what must hold, for hours. See scripts/soak."""

import argparse
import collections
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from collector import Collector
from faults import Faults
from files import read
from judge import Judge, cpu_times
from service import Service

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("OFFCPU_BUILD", ROOT / "build"))


def start_load(percent, log):
    """The load, and the process of clocked."""
    load = subprocess.Popen(
        [ROOT / "scripts/mixed-load", str(percent)], stdout=subprocess.PIPE, stderr=log, text=True, start_new_session=True
    )
    ready = load.stdout.readline().split()
    if ready[:1] != ["ready"]:
        sys.exit("soak: the load does not run: " + read(log.name)[-1000:])
    clocked = int(ready[1])
    while sum(name.startswith("c_") for name in cpu_times(clocked)) < 11:
        time.sleep(0.1)
    return load, clocked


def ask_around(service, until):
    """What people ask a service for, until a moment."""
    while time.monotonic() < until:
        service.keep_running()
        service.ask("dump", "--since", "1m", "-o", str(service.work / "asked.pb.gz"))
        service.ask("stacks", str(os.getpid()))
        time.sleep(2)


def report(judge, service, arguments, minutes, faults, broken):
    """The line of this kernel and seed in docs/kernels.md, beside those of others."""
    share = judge.counts["ns of clocked below its function"] * 100 / max(1, judge.counts["ns of clocked"])
    line = (
        f"| {os.uname().release} | {minutes} | {arguments.seed} | "
        + (", ".join(f"{count} {name.replace('_', ' ')}" for name, count in sorted(faults.items())) or "none")
        + f" | {judge.counts['threads of ledgers']} | {judge.counts['windows']} | {share:.1f} % "
        f"| {judge.most['resident KiB'] >> 10} MiB, {judge.most['descriptors']} | {broken or 'none'} |"
    )
    lines = BUILD / "logs/soak"
    lines.mkdir(parents=True, exist_ok=True)
    (lines / f"{os.uname().release}").write_text(line + "\n")
    head = (
        "| kernel | minutes | seed | faults | threads whose ledgers closed | windows | stacks of known functions "
        "| memory, descriptors | broken |\n| --- | ---: | ---: | --- | ---: | ---: | ---: | --- | ---: |\n"
    )
    table = head + "".join(read(path) for path in sorted(lines.iterdir()))
    subprocess.run([ROOT / "scripts/into-docs", "soak", "docs/kernels.md"], input=table, text=True, check=True)


def soak(arguments, work):
    with open(work / "load.log", "w") as log:
        load, clocked = start_load(arguments.percent, log)
    collector = Collector()
    service = Service(BUILD / "bin", work, collector)
    judge = Judge(service, clocked, work)
    faults = Faults(service, collector)
    drawn = collections.Counter()
    draw = random.Random(arguments.seed)
    broken = 0
    minutes = 0
    began = time.monotonic()
    try:
        time.sleep(30)
        while time.monotonic() - began < arguments.hours * 3600:
            minutes += 1
            end = time.monotonic() + 60
            name = "none"
            if arguments.seed and draw.random() < 0.75:
                fault = draw.choice(Faults.ALL)
                name = fault.__name__
                drawn[name] += 1
                fault(faults, draw.randint(5, 20))
            ask_around(service, end)
            service.sample()
            found = [f"{judgement.__name__}: {line}" for judgement in Judge.ALL for line in judgement(judge)]
            broken += len(found)
            resident, descriptors, threads = service.samples[-1] if service.samples else (0, 0, 0)
            print(
                f"{minutes:4} {name:15} {resident >> 10:4} MiB {descriptors:3} descriptors {threads:3} threads, "
                f"start {service.starts}, {collector.windows} windows taken" + "".join(f"\n     {line}" for line in found),
                flush=True,
            )
    finally:
        os.killpg(load.pid, signal.SIGTERM)
        load.wait()
        service.end()
        judge.end()
    report(judge, service, arguments, minutes, drawn, broken)
    return broken


def main():
    parser = argparse.ArgumentParser("soak")
    parser.add_argument("hours", type=float)
    parser.add_argument("seed", type=int, help="of the faults; 0: none")
    parser.add_argument("--percent", type=int, default=100, help="of the load that two CPUs bear")
    arguments = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="offcpu-soak-"))
    try:
        broken = soak(arguments, work)
    except KeyboardInterrupt:
        sys.exit(130)
    print(f"{broken} broken" if broken else "all held")
    if broken:
        print(f"soak: see {work}/log", file=sys.stderr)
    else:
        shutil.rmtree(work)
    sys.exit(1 if broken else 0)


main()
