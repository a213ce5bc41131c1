"""Says what came of the recordings of tests/aarch64/record: a line for each check, of three fields with tabs in between:
its name, ok or FAILED, and what was found. Shares of time are for stacks that end where their thread began; those at
switches are for stacks that were walked there, of all that were to be.
Usage: findings.py DIRECTORY OFFCPU     OFFCPU reads profiles on this machine, which is another one
       findings.py --table FILE...      a table of such lines, with a column for each file
"""
import collections, json, os, re, subprocess, sys

directory, offcpu = sys.argv[1:3]


def read(name):
    with open(f"{directory}/{name}") as file:
        return file.read()


def profile_of(name):
    return json.loads(read(f"{name}.json"))


def time_of(row):
    return row["blocked_ns"] + row["runnable_ns"] + row.get("cpu_ns", 0)


def whole_share(rows):
    return 100 * sum(time_of(row) for row in rows if is_whole(row)) / max(1, sum(map(time_of, rows)))


def is_whole(row):
    return row.get("user_end", "complete" if "user" in row else "") == "complete"


def shares(name, least, least_at_switches=0):
    """How much of the time is whole, how many of the walks, and how many stacks were walked at switches."""
    profile = profile_of(name)
    stats = profile["stats"]
    whole = whole_share(profile["stacks"])
    walks = f"{stats['walk_ends']['complete']} of {stats['walks']}"
    walked, misses = stats.get("walked_at_switch", 0), sum(stats["walk_misses"].values())
    told = 100 * walked / max(1, walked + misses)
    found = f"{whole:.1f} % of the time, {walks} walks"
    return whole >= least and told >= least_at_switches, f"{found}; {told:.2f} % at switches"


def doctor():
    lines = [line.split()[0] for line in read("doctor.log").splitlines() if line and line.split()[0] in ("ok", "no", "FAILED")]
    can = "offcpu can record here" in read("doctor.log")
    return can, f"{lines.count('ok')} of {len(lines)}"


def farthest(recorded, clocks):
    """The greatest share by which what was recorded differs from a clock, in percent."""
    return max(100 * abs(recorded[name] / ns - 1) for name, ns in clocks.items())


def clocked(name):
    """What each thread has clocked off the CPU, what was recorded of it, and what below the function that waited. Forked
    children have the names and stacks of their parent, and are left out."""
    log = read(f"{name}.log")
    pid = int(re.search(r"ready pid=(\d+)", log)[1])
    recorded = collections.Counter()
    for row in profile_of(name)["stacks"]:
        if row["pid"] != pid:
            continue
        names = [frame["name"] for frame in row.get("user", [])]
        names += [inlined["name"] for frame in row.get("user", []) for inlined in frame.get("inlined", [])]
        for each in {row["comm"]} | {each.split("(")[0] for each in names if each.startswith("clocked_")}:
            recorded[each] += time_of(row)
    measured = re.findall(r"measured (\S+) (\S+) (\d+)", log)
    threads = farthest(recorded, {thread: int(ns) for thread, _, ns in measured})
    functions = farthest(recorded, {function: int(ns) for _, function, ns in measured})
    good, found = shares(name, 90)
    found += f"; {len(measured)} threads within {threads:.1f} % of their clocks, functions within {functions:.1f} %"
    return good and len(measured) == 11 and max(threads, functions) <= 3, found


def wakers():
    rows = [row for row in profile_of("wakers")["stacks"] if row["kind"] == "sleeping"]
    total = sum(map(time_of, rows))
    known = sum(time_of(row) for row in rows if row.get("wakers"))
    interrupts = sum(time_of(row) for row in rows if any(w.get("interrupt") for w in row.get("wakers", [])))
    return known >= 0.9 * total, f"{100 * known / total:.1f} % of the time, {100 * interrupts / total:.1f} % by interrupts"


def oncpu():
    rows = [row for row in profile_of("wakers")["stacks"] if row["kind"] == "running"]
    samples = sum(row["samples"] for row in rows)
    return samples > 0 and whole_share(rows) >= 90, f"{samples} samples, {whole_share(rows):.1f} % whole"


def ledger():
    entries = profile_of("wakers")["ledger"]
    wall = sum(entry["wall_ns"] for entry in entries)
    rest = sum(abs(entry["rest_ns"]) for entry in entries)
    return rest <= 0.01 * wall, f"all but {100 * rest / wall:.2f} % of {wall / 1e9:.0f} s of threads"


def formats():
    """The same profile as pprof, read on this machine, and as OTLP."""
    subprocess.run([offcpu, "report", f"{directory}/demo.pb.gz", "-o", f"{directory}/read.json"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def rows(name):
        times = collections.Counter()
        for row in profile_of(name)["stacks"]:
            frames = tuple((frame["name"], frame.get("module")) for frame in row.get("user", []))
            labels = tuple(row.get(label) for label in ("pid", "process", "comm", "kind", "cause", "wait", "syscall"))
            times[labels, frames, row.get("user_end"), tuple(row.get("kernel", []))] += time_of(row)
        return times

    with open(f"{directory}/demo.otlp", "rb") as file:
        otlp = subprocess.run(["protoc", "--decode_raw"], stdin=file, capture_output=True).stdout
    same = rows("read") == rows("demo")
    has_names = b"WaitForRequest" in otlp
    return same and has_names, f"pprof {'the same' if same else 'differs'}, OTLP {'with' if has_names else 'without'} names"


def service():
    rows = [row for row in profile_of("service")["stacks"] if row["process"] == "offcpu-demo"]
    return whole_share(rows) >= 90, f"{whole_share(rows):.1f} % of the demo's time"


checks = {
    "kernel": lambda: (True, read("kernel").strip()),
    "doctor": doctor,
    "demo": lambda: shares("demo", 95, 95),
    "demo_pac": lambda: shares("demo_pac", 95, 95),
    "default": lambda: shares("default", 85),
    "clocked": lambda: clocked("clocked"),
    "clocked_pac": lambda: clocked("clocked_pac"),
    "redis": lambda: shares("redis", 95, 95),
    "wakers": wakers,
    "oncpu": oncpu,
    "ledger": ledger,
    "formats": formats,
    "service": service,
}


def table(files):
    columns = [[line.rstrip("\n").split("\t") for line in open(file)] for file in files]
    print("| | " + " | ".join(os.path.basename(file).removesuffix(".tsv") for file in files) + " |")
    print("| --- |" + " --- |" * len(files))
    for name in checks:
        cells = [next((("" if good == "ok" else "**failed**: ") + found for check, good, found in column if check == name), "")
                 for column in columns]
        print(f"| {name} | " + " | ".join(cells) + " |")


def say():
    for name, check in checks.items():
        try:
            good, found = check()
        except Exception as error:  # a recording that is not there, or holds nothing
            good, found = False, f"{type(error).__name__}: {error}"
        print(f"{name}\t{'ok' if good else 'FAILED'}\t{found}")


if directory == "--table":
    table(sys.argv[2:])
else:
    say()
