"""What must hold while things go wrong."""

import collections
import gzip
import json
import os
import pathlib
import re
import statistics
import subprocess
import time

from files import read

COMPLAINT = re.compile(
    r"WARNING: |BUG: |Oops|general protection|Call Trace|rcu.*(stall|expedited)|blocked for more than|LOCKUP|lockup|"
    r"possible .*(deadlock|recursi)|scheduling while atomic|corruption|refcount_t|UBSAN|KASAN|KCSAN|hogged CPU"
)


def pprof_times(path):
    """When the window of a pprof file began and how long it is, in ns: fields 9 and 10 of its Profile message."""
    data = gzip.decompress(path.read_bytes())
    found = {}
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 0x7F) << shift
            shift += 7
            at += 1
            if data[at - 1] < 0x80:
                return value

    while at < len(data):
        key = varint()
        value = varint()
        if key & 7 == 2:  # a field with a length; all others of a Profile are numbers
            at += value
        else:
            found[key >> 3] = value
    return found[9], found[10]


def stuck():
    """The threads that wait in the kernel in something of BPF's or perf's: (tid, comm, switches) and where."""
    found = {}
    for task in pathlib.Path("/proc").glob("[0-9]*/task/[0-9]*"):
        status = read(task / "status")
        if "\nState:\tD" in status:
            where = re.findall(r"\b((?:bpf|perf|ringbuf|task_work|map_)\w*)\+", read(task / "stack"))
            if where:
                switches = re.findall(r"ctxt_switches:\s*(\d+)", status)
                found[(task.name, read(task / "comm").strip(), *switches)] = where[0]
    return found


def cpu_times(pid):
    """What each thread of a process has run for, in ns, by the thread's name."""
    return {
        read(task / "comm").strip(): int(read(task / "schedstat").split()[0])
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir()
    }


def stolen_ns():
    """What a hypervisor has taken from all CPUs."""
    return int(read("/proc/stat").split("\n", 1)[0].split()[8]) * 1_000_000_000 // os.sysconf("SC_CLK_TCK")


class Judge:
    """What must hold. Each method of ALL returns the lines about what does not."""

    SLACK = {"resident KiB": 8192, "descriptors": 8, "threads": 2}

    def __init__(self, service, clocked, work):
        self.service = service
        self.clocked = clocked
        self.work = work
        self.counts = collections.Counter()
        self.most = collections.Counter()
        self.kernel_lines = 0
        with open(work / "kernel.log", "w") as log:
            self.reader = subprocess.Popen(["dmesg", "--follow-new"], stdout=log)
        self.cpu = (time.monotonic_ns(), cpu_times(clocked))

    def end(self):
        self.reader.terminate()
        self.reader.wait()

    def ledger(self):
        path = self.work / "ledger.json"
        stolen_before = stolen_ns()
        recorded = subprocess.run(
            [self.service.bin / "offcpu", "record", "--ledger", "--sample", "0", "-o", path, "3"],
            capture_output=True, text=True, check=False,
        )
        if recorded.returncode != 0:
            return [f"a recording failed: {recorded.stderr.strip()[-300:]}"]
        stolen = stolen_ns() - stolen_before
        broken = []
        for entry in json.loads(path.read_text())["ledger"]:
            self.counts["threads of ledgers"] += 1
            # The bounds of tests/deep/ledger_test.cc, which has the reasons.
            if abs(entry["rest_ns"]) > max(200_000, entry["wall_ns"] // 500) + entry["stolen_ns"] // 2 + stolen:
                broken.append(f"{entry['comm']} ({entry['tid']}): {entry['rest_ns']} ns in no account")
        return broken

    def windows(self):
        broken = []
        previous = None
        for path in sorted((self.work / "windows").iterdir()):
            if not path.name.endswith(".pb.gz") or path.stat().st_mtime < time.time() - self.service.age():
                continue
            times = pprof_times(path)
            self.counts["windows"] += 1
            if previous and abs(times[0] - sum(previous)) > 1e6:
                broken.append(f"{path.name} begins {(times[0] - sum(previous)) / 1e6:.1f} ms after the one before ended")
            previous = times
            path.unlink()  # seen
        return broken

    def threads(self):
        """Times and stacks of clocked, by the service's dump of its last windows."""
        dump = self.service.dump("--since", "50s", "--comm", "c_*")
        if dump is None:
            return ["no dump"]
        broken = []
        time_of = collections.Counter()
        for row in dump["stacks"]:
            if row.get("pid") != self.clocked:
                continue
            ns = row["blocked_ns"] + row["runnable_ns"]
            time_of[row["comm"]] += ns
            functions = {frame["name"] for frame in row["user"] if frame["name"].startswith("clocked_")}
            own = {"clocked_raise", "clocked_handler"} if row["comm"] == "c_handler" else {"clocked_" + row["comm"][2:]}
            self.counts["ns of clocked"] += ns
            if functions & own:
                self.counts["ns of clocked below its function"] += ns
            if functions - own:
                broken.append(f"{row['comm']} in {', '.join(functions - own)}")
        then, cpu_then = self.cpu
        self.cpu = (time.monotonic_ns(), cpu_times(self.clocked))
        lost = sum(loss["ns"] for loss in dump["stats"]["drops"] if not loss["reason"].startswith("no user stack"))
        error = 4 * dump.get("total_ns_error", 0)
        for comm, ns in time_of.items():
            rest = dump["duration_ns"] - ns
            # The load is even, but not quite: twice what the thread has run for in a minute, and one part in a hundred.
            share = 2 * (self.cpu[1][comm] - cpu_then[comm]) / (self.cpu[0] - then) + 0.01
            allowed = lost + error + share * dump["duration_ns"]
            if not -error - 1e6 <= rest <= allowed:
                broken.append(f"{comm}: off the CPU for {ns / 1e9:.2f} s of {dump['duration_ns'] / 1e9:.2f} s")
        if len(time_of) != 11:
            broken.append(f"{len(time_of)} threads of clocked instead of 11")
        return broken

    def flat(self):
        samples = self.service.samples
        for column, name in enumerate(self.SLACK):
            self.most[name] = max(self.most[name], *(sample[column] for sample in samples), 0)
        if len(samples) < 8:
            return []
        quarter = len(samples) // 4
        broken = []
        for column, (name, slack) in enumerate(self.SLACK.items()):
            early = statistics.median(sample[column] for sample in samples[quarter : 2 * quarter])
            late = statistics.median(sample[column] for sample in samples[-quarter:])
            if late > early * 1.05 and late > early + slack:
                broken.append(f"{name} grew from {early} to {late}")
        return broken

    def back(self):
        status = self.service.status()
        if status is None:
            return ["the service does not answer"]
        broken = []
        if status["intervals"] == 0:
            broken.append("nothing is recorded")
        if status["export"]["requests_waiting"] > 1:
            broken.append(f"{status['export']['requests_waiting']} requests wait: {status['export']['last_error']}")
        return broken

    def kernel(self):
        lines = read(self.work / "kernel.log").splitlines()
        new = lines[self.kernel_lines :]
        self.kernel_lines = len(lines)
        return [line for line in new if COMPLAINT.search(line)]

    def blocked(self):
        before = stuck()
        if not before:
            return []
        time.sleep(2)
        return [f"{key[1]} ({key[0]}) is stuck in {where}" for key, where in before.items() if stuck().get(key) == where]

    ALL = (ledger, windows, threads, flat, back, kernel, blocked)
