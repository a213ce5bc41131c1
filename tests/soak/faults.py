"""What goes wrong."""

import os
import pathlib
import signal
import time


class Faults:
    """Each lasts for `seconds` and leaves things as they were. One that kills the service says so."""

    def __init__(self, service, collector):
        self.service = service
        self.collector = collector

    def killed(self, _seconds):
        self.service.signal(signal.SIGKILL)

    def stopped(self, seconds):
        self.service.signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.service.signal(signal.SIGCONT)

    def full_disk(self, seconds):
        self.collector.go()  # or nothing would be written
        filler = self.service.spool / "filler"
        file = os.open(filler, os.O_WRONLY | os.O_CREAT)
        try:
            while os.write(file, bytes(1 << 16)):
                pass
        except OSError:
            pass  # no space left
        os.close(file)
        time.sleep(seconds)
        filler.unlink()
        self.collector.come()

    def collector_away(self, seconds):
        self.collector.go()
        time.sleep(seconds)
        self.collector.come()

    def cpu_offline(self, seconds):
        online = pathlib.Path("/sys/devices/system/cpu/cpu1/online")
        if online.exists():
            online.write_text("0")
            time.sleep(seconds)
            online.write_text("1")

    def little_memory(self, seconds):
        self.service.confinement.limit_memory(64 << 20)
        time.sleep(seconds)
        self.service.confinement.limit_memory()

    def reload(self, _seconds):
        self.service.signal(signal.SIGHUP)

    ALL = (killed, stopped, full_disk, collector_away, cpu_offline, little_memory, reload)
