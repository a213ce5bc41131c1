# Waits 200 times for 2 ms, in inner(), called by middle(), called by outer(). Talks as target.h says.
import os
import sys
import time


def inner():
    time.sleep(0.002)
    return 1


def middle():
    return inner() + 1


def outer():
    return middle() + 1


print(f"ready pid={os.getpid()}", flush=True)
sys.stdin.readline()
for _ in range(200):
    outer()
print("done", flush=True)
sys.stdin.readline()
