"""Threads that wait for ever in many kinds of Python frames. For each line of its input prints what Python itself says
of each: "TID FUNCTION FILE LINE" for each frame, leaf first, separated by tabs, and "." behind the last."""
import asyncio, functools, queue, re, socket, sys, threading, time

numbers = {}


def wait():
    time.sleep(1000000)


def start(function, *arguments):
    def run():
        numbers[threading.get_ident()] = threading.get_native_id()
        function(*arguments)

    threading.Thread(target=run, daemon=True).start()


def recurse(n):
    return wait() if n == 0 else recurse(n - 1)


class Waits:
    def __init__(self, how="init"):
        how == "init" and wait()

    def __getattr__(self, name):
        wait()

    def __enter__(self):
        wait()

    def __exit__(self, *what):
        pass

    def __del__(self):
        wait()

    @property
    def property(self):
        wait()

    @classmethod
    def of_class(cls):
        wait()

    @staticmethod
    def of_nobody():
        wait()

    def __lt__(self, other):
        wait()

    def __hash__(self):
        wait()

    def __call__(self, *arguments):
        wait()


class Meta(type):
    def __new__(cls, name, bases, members):
        wait()


def generator():
    yield 1
    wait()
    yield 2


def delegates():
    yield from generator()


async def coroutine():
    wait()


async def awaits():
    await coroutine()


async def asynchronous():
    yield 1
    wait()


async def iterates():
    async for _ in asynchronous():
        pass


def decorator(function):
    @functools.wraps(function)
    def wrapped(*arguments):
        return function(*arguments)

    return wrapped


@decorator
@decorator
def decorated():
    wait()


def handles():
    try:
        1 / 0
    except ZeroDivisionError:
        wait()


def finally_waits():
    try:
        return 1
    finally:
        wait()


def with_frame_object():
    sys._getframe().f_locals
    wait()


def class_body():
    class Body:
        wait()


def over_lines():
    return dict(
        first=1,
        second=wait(),
        third=3,
    )


def with_statement():
    with Waits("not"):
        pass


def closure():
    outside = 1

    def inside():
        return outside + wait()

    inside()


def größe():
    wait()


def many_lines(lines):
    exec(compile("def far():\n" + "  x = 1\n" * lines + "  wait()\nfar()", "far.py", "exec"), {"wait": wait})


never, lock, pair = threading.Event(), threading.Lock(), socket.socketpair()
lock.acquire()
nobody = "nobody.py"

for function, arguments in [
    (wait, ()),
    (recurse, (5,)),
    (recurse, (60,)),
    (recurse, (450,)),
    (Waits, ()),
    (lambda: Waits("not").missing, ()),
    (lambda: Waits("not").property, ()),
    (Waits.of_class, ()),
    (Waits.of_nobody, ()),
    (lambda: sorted([Waits("not"), Waits("not")]), ()),
    (lambda: sorted([2, 1], key=lambda x: wait()), ()),
    (lambda: max([1, 2], key=lambda x: recurse(3)), ()),
    (lambda: {Waits("not"): 1}, ()),
    (lambda: Waits("not")(1), ()),
    (lambda: list(generator()), ()),
    (lambda: [x for x in delegates()], ()),
    (lambda: [wait() for x in (1, 2)], ()),
    (lambda: {wait() for x in (1, 2)}, ()),
    (lambda: sum(wait() for x in range(3)), ()),
    (lambda: list(map(lambda x: wait(), [1])), ()),
    (lambda: asyncio.run(awaits()), ()),
    (lambda: asyncio.run(iterates()), ()),
    (lambda: awaits().send(None), ()),
    (lambda: Meta("n", (), {}), ()),
    (decorated, ()),
    (with_frame_object, ()),
    (handles, ()),
    (finally_waits, ()),
    (class_body, ()),
    (over_lines, ()),
    (with_statement, ()),
    (closure, ()),
    (größe, ()),
    (many_lines, (1,)),
    (many_lines, (3000,)),
    (functools.partial(recurse, 1), ()),
    (lambda: exec("def q():\n  wait()\nq()"), ()),
    (lambda: exec(compile("\n\nwait()", nobody, "exec")), ()),
    (lambda: eval("wait()"), ()),
    (lambda: re.sub("a", lambda m: wait(), "a"), ()),
    (lambda: Waits("not") and None, ()),
    (never.wait, ()),
    (lambda: never.wait(), ()),
    (lambda: lock.acquire(), ()),
    (lambda: queue.Queue().get(), ()),
    (lambda: pair[0].recv(1), ()),
]:
    start(function, *arguments)


def say():
    for thread, frame in sys._current_frames().items():
        while frame is not None and thread in numbers:
            code = frame.f_code
            print(numbers[thread], code.co_qualname, code.co_filename, frame.f_lineno, sep="\t")
            frame = frame.f_back
    print(".", flush=True)


numbers[threading.get_ident()] = threading.get_native_id()
for line in iter(sys.stdin.readline, ""):
    say()
