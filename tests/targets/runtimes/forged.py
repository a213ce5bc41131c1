"""Threads that wait, and have forged frames: one runs itself, one was called by what is no memory, one by what is no
frame. Prints the tid of each, and that of one that is as it should be."""
import ctypes, sys, threading, time

FRAME = 24  # in a frame object: its frame
PREVIOUS = 48 if sys.version_info < (3, 12) else 8

numbers = {}


def wait():
    time.sleep(1000000)


def run(name):
    numbers[name] = (threading.get_native_id(), threading.get_ident())
    wait()


def forge(name, previous):
    frame = ctypes.c_uint64.from_address(id(sys._current_frames()[numbers[name][1]]) + FRAME).value
    ctypes.c_uint64.from_address(frame + PREVIOUS).value = previous or frame


for name in ["circle", "nowhere", "text", "right"]:
    threading.Thread(target=run, args=(name,), daemon=True).start()
while len(numbers) < 4 or any(sys._current_frames()[n[1]].f_code is not wait.__code__ for n in numbers.values()):
    time.sleep(0.01)
text = b"forged " * 1000
forge("circle", 0)
forge("nowhere", 0xFFFF_8000_0000_0000)
forge("text", id(text) + 64)
print(*[numbers[name][0] for name in ["circle", "nowhere", "text", "right"]], flush=True)
time.sleep(1000000)
