"""The service that is tried."""

import json
import os
import signal
import subprocess
import time

from confinement import Confinement
from files import read

WINDOW_SECONDS = 10


class Service:
    """offcpud, started again as often as it ends, as systemd does."""

    def __init__(self, bin_directory, work, collector):
        self.bin = bin_directory
        self.work = work
        self.confinement = Confinement()
        self.spool = work / "spool"
        self.spool.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "spool", self.spool], check=True)
        (work / "windows").mkdir()
        (work / "offcpud.toml").write_text(
            f'[windows]\nlength = "{WINDOW_SECONDS}s"\nkeep = 30\n[control]\nsocket = "{work}/socket"\ngroup = ""\n'
            f'[export]\nendpoint = "http://127.0.0.1:{collector.port}"\nspool = "{self.spool}/windows"\n'
            f'spool_size = "16MiB"\n[files]\ndirectory = "{work}/windows"\nkeep = 20\n'
        )
        self.process = None
        self.starts = 0
        self.start()

    def start(self):
        self.starts += 1
        self.began = time.monotonic()
        self.samples = []
        self.log = open(self.work / "log", "a")
        self.process = subprocess.Popen(
            [self.bin / "offcpud", "--config", self.work / "offcpud.toml"],
            stderr=self.log, stdin=subprocess.DEVNULL, preexec_fn=self.confinement.join,
        )

    def keep_running(self):
        if self.process.poll() is not None:
            self.start()

    def age(self):
        return time.monotonic() - self.began

    def signal(self, number):
        self.process.send_signal(number)

    def ask(self, *words):
        """What the verb prints; None if it fails."""
        asked = subprocess.run(
            [self.bin / "offcpu", *words, "--socket", self.work / "socket"],
            capture_output=True, text=True, timeout=60, check=False,
        )
        return asked.stdout if asked.returncode == 0 else None

    def status(self):
        text = self.ask("status", "--json")
        return json.loads(text) if text else None

    def dump(self, *words):
        path = self.work / "dump.json"
        if self.ask("dump", "--idle", "show", "-o", path, *words) is None:
            return None
        return json.loads(path.read_text())

    def sample(self):
        """Adds (resident KiB, descriptors, threads)."""
        status = dict(line.split(":", 1) for line in read(f"/proc/{self.process.pid}/status").splitlines())
        if "VmRSS" in status:
            descriptors = len(os.listdir(f"/proc/{self.process.pid}/fd"))
            self.samples.append((int(status["VmRSS"].split()[0]), descriptors, int(status["Threads"])))

    def end(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        subprocess.run(["umount", self.spool], check=False)
        self.confinement.remove()
