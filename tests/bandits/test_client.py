"""The client: time-outs, retries with pauses that double, writes with one key, and what is not tried again."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from reidrisk.bandits import Client, ServiceError
from reidrisk.base.errors import OptionError

TOKEN = f"rr_{'0' * 16}_{'s' * 43}"
DROP, STALL = "drop", "stall"


@pytest.fixture
def flaky():
    """Return a server whose answers are given in advance: (status, body, headers), or how it fails."""
    seen, answers = [], []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_any(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            seen.append((self.command, self.path, dict(self.headers), body))
            answer = answers.pop(0)
            if answer in (DROP, STALL):
                stop.wait(0.0 if answer == DROP else 1.0)
                self.close_connection = True
                return
            status, value, headers = answer
            data = json.dumps(value).encode()
            self.send_response(status)
            for name, text in {"Content-Length": str(len(data)), **headers}.items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(data)
            self.close_connection = "Content-Length" in headers

        do_GET = do_PUT = do_POST = do_DELETE = handle_any

        def log_message(self, *_):
            pass

    stop = threading.Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    client = Client(f"http://127.0.0.1:{server.server_port}/", TOKEN, timeout=0.3)
    client.pauses = []
    client._sleep = client.pauses.append
    yield client, answers, seen
    stop.set()
    client.close()
    server.shutdown()
    server.server_close()


def busy(status=503, wait="1"):
    problem = {"type": "urn:reidrisk:no-group", "title": "Not now", "status": status, "detail": "later"}
    return status, problem, {"Retry-After": wait}


def test_a_write_is_tried_again_with_one_key(flaky):
    client, answers, seen = flaky
    answers += [DROP, STALL, busy(), (200, {"state": "waiting", "revision": 1}, {})]
    assert client.share(np.eye(2), [1.0])["revision"] == 1
    assert len({headers["Idempotency-Key"] for _, _, headers, _ in seen}) == 1
    assert len({body for *_, body in seen}) == 1
    assert 0.1 <= client.pauses[0] <= 0.125
    assert 0.2 <= client.pauses[1] <= 0.25
    assert client.pauses[2] >= 1.0, "the service asked for a second"
    answers += [(200, {"state": "waiting", "revision": 2}, {})]
    client.share(np.eye(2), [1.0])
    assert seen[-1][2]["Idempotency-Key"] != seen[0][2]["Idempotency-Key"]


def test_an_answer_that_was_cut_off_is_none(flaky):
    client, answers, seen = flaky
    told = {"state": "waiting", "revision": 1}
    answers += [(200, told, {"Content-Length": "999"}), (200, told, {})]
    assert client.share(np.eye(2), [1.0]) == told
    assert len({headers["Idempotency-Key"] for _, _, headers, _ in seen}) == 1
    assert len(seen) == 2


def test_it_gives_up(flaky):
    client, answers, seen = flaky
    answers += [busy()] * 9
    with pytest.raises(ServiceError, match="later") as caught:
        client.fetch([1.0])
    assert (caught.value.status, caught.value.code, len(seen)) == (503, "no-group", 5)
    del answers[:], seen[:]
    answers += [busy(429, wait="86400")]
    with pytest.raises(ServiceError):
        client.fetch([1.0])
    assert len(seen) == 1, "nobody waits for tomorrow"


def test_what_cannot_succeed_is_not_tried_again(flaky):
    client, answers, seen = flaky
    answers += [(422, {"type": "urn:reidrisk:matrix-wrong", "detail": "no"}, {})]
    with pytest.raises(ServiceError, match="no") as caught:
        client.share(np.eye(2), [1.0])
    assert (caught.value.code, len(seen)) == ("matrix-wrong", 1)
    answers += [(500, ["not a problem document"], {})]
    with pytest.raises(ServiceError, match="500"):
        client.standing()


def test_a_registration_that_was_sent_is_not_sent_again(flaky):
    client, answers, seen = flaky
    answers += [DROP]
    with pytest.raises(ServiceError) as caught:
        client.join("enrol-once")
    assert (caught.value.code, len(seen)) == ("unreachable", 1)


def test_nobody_there_is_one_line():
    client = Client("http://127.0.0.1:9", TOKEN, tries=2)
    client._sleep = lambda _: None
    with pytest.raises(ServiceError, match="is it up") as caught:
        client.about()
    assert "\n" not in str(caught.value)


def test_secrets_do_not_show(flaky):
    client, answers, _ = flaky
    assert TOKEN not in repr(client)
    assert "word" not in repr(Client("http://user:word@127.0.0.1:9"))
    with pytest.raises(OptionError, match="join"):
        Client("http://127.0.0.1").standing()
    answers += [(200, {"token": TOKEN.replace("s", "t"), "agent": "0" * 16}, {}), (204, None, {})]
    assert client.rotate() == client.token != TOKEN


def test_not_a_number_stays_here():
    with pytest.raises(ValueError, match="JSON"):
        Client("http://127.0.0.1:9", TOKEN).share([[np.nan, 1.0], [0.0, 1.0]], [1.0])
