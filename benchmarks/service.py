"""The sharing service under 32 clients: requests per second and their slowest hundredth, beside a bare echo.

Both run on loopback with the same server; the echo has one route that returns what it is sent and keeps nothing. Of a
hundred requests to the service, 90 fetch a matrix (30 states), 5 ask where a record stands and 5 share one; rebuilds go
on meanwhile. Clients are four processes of eight threads on the same cores. First they ask as fast as they can; then
200 times per second together, at even times, and a request's time counts from when it was due.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

STATES, MEMBERS, PROCESSES, THREADS = 30, 60, 4, 8
WANTED_RATE, WANTED_P99 = 200.0, 0.2

ECHO = """
import sys, uvicorn
from fastapi import FastAPI
app = FastAPI()
@app.post("/echo")
def echo(given: dict) -> dict:
    return given
class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print(f"http://127.0.0.1:{self.servers[0].sockets[0].getsockname()[1]}", flush=True)
Server(uvicorn.Config(app, "127.0.0.1", 0, log_level="warning", access_log=False)).run()
"""

SERVICE = """
import sys
from pathlib import Path
from reidrisk.bandits import ServiceSpec
from reidrisk.bandits.service.run import serve
free = {"requests_per_minute": 0, "profiles_per_day": 0, "updates_per_day": 0}
spec = ServiceSpec(strategy="clusters:4", rebuild_every=2.0, **free)
serve(spec, sys.argv[1], Path(sys.argv[2]), port=0, ready=lambda url: print(url, flush=True))
"""


def client_process(url, tokens, seconds, seed, rate, results):
    """Send requests from eight threads and hand back how long each took, and what went wrong."""
    from reidrisk.bandits import Client

    took, wrong = [], []

    def work(number):
        lots = np.random.default_rng((seed, number))
        client = Client(url, tokens[number % len(tokens)] if tokens else None, tries=1)
        matrix = lots.dirichlet(np.ones(STATES), STATES)
        body = {"matrix": matrix.tolist()}
        times, pause = [], PROCESSES * THREADS / rate if rate else 0.0
        due = time.monotonic() + pause * lots.random()
        while due < ends:
            time.sleep(max(0.0, due - time.monotonic()))
            lot, began = lots.random(), due
            try:
                if not tokens:
                    client.call("POST", "/echo", body if lot > 0.95 else {"profile": [lot, lot]})
                elif lot < 0.90:
                    client.fetch([lots.random(), lots.random()])
                elif lot < 0.95:
                    client.standing()
                else:
                    client.share(matrix, [lots.random(), lots.random()])
            except Exception as error:
                wrong.append(f"{type(error).__name__}: {error}")
            else:
                times.append(time.monotonic() - began)
            due = due + pause if rate else time.monotonic()
        took.extend(times)

    ends = time.monotonic() + seconds
    threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    results.put((took, wrong[:3], len(wrong)))


def measured(url, tokens, seconds, rate=0.0):
    """Return requests per second, their median and 99th percentile in seconds, and what went wrong."""
    spawn = multiprocessing.get_context("spawn")
    results = spawn.Queue()
    parts = [tokens[i::PROCESSES] for i in range(PROCESSES)]
    workers = [
        spawn.Process(target=client_process, args=(url, part, seconds, i, rate, results))
        for i, part in enumerate(parts)
    ]
    for worker in workers:
        worker.start()
    found = [results.get(timeout=seconds + 120) for _ in workers]
    for worker in workers:
        worker.join()
    took = np.concatenate([part for part, _, _ in found])
    wrong = [text for _, texts, _ in found for text in texts]
    return len(took) / seconds, *np.quantile(took, (0.5, 0.99)), wrong, sum(n for *_, n in found)


def processor(process):
    """Return the seconds of processor time that a process has used (Linux)."""
    with open(f"/proc/{process.pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def started(code, *arguments):
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True)
    return process, process.stdout.readline().strip()


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seconds", type=float, default=20.0)
    options.add_argument("--database", help="default: a SQLite file")
    given = options.parse_args()
    from reidrisk.bandits import Client

    with tempfile.TemporaryDirectory() as folder:
        process, url = started(SERVICE, given.database or f"sqlite:///{folder}/sharing.db", f"{folder}/administrator")
        with open(f"{folder}/administrator") as file:
            admin = Client(url, file.read().strip())
        lots, tokens = np.random.default_rng(0), []
        for code in admin.call("POST", "/admin/codes", {"count": MEMBERS})["codes"]:
            client = Client(url)
            tokens.append(client.join(code))
            client.share(lots.dirichlet(np.ones(STATES), STATES), lots.random(2))
            client.close()
        admin.call("POST", "/admin/rebuild")
        while not admin.call("GET", "/admin/membership")["groups"]:
            time.sleep(0.2)
        before = processor(process)
        rate, median, p99, wrong, failed = measured(url, tokens, given.seconds)
        used = (processor(process) - before) / (rate * given.seconds)
        paced, _, paced_p99, _, also_failed = measured(url, tokens, given.seconds, WANTED_RATE)
        told = admin.call("GET", "/admin/overview")
        process.terminate()
        process.wait(60)
    process, url = started(ECHO)
    echo_paced = measured(url, [], given.seconds / 2, WANTED_RATE)
    before = processor(process)
    echo, echo_median, echo_p99, *_ = measured(url, [], given.seconds / 2)
    echo_used = (processor(process) - before) / (echo * given.seconds / 2)
    process.terminate()
    process.wait(60)
    load = os.getloadavg()[0]
    print(
        f"{PROCESSES * THREADS} clients, {STATES} states, {MEMBERS} members, load {load:.1f} on {os.cpu_count()} cores"
    )
    slowest = f"99th percentile {1e3 * p99:.0f} ms"
    print(f"service: {rate:,.0f} requests/s, median {1e3 * median:.0f} ms, {slowest}, {failed} failed")
    beside = f"of the echo {1e3 * echo_paced[2]:.0f} ms"
    print(f"at {paced:.0f} requests/s: 99th percentile {1e3 * paced_p99:.0f} ms, {beside}, {also_failed} failed")
    print(f"  versions {told['version']}, the last rebuild took {told['rebuild_seconds']:.2f} s")
    print(
        f"bare echo: {echo:,.0f} requests/s, median {1e3 * echo_median:.0f} ms, 99th percentile {1e3 * echo_p99:.0f} ms"
    )
    print(f"ratio: {rate / echo:.2f} of the echo's requests")
    times = f"{1e3 * used:.2f} ms, of the echo {1e3 * echo_used:.2f} ms"
    print(f"processor time per request: {times}: {used / echo_used:.1f} x")
    if wrong:
        print(json.dumps(wrong))
    enough = rate >= WANTED_RATE and paced_p99 < WANTED_P99 and not failed + also_failed
    print("as wanted" if enough else f"below what is wanted: {WANTED_RATE:g} requests/s, {1e3 * WANTED_P99:g} ms")


if __name__ == "__main__":
    main()
