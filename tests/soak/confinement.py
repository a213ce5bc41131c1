"""The limits of the service's unit, as control groups."""

import os
import pathlib

from files import read


class Confinement:
    """Control groups with the limits of the service's unit, of version 1 or 2, as far as the host has the controllers."""

    LIMITS = {
        "memory": ("memory.limit_in_bytes", "memory.max", 512 << 20),
        "pids": ("pids.max", "pids.max", 128),
        "cpu": ("cpu.cfs_quota_us", "cpu.max", 50000),
    }

    def __init__(self):
        self.files = {}
        mounts = [line.split() for line in read("/proc/self/mounts").splitlines()]
        for controller, (old, new, value) in self.LIMITS.items():
            for _, mount, kind, options, *_ in mounts:
                if kind == "cgroup" and controller in options.split(","):
                    self._make(controller, mount, old, value)
                elif kind == "cgroup2" and controller in read(f"{mount}/cgroup.controllers").split():
                    pathlib.Path(f"{mount}/cgroup.subtree_control").write_text(f"+{controller}")
                    self._make(controller, mount, new, value)

    def _make(self, controller, mount, file, value):
        group = pathlib.Path(mount) / f"offcpu-soak.{os.getpid()}"
        group.mkdir(exist_ok=True)
        self.files[controller] = group / file
        self.files[controller].write_text(str(value))

    def join(self):
        for file in self.files.values():
            (file.parent / "cgroup.procs").write_text("0")

    def limit_memory(self, limit=LIMITS["memory"][2]):
        if "memory" in self.files:
            try:
                self.files["memory"].write_text(str(limit))
            except OSError:
                pass  # version 1 refuses a limit that cannot be kept

    def remove(self):
        for group in {file.parent for file in self.files.values()}:
            group.rmdir()
