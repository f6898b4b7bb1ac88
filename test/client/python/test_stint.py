"""Tests of stint.py: what arrives is asked of a real Stint (STINT_TEST_URL, with STINT_TEST_KEY); for answers that it gives
only in trouble there is a receiver. `python3 -m unittest`, with stint.py in PYTHONPATH."""

import asyncio
import collections
import contextlib
import decimal
import email.utils
import gzip
import hashlib
import io
import json
import logging
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import stint


# An object that sends an event when it goes, which is after everything else.
FINALIZER = """
class Late:
    def __del__(self): stint.end('late')
late = Late()
late.itself = late
"""


class Receiver:
    """Answers batches in turn with the given (status, headers, body), then 201."""

    def __init__(self, *answers, always=None):
        self.batches, self.answers, self.headers, self.always = [], list(answers), [], always
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.batches.append(body)
                receiver.headers.append(self.headers)
                default = receiver.always or (201, {}, {"accepted": 1})
                status, headers, answer = receiver.answers.pop(0) if receiver.answers else default
                self.send_response_only(status)
                if "date" not in headers:
                    self.send_header("date", self.date_time_string())
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())

            def do_GET(self):
                # A test beside this one may still ask for a server that had this port before.
                if self.headers["x-stint-api-key"] == "secret-key":
                    receiver.batches.append(b"GET")

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def events(self):
        return [event for batch in self.batches for event in json.loads(gzip.decompress(batch))]

    def distinct(self):
        return {json.dumps(event, sort_keys=True) for event in self.events()}

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def problem(status, **headers):
    return (status, {name.replace("_", "-"): value for name, value in headers.items()}, {"detail": "not now"})


class ClientTest(unittest.TestCase):
    def receiver(self, *answers, **options):
        receiver = Receiver(*answers, **options)
        self.addCleanup(receiver.close)
        return receiver

    def client(self, receiver, **options):
        self.drops = []
        options.setdefault("backlog", False)
        options.setdefault("on_drop", lambda event, reason: self.drops.append((event["kind"], reason)))
        return stint.Stint(receiver.url, "secret-key", **options)

    def until(self, is_so):
        deadline = time.monotonic() + 20
        while not is_so():
            self.assertLess(time.monotonic(), deadline, "it did not come true in time")
            time.sleep(0.005)


def whole_files(directory):
    found = [os.path.join(path, name) for path, _, names in os.walk(directory) for name in names]
    return sorted(path for path in found if path.endswith(".json") and "refused" not in path)


def age(directory):
    """As if its processes had ended two minutes ago."""
    for path, _, names in os.walk(directory):
        for name in names:
            os.utime(os.path.join(path, name), (time.time() - 120,) * 2)


def kinds(events):
    return [event["kind"] for event in events]


class RealTest(ClientTest):
    """Each test has processes of its own at the real Stint."""

    def setUp(self):
        self.drops = []
        drop = lambda event, reason: self.drops.append((event["kind"], reason))
        self.stint = stint.Stint(os.environ["STINT_TEST_URL"], os.environ["STINT_TEST_KEY"], on_drop=drop)

    def named(self, process):
        return f"{self.id()} {process}"

    def ask(self, what, process):
        """The rows of a process, the oldest first."""
        query = urllib.parse.urlencode({"process": self.named(process), "from": "-1h", "limit": 1000})
        headers = {"x-stint-api-key": os.environ["STINT_TEST_KEY"]}
        request = urllib.request.Request(f"{os.environ['STINT_TEST_URL']}/api/{what}?{query}", headers=headers)
        with urllib.request.urlopen(request, timeout=20) as answer:
            return json.load(answer)["points" if what == "metrics" else what][::-1]

    def runs(self, process):
        """Of each run its state, meta and uid, and what was sent under its uid."""
        rows = {what: self.ask(what, process) for what in ("timings", "exceptions", "outputs", "metrics")}
        of = lambda run, what: [r for r in rows[what] if (r.get("uid"), r["meta"]) == (run["uid"], run["meta"])]
        return [
            {
                "state": run["state"],
                "meta": run["meta"],
                "uid": run["uid"],
                "exceptions": [row["exception"] for row in of(run, "exceptions")],
                "outputs": [row["output"] for row in of(run, "outputs")],
                "metrics": {row["name"]: row["value"] for row in of(run, "metrics")},
            }
            for run in rows["timings"]
        ]

    def expect(self, ask, expected):
        """Waits until Stint, which stores in the background, says so."""
        self.assertTrue(self.stint.flush())
        deadline = time.monotonic() + 20
        while ask() != expected and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertEqual(ask(), expected)

    def states(self, process):
        return lambda: [(run["state"], len(run["exceptions"])) for run in self.runs(process)]


class RunTest(RealTest):
    def test_a_run_is_completed_with_a_uid_of_its_own(self):
        with self.stint.run(self.named("job"), meta="eu") as run:
            self.assertEqual(run.process, self.named("job"))
        self.expect(self.states("job"), [("completed", 0)])
        (run,) = self.runs("job")
        self.assertEqual(run["meta"], "eu")
        self.assertRegex(run["uid"], "^[0-9a-f-]{36}$")

    def test_what_the_block_raises_is_reported_and_raised_on(self):
        error = LookupError("no such region")
        with self.assertRaises(LookupError) as raised, self.stint.run(self.named("job")):
            try:
                raise OSError("the cause")
            except OSError as cause:
                raise error from cause
        self.assertIs(raised.exception, error)
        self.expect(self.states("job"), [("failed", 1)])
        (report,) = self.runs("job")[0]["exceptions"]
        self.assertTrue(report.startswith("Traceback (most recent call last):"))
        self.assertIn("OSError: the cause", report)
        self.assertTrue(report.endswith("LookupError: no such region"))

    def test_sys_exit_without_a_code_is_no_failure(self):
        for code, state in ((None, "completed"), (0, "completed"), (3, "failed")):
            with self.assertRaises(SystemExit), self.stint.run(self.named(f"exit {code}")):
                sys.exit(code)
            self.expect(lambda: [run["state"] for run in self.runs(f"exit {code}")], [state])

    def test_metrics_and_exceptions_take_the_fields_of_their_run(self):
        with self.stint.run(self.named("outer"), "m", "o"):
            self.stint.metrics({"a": 1})
            with self.stint.run(self.named("inner"), uid="i"):
                self.stint.metrics({"a": 2})
            self.stint.exception("odd", meta="other")
            self.stint.metrics({"a": 3}, self.named("elsewhere"))
        found = lambda: [
            [(row["meta"], row["uid"]) for row in self.ask("metrics", process)]
            for process in ("outer", "inner", "elsewhere")
        ]
        self.expect(found, [[("m", "o")], [(None, "i")], [(None, None)]])
        self.expect(lambda: [(row["meta"], row["uid"]) for row in self.ask("exceptions", "outer")], [("other", "o")])

    def test_tasks_and_threads_do_not_mix(self):
        async def job(name):
            async with self.stint.run(self.named("task"), uid=name):
                await asyncio.sleep(0.001)
                self.stint.metrics({name: 1})

        async def main():
            await asyncio.gather(*(job(name) for name in "abcdef"))

        asyncio.run(main())
        own = lambda process: lambda: sorted((run["state"], run["uid"], *run["metrics"]) for run in self.runs(process))
        self.expect(own("task"), [("completed", name, name) for name in "abcdef"])

        def thread(name):
            with self.stint.run(self.named("thread"), uid=name):
                for _ in range(100):
                    self.stint.metrics({name: 1})

        threads = [threading.Thread(target=thread, args=(name,)) for name in "abcdef"]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        self.expect(own("thread"), [("completed", name, name) for name in "abcdef"])
        points = self.ask("metrics", "thread")
        self.assertEqual((len(points), len({point["at"] for point in points})), (600, 600))

    def test_an_error_is_reported_once_per_run(self):
        with contextlib.suppress(ValueError), self.stint.run(self.named("job")) as run:
            error = ValueError("twice")
            run.exception(error)
            raise error
        self.expect(self.states("job"), [("failed", 1)])

    def test_what_a_run_said_goes_with_its_end(self):
        with self.stint.run(self.named("job")) as run:
            run.output("x" * 5000)
            run.output("\n7 pages \ud800")
        self.stint.end(self.named("other"), uid="o", output="said " + "é" * 4096)
        self.stint.end(self.named("mute"), uid="m", output="")
        said = lambda: [self.runs(process)[0]["outputs"] for process in ("job", "other", "mute")]
        self.expect(lambda: [len(self.runs(process)) for process in ("job", "other", "mute")], [1, 1, 1])
        self.expect(said, [["x" * 4086 + "\n7 pages \ufffd"], ["é" * 4096], []])

    def test_begin_ends_once(self):
        run = self.stint.begin(self.named("job"))
        run.fail("bad")
        run.end()
        run.fail("again")
        self.expect(lambda: [(run["state"], run["exceptions"]) for run in self.runs("job")], [("failed", ["bad"])])

    def test_long_texts_are_cut_where_it_hurts_least(self):
        receiver = self.receiver()  # Stint would say so by a name that the test cannot ask for
        client = self.client(receiver)
        client.exception("first " + "x" * 30_000 + " last \ud800", "p" * 300, "m" * 600)
        self.stint.exception("first " + "x" * 30_000 + " last \ud800", self.named("long"), "m" * 600)
        client.flush()
        (event,) = receiver.events()
        self.assertEqual(len(event["process"]), 250)
        self.expect(lambda: [len(row["meta"]) for row in self.ask("exceptions", "long")], [500])
        (row,) = self.ask("exceptions", "long")
        self.assertLessEqual(len(row["exception"]), 15_000)
        self.assertTrue(row["exception"].startswith("first ") and row["exception"].endswith(" last \ufffd"))

    def test_numbers_of_other_libraries_are_sent_and_impossible_ones_dropped_alone(self):
        with contextlib.redirect_stderr(io.StringIO()):
            self.stint.metrics({"a": decimal.Decimal("1.5")}, self.named("job"))
            self.stint.metrics({"a": float("nan")}, self.named("job"))
            self.assertFalse(self.stint.flush())
        self.stint.metrics(collections.OrderedDict(a=2), self.named("job"))
        self.expect(lambda: [row["value"] for row in self.ask("metrics", "job")], [1.5, 2])


class HostileTest(ClientTest):
    def setUp(self):
        self.stint = self.client(self.receiver())

    def test_nothing_a_caller_passes_makes_it_raise(self):
        class Hostile(Exception):
            def __str__(self):
                raise RuntimeError("gotcha")

            __repr__ = __str__

        with contextlib.redirect_stderr(io.StringIO()):
            for value in (None, 1, b"x", object(), Hostile(), {"a": object()}, [1], "\0"):
                self.stint.exception(value, "job")
                self.stint.exception("text", value)
                self.stint.metrics(value, "job")
                self.stint.metrics({"a": value}, "job", value, value)
                self.stint.start(value, value, value)
                self.stint.end(value, value, value)
                with self.stint.run(value, value, None):
                    pass
        self.assertIn(("exception", "it has no process"), self.drops)
        self.assertFalse(self.stint.flush())
        self.assertTrue(self.stint.flush())


class TimedTest(RealTest):
    def test_functions(self):
        @self.stint.timed(self.named("add"))
        def add(a, b=2):
            "Adds."
            self.stint.metrics({"in": 1})
            return a + b

        self.assertEqual((add(1, b=3), add.__name__, add.__doc__), (4, "add", "Adds."))
        self.expect(lambda: [(run["state"], run["metrics"]) for run in self.runs("add")], [("completed", {"in": 1})])

    def test_a_function_is_named_by_where_it_is(self):
        receiver = self.receiver()

        @self.client(receiver).timed
        def add():
            pass

        add()
        self.until(lambda: receiver.events())
        name = receiver.events()[0]["process"]
        self.assertTrue(name.endswith("TimedTest.test_a_function_is_named_by_where_it_is.<locals>.add"))

    def test_coroutines(self):
        @self.stint.timed(self.named("coroutine"), meta="m")
        async def work():
            await asyncio.sleep(0.01)
            raise KeyError("k")

        with self.assertRaises(KeyError):
            asyncio.run(work())
        self.expect(self.states("coroutine"), [("failed", 1)])
        (run,) = self.runs("coroutine")
        self.assertEqual(run["meta"], "m")
        self.assertIn("KeyError", run["exceptions"][0])
        self.assertGreaterEqual(self.ask("timings", "coroutine")[0]["duration_ms"], 10)

    def test_generators_from_the_first_step_to_the_last(self):
        @self.stint.timed(self.named("generator"))
        def count():
            self.stint.metrics({"inside": 1})
            got = yield 1
            try:
                yield got
            except ValueError:
                yield "caught"
            return "done"

        steps = count()
        self.assertEqual(next(steps), 1)
        self.stint.metrics({"outside": 1}, self.named("caller"))
        self.assertIsNone(stint._current.get())
        self.assertEqual(steps.send("sent"), "sent")
        self.assertEqual(steps.throw(ValueError()), "caught")
        with self.assertRaises(StopIteration) as stopped:
            next(steps)
        self.assertEqual(stopped.exception.value, "done")
        seen = lambda: [(run["state"], run["metrics"]) for run in self.runs("generator")]
        self.expect(seen, [("completed", {"inside": 1})])
        self.expect(lambda: [(row["name"], row["uid"]) for row in self.ask("metrics", "caller")], [("outside", None)])

    def test_a_generator_that_fails_or_is_left_early(self):
        closed = []

        @self.stint.timed(self.named("generator"))
        def count():
            try:
                yield 1
                raise OSError("broken")
            finally:
                closed.append(True)

        with self.assertRaises(OSError):
            list(count())
        early = count()
        next(early)
        early.close()
        self.assertEqual(closed, [True, True])
        self.expect(self.states("generator"), [("failed", 1), ("completed", 0)])

    def test_asynchronous_generators(self):
        @self.stint.timed(self.named("agen"))
        async def count():
            for i in range(3):
                await asyncio.sleep(0)
                self.stint.metrics({f"i{i}": i})
                yield i

        async def main():
            return [i async for i in count()]

        self.assertEqual(asyncio.run(main()), [0, 1, 2])
        seen = lambda: [(run["state"], run["metrics"]) for run in self.runs("agen")]
        self.expect(seen, [("completed", {"i0": 0, "i1": 1, "i2": 2})])


class DeliveryTest(ClientTest):
    def test_the_same_bytes_are_sent_again_when_the_answer_may_change(self):
        receivers = [self.receiver(problem(status), problem(status)) for status in (408, 429, 500, 503)]
        clients = [self.client(receiver) for receiver in receivers]
        for client in clients:  # their back-offs pass together
            client.start("job")
        for client, receiver in zip(clients, receivers):
            self.assertTrue(client.flush(20))
            self.assertEqual(len(receiver.batches), 3)
            self.assertEqual(len(set(receiver.batches)), 1)
        self.assertEqual(self.drops, [])

    def test_starts_and_ends_do_not_wait_behind_what_a_spent_quota_refuses(self):
        spent = {"status": 429, "code": "quota_spent"}
        whole = (429, {"retry-after": "300"}, {"code": "quota_spent"})
        part = (207, {"retry-after": "300"}, {"items": [spent, {"at": "2026-11-28T10:00:00Z"}]})
        receiver = self.receiver(whole, (201, {}, {}), whole, part)
        kinds = lambda: [[event["kind"] for event in json.loads(gzip.decompress(b))] for b in receiver.batches]
        client = self.client(receiver, flush_ms=10)
        client.metrics({"rows": 1}, "job")
        self.until(lambda: len(receiver.batches) == 1)
        client.start("job")
        self.until(lambda: len(receiver.batches) == 2)
        self.assertEqual(kinds(), [["metrics"], ["start"]])
        self.assertFalse(client.flush(0.05))
        self.until(lambda: len(receiver.batches) == 3)
        self.until(lambda: client.flush(1))  # the answer before may still be on its way
        self.assertEqual(kinds()[2:], [["metrics"], ["metrics"], ["metrics"]])
        self.assertEqual(self.drops, [])

    def test_retry_after_is_waited_for(self):
        client = self.client(self.receiver(problem(503, retry_after="2")))
        client.start("job")
        began = time.monotonic()
        self.assertTrue(client.flush(20))
        self.assertGreater(time.monotonic() - began, 1.9)

    def test_a_flush_is_timed_in_seconds_and_tries_a_last_time_whatever_the_back_off(self):
        receiver = self.receiver(problem(503, retry_after="60"))
        client = self.client(receiver)
        client.start("job")
        self.assertTrue(client.flush(timeout=1.5))
        self.assertEqual(len(receiver.batches), 2)

    def test_what_is_dropped_has_the_fault_of_the_last_attempt(self):
        receiver = self.receiver(always=problem(503))
        client = self.client(receiver, max_bytes=200)
        client.start("job")
        client.flush(0.05)
        client.exception("x" * 200, "job")
        receiver.close()
        client.flush(0.5)
        client.exception("x" * 200, "job")
        full = "too many events are waiting"
        self.assertEqual(
            [reason for _, reason in self.drops], [f"{full}: the server answered 503: not now", f"{full}: connection refused"]
        )

    def test_an_event_that_is_no_json_is_reported_as_dropped(self):
        client = self.client(self.receiver())
        client.metrics({"a": object()}, "job")
        self.assertEqual([kind for kind, _ in self.drops], ["metrics"])
        self.assertFalse(client.flush())

    def test_other_refusals_drop_the_batch_and_say_why(self):
        for status in (301, 400, 401, 403, 404, 413, 422):
            receiver = self.receiver(problem(status, location="/elsewhere"))
            client = self.client(receiver)
            client.start("job")
            self.assertFalse(client.flush())
            self.assertTrue(client.flush())  # it has told
            self.assertEqual(self.drops, [("start", f"the server answered {status}: not now")])
            self.assertEqual(len(receiver.batches), 1)

    def test_of_a_batch_accepted_in_part_each_event_goes_its_own_way(self):
        items = [
            {"at": "x"},
            {"status": 422, "detail": "wrong", "errors": [{"pointer": "/1/uid", "detail": "may not"}]},
            {"status": 503, "detail": "full"},
        ]
        receiver = self.receiver((207, {}, {"items": items}))
        client = self.client(receiver)
        for process in "abc":
            client.start(process)
        self.assertFalse(client.flush(20))
        self.assertEqual([event["process"] for event in receiver.events()], ["a", "b", "c", "c"])
        self.assertEqual(self.drops, [("start", "the server answered 422: wrong; uid may not")])

    def test_memory_is_bounded(self):
        receiver = self.receiver(always=problem(503))
        client = self.client(receiver, max_bytes=10_000)
        for i in range(1000):
            client.metrics({"i": i}, "job")
        self.assertGreater(len(self.drops), 800)
        self.assertEqual(self.drops[0], ("metrics", "too many events are waiting"))
        receiver.always = None
        self.assertFalse(client.flush(20))
        self.assertEqual(len(receiver.distinct()) + len(self.drops), 1000)

    def test_the_key_is_in_its_header_and_nowhere_else(self):
        receiver = self.receiver()
        client = self.client(receiver, service="other")
        client.start("job")
        client.flush()
        self.assertEqual(receiver.headers[0]["x-other-api-key"], "secret-key")
        self.assertNotIn("secret-key", json.dumps(receiver.events()))

    def test_without_a_key_nothing_is_sent(self):
        receiver = self.receiver()
        with contextlib.redirect_stderr(io.StringIO()) as said:
            client = stint.Stint(receiver.url, "")
            with client.run("job"):
                pass
            self.assertFalse(client.flush())
        self.assertEqual(said.getvalue(), "stint: STINT_API_KEY is not set; nothing is sent\n")
        self.assertEqual(receiver.batches, [])

    def test_a_child_of_a_fork_sends_its_own_events_and_no_other(self):
        receiver = self.receiver()
        client = self.client(receiver, exit_wait_ms=20_000)
        client.start("parent")
        context = multiprocessing.get_context("fork")
        children = [context.Process(target=client.start, args=(f"child {i}",)) for i in range(4)]
        for child in children:
            child.start()
            self.addCleanup(child.kill)
        for child in children:
            child.join(20)
            self.assertEqual(child.exitcode, 0)
        client.flush()
        self.assertEqual(
            sorted(event["process"] for event in receiver.events()), ["child 0", "child 1", "child 2", "child 3", "parent"]
        )

    def test_a_fork_while_threads_send_never_hangs(self):
        receiver = self.receiver()
        client = self.client(receiver, flush_ms=1, exit_wait_ms=20_000)
        stop = threading.Event()

        def busy():
            while not stop.is_set():
                client.metrics({"a": 1}, "busy")

        threads = [threading.Thread(target=busy) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            context = multiprocessing.get_context("fork")
            for i in range(10):
                child = context.Process(target=client.start, args=(f"child {i}",))
                child.start()
                self.addCleanup(child.kill)
                child.join(20)
                self.assertEqual(child.exitcode, 0)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        children = {event["process"] for event in receiver.events()} - {"busy"}
        self.assertEqual(children, {f"child {i}" for i in range(10)})


# A busy machine may need longer than two seconds.
PATIENTLY = "import stint\nstint._shared = stint.Stint(exit_wait_ms=20_000)\n"


class ExitTest(ClientTest):
    def script(self, code, receiver, **env):
        return subprocess.Popen(
            [sys.executable, "-c", PATIENTLY + code],
            env={**os.environ, "STINT_URL": receiver.url, "STINT_API_KEY": "k", "STINT_BACKLOG": "0", **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def ends(self, process, code):
        output, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, code, output)
        return output

    def test_everything_is_sent_before_a_process_ends(self):
        receiver = self.receiver()
        self.ends(self.script("import stint\nwith stint.run('job'): stint.metrics({'a': 1})", receiver), 0)
        self.assertEqual(kinds(receiver.events()), ["start", "metrics", "end"])

    def test_a_forked_child_does_not_touch_the_runs_of_its_parent(self):
        scripts = []
        for leave in ("sys.exit(3)", "raise OSError('child')", "stint.exception('child')", "run.end()", "run.fail('x')"):
            receiver = self.receiver()
            code = (
                "import os, stint, sys\n"
                "with stint.run('parent') as run:\n"
                "    child = os.fork()\n"
                "    if child == 0:\n"
                f"        {leave}\n"
                "        run.metrics({'a': 1})\n"
                "        stint.start('child')\n"
                "        sys.exit()\n"
                "    os.waitpid(child, 0)\n"
                "    run.metrics({'b': 2})"
            )
            scripts.append((leave, receiver, self.script(code, receiver)))
        for leave, receiver, script in scripts:
            self.ends(script, 0)
            events = sorted(receiver.events(), key=lambda event: event["at"])
            own = [event for event in events if event["process"] == "parent"]
            self.assertEqual(kinds(own), ["start", "metrics", "end"], leave)
            self.assertEqual(own[1]["items"], {"b": 2})
            self.assertNotIn("failed", own[2])

    def test_the_end_of_the_process_ends_runs_of_begin_as_failed(self):
        for leave, code, words in (
            ("1 / 0", 1, "ZeroDivisionError"),
            ("sys.exit(3)", 3, "the process ended in the middle of this run"),
            ("os.kill(os.getpid(), 15)", -15, "the process was ended by SIGTERM in the middle of this run"),
        ):
            receiver = self.receiver()
            begin = "import os, stint, sys\ndef main():\n    run = stint.begin('job')\n"
            self.ends(self.script(f"{begin}    {leave}\nmain()", receiver), code)
            events = sorted(receiver.events(), key=lambda event: event["at"])
            self.assertEqual(kinds(events), ["start", "exception", "end"], leave)
            self.assertIn(words, events[1]["exception"])
            self.assertTrue(events[2]["failed"])

    def test_an_error_nobody_catches_ends_it_as_without_the_client(self):
        receiver = self.receiver()
        output = self.ends(self.script("import stint\nwith stint.run('job'): 1 / 0", receiver), 1)
        self.assertIn("ZeroDivisionError", output)
        self.assertTrue(receiver.events()[-1]["failed"])

    def test_a_first_event_at_the_very_end_hangs_nothing_and_prints_nothing(self):
        code = "import atexit, stint\natexit.register(lambda: stint.start('late'))"
        self.assertEqual(self.ends(self.script(code, self.receiver()), 0), "")

    def test_events_of_handlers_at_exit_are_sent(self):
        receiver = self.receiver()
        code = "import atexit, stint\nstint.start('early')\natexit.register(lambda: stint.end('early'))"
        self.ends(self.script(code, receiver), 0)
        self.assertEqual(kinds(receiver.events()), ["start", "end"])

    def test_sigterm_sends_the_last_events_and_ends_by_the_signal(self):
        receiver = self.receiver()
        process = self.script("import stint, time\nstint.start('job')\nprint('ready', flush=True)\ntime.sleep(60)", receiver)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.terminate()
        self.ends(process, -signal.SIGTERM)
        self.assertEqual(kinds(receiver.events()), ["start"])

    def test_who_handles_sigterm_decides(self):
        receiver = self.receiver()
        code = (
            "import signal, stint, sys, time\n"
            "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
            "stint.start('job')\nprint('ready', flush=True)\ntime.sleep(60)"
        )
        process = self.script(code, receiver)
        process.stdout.readline()
        process.terminate()
        self.ends(process, 7)
        self.assertEqual(kinds(receiver.events()), ["start"])

    def test_the_end_reports_how_many_events_were_refused(self):
        code = "import stint\nfor _ in range(3): stint.start('job')"
        output = self.ends(self.script(code, self.receiver(always=(401, {}, {"title": "no key"}))), 0)
        counts = re.findall(r"(\d+) events? dropped: the server answered 401: no key\n", output)
        self.assertEqual(sum(map(int, counts)), 3, output)
        self.assertLessEqual(len(counts), 2, output)  # the first one may be refused before the end begins

    def test_an_event_of_a_finalizer_at_the_very_end_is_reported_and_hangs_nothing(self):
        for first in ("", "stint.start('early')\n"):
            code = f"import stint, threading\n{first}{FINALIZER}"
            receiver = self.receiver()
            output = self.ends(self.script(code, receiver), 0)
            self.assertEqual(output, "stint: 1 event dropped: the interpreter shuts down\n")
            self.assertEqual(kinds(receiver.events()), ["start"] if first else [])

    def test_an_event_of_a_finalizer_stays_in_the_backlog(self):
        with tempfile.TemporaryDirectory() as backlog:
            head = f"stint._shared = stint.Stint(backlog={backlog!r})\n"
            self.assertEqual(self.ends(self.script(f"{head}import stint\n{FINALIZER}", self.receiver()), 0), "")
            (path,) = whole_files(backlog)
            with open(path, encoding="utf-8") as file:
                self.assertEqual([event["process"] for event in json.load(file)], ["late"])

    def test_an_event_of_a_handler_that_was_registered_before_the_import_is_sent(self):
        receiver = self.receiver()
        code = (
            "import atexit, sys\n"
            "atexit.register(lambda: sys.modules['stint'].end('first'))\n"
            f"{PATIENTLY}"
            "stint.start('first')\n"
        )
        process = subprocess.Popen(
            [sys.executable, "-c", code],
            env={**os.environ, "STINT_URL": receiver.url, "STINT_API_KEY": "k"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.assertEqual(self.ends(process, 0), "")
        self.assertEqual(kinds(receiver.events()), ["start", "end"])

    def test_sigterm_sends_the_events_of_threads(self):
        receiver = self.receiver()
        code = (
            "import stint, threading, time\n"
            "def work():\n"
            "    with stint.run('job'):\n"
            "        print('ready', flush=True)\n"
            "        time.sleep(60)\n"
            "threading.Thread(target=work, daemon=True).start()\n"
            "time.sleep(60)"
        )
        process = self.script(code, receiver)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.terminate()
        self.ends(process, -signal.SIGTERM)
        start, report, end = receiver.events()
        self.assertEqual(kinds([start, report, end]), ["start", "exception", "end"])
        self.assertEqual(report["exception"], "the process was ended by SIGTERM in the middle of this run")
        self.assertTrue(end["failed"])

    def test_a_server_that_never_answers_delays_the_end_by_exit_wait_ms_at_most(self):
        silent = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)  # it listens, and accepts nothing
        self.addCleanup(silent.server_close)
        code = f"import stint\nclient = stint.Stint('http://127.0.0.1:{silent.server_port}', 'k', exit_wait_ms=200)\n"
        began = time.monotonic()
        output = self.ends(self.script(code + "client.start('job')\nclient.end('job')", self.receiver()), 0)
        self.assertLess(time.monotonic() - began, 8)
        reason = "not confirmed before the process ended, it may be stored"
        self.assertEqual(output, f"stint: 2 events {reason}\n")
        told = code.replace("exit_wait_ms", "on_drop=lambda event, reason: print(event['kind']), exit_wait_ms")
        self.assertEqual(self.ends(self.script(told + "client.start('job')", self.receiver()), 0), "start\n")
        with tempfile.TemporaryDirectory() as backlog:
            keep = code.replace("exit_wait_ms", f"backlog={backlog!r}, exit_wait_ms")
            self.assertEqual(self.ends(self.script(keep + "client.start('job')", self.receiver()), 0), "")

    def test_a_forked_child_does_not_report_the_drops_of_its_parent(self):
        code = (
            "import os, stint, sys\n"
            "client = stint.Stint('http://127.0.0.1:1', 'k', max_bytes=1, exit_wait_ms=1)\n"
            "for _ in range(3): client.start('parent')\n"
            "if os.fork() == 0:\n"
            "    client._max_bytes = 1000\n"
            "    client.start('child')\n"
            "    sys.exit()\n"
            "os.wait()\n"
            "os._exit(0)"
        )
        output = self.ends(self.script(code, self.receiver()), 0)
        self.assertNotIn("2 events", output)

    def test_an_answer_that_comes_after_the_event_was_given_up_reports_it_no_second_time(self):
        code = (
            "import stint, threading, time\n"
            "told, answered = [], threading.Event()\n"
            "client = stint.Stint(on_drop=lambda event, reason: told.append(reason), exit_wait_ms=1, flush_ms=1)\n"
            "client._post = lambda *_: (answered.wait(20), (422, 0, '{}', None))[1]\n"
            "client.start('a')\n"
            "time.sleep(0.2)\n"
            "client._leave()\n"
            "answered.set()\n"
            "client._thread.join(0.5)\n"
            "print(told)"
        )
        reason = "not confirmed before the process ended, it may be stored"
        self.assertEqual(self.ends(self.script(code, self.receiver()), 0), f"['{reason}']\n")


class Forwarder:
    """A server on a port of the test's choice that hands batches to the real Stint: what is there before and after a restart."""

    def __init__(self, port):
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name: self.headers[name] for name in ("x-stint-api-key", "content-type", "content-encoding")}
                request = urllib.request.Request(os.environ["STINT_TEST_URL"] + self.path, body, headers)
                with urllib.request.urlopen(request, timeout=20) as answer:
                    text = answer.read()
                self.send_response(201)
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class RestartTest(RealTest):
    """A process that ends while Stint is away, with the settings that nobody sets."""

    def setUp(self):
        super().setUp()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.home = tempfile.TemporaryDirectory()
        self.addCleanup(self.home.cleanup)

    def script(self, code, **env):
        url = f"http://127.0.0.1:{self.port}"
        key = os.environ["STINT_TEST_KEY"]
        return subprocess.Popen(
            [sys.executable, "-c", "import stint\n" + code],
            env={**os.environ, "STINT_URL": url, "STINT_API_KEY": key, "XDG_STATE_HOME": self.home.name, **env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def kept(self):
        return whole_files(self.home.name)

    def test_a_restart_is_waited_for(self):
        process = self.script(f"with stint.run({self.named('job')!r}): print('ready', flush=True)")
        self.assertEqual(process.stdout.readline(), "ready\n")
        time.sleep(4)  # longer than the wait for a silent Stint
        with Forwarder(self.port):
            output, _ = process.communicate(timeout=30)
        self.assertEqual((process.returncode, output), (0, ""))
        self.assertEqual(self.kept(), [])
        self.expect(self.states("job"), [("completed", 0)])

    def test_what_is_not_confirmed_is_kept_and_sent_by_the_next_process(self):
        code = f"stint._shared = stint.Stint(exit_wait_ms=200)\nwith stint.run({self.named('gone')!r}): pass"
        output, _ = self.script(code).communicate(timeout=30)
        said = "stint: 2 events not confirmed before the process ended, it may be stored: connection refused; kept, sent later\n"
        self.assertEqual(output, said)
        (path,) = self.kept()
        self.assertEqual((os.stat(path).st_mode & 0o777, os.stat(os.path.dirname(path)).st_mode & 0o777), (0o600, 0o700))
        with Forwarder(self.port):
            output, _ = self.script(f"with stint.run({self.named('next')!r}): pass\nstint.flush()\nstint.flush()").communicate(timeout=30)
        self.assertEqual((output, self.kept()), ("", []))
        self.expect(self.states("gone"), [("completed", 0)])
        self.expect(self.states("next"), [("completed", 0)])

    def test_on_drop_hears_whether_it_is_kept(self):
        code = (
            "tell = lambda event, reason: print(event['kind'], reason.reason, reason.kept)\n"
            "stint._shared = stint.Stint(exit_wait_ms=200, on_drop=tell)\n"
            "stint.start('job')"
        )
        self.assertEqual(self.script(code).communicate(timeout=30)[0], "start unconfirmed True\n")
        self.assertEqual(self.script(code, STINT_BACKLOG="0").communicate(timeout=30)[0], "start unconfirmed False\n")

    def test_without_stint_for_long_what_waits_is_kept_until_it_is_stored(self):
        client = stint.Stint(f"http://127.0.0.1:{self.port}", os.environ["STINT_TEST_KEY"], flush_ms=1, exit_wait_ms=1)
        client._homes = [(self.home.name, False)]
        client._reset()
        client._keep_after_s = 0.3
        client.start(self.named("long"), uid="u")
        self.until(self.kept)
        client.end(self.named("long"), uid="u")
        with Forwarder(self.port):
            self.assertTrue(client.flush(20))
        self.until(lambda: self.kept() == [])
        self.expect(self.states("long"), [("completed", 0)])


class BacklogTest(ClientTest):
    def crash(self, backlog, receiver, count):
        code = (
            "import os, stint\n"
            f"c = stint.Stint(flush_ms=60_000, backlog={backlog!r})\n"
            f"for i in range(1, {count}): c.metrics({{'i': i}}, 'killed')\n"
            "c.end('killed', failed=True)\n"
            "os.kill(os.getpid(), 9)"
        )
        env = {**os.environ, "STINT_URL": receiver.url, "STINT_API_KEY": "secret-key"}
        subprocess.run([sys.executable, "-c", code], env=env, timeout=30)

    def test_the_next_process_sends_what_a_killed_one_left(self):
        receiver = self.receiver()
        with tempfile.TemporaryDirectory() as backlog:
            self.crash(backlog, receiver, 100)
            self.assertEqual(receiver.batches, [])
            age(backlog)
            client = self.client(receiver, backlog=backlog)
            client.start("next")
            self.until(lambda: len(receiver.distinct()) == 101)
            self.until(lambda: whole_files(backlog) == [])
            self.assertEqual(len(receiver.events()), 101)
            client._leave()
            self.assertEqual([names for _, _, names in os.walk(backlog) if names], [])
            self.assertIn(True, [event.get("failed") for event in receiver.events()])

    def test_events_beyond_the_memory_wait_on_the_disk(self):
        receiver = self.receiver(always=problem(503))
        with tempfile.TemporaryDirectory() as backlog:
            client = self.client(receiver, backlog=backlog, max_bytes=5_000)
            for i in range(5_000):
                client.metrics({"i": i}, "many")
            receiver.always = None
            client.flush(20)
            self.until(lambda: len(receiver.distinct()) == 5_000)
            self.assertEqual(self.drops, [])
            client._leave()

    def test_a_refused_key_loses_nothing(self):
        receiver = self.receiver(always=problem(401))
        with tempfile.TemporaryDirectory() as backlog:
            client = self.client(receiver, backlog=backlog)
            client.start("job")
            self.assertFalse(client.flush(0.1))
            receiver.always = None
            self.assertTrue(client.flush(20))
            self.assertEqual(self.drops, [])
            client._leave()

    def test_a_file_is_the_body_of_a_batch_in_a_directory_that_is_named_by_address_and_key(self):
        receiver = self.receiver(always=problem(503))
        with tempfile.TemporaryDirectory() as backlog:
            client = self.client(receiver, backlog=backlog)
            client.start("job", uid="u")
            self.assertFalse(client.flush(0.2))
            name = hashlib.sha256(f"{receiver.url}\nsecret-key".encode()).hexdigest()[:16]
            self.until(lambda: whole_files(backlog))
            (path,) = whole_files(backlog)
            self.assertEqual(os.path.dirname(path), os.path.join(backlog, name))
            self.assertEqual(os.stat(os.path.dirname(path)).st_mode & 0o777, 0o700)
            with open(path, encoding="utf-8") as file:
                (event,) = json.load(file)
            self.assertEqual((event["kind"], event["process"], event["uid"]), ("start", "job", "u"))
            receiver.always = None
            self.assertTrue(client.flush(20))
            self.assertEqual(whole_files(backlog), [])
            client._leave()

    def test_what_others_kept_is_sent_and_what_is_refused_stays_in_a_directory_of_its_own(self):
        receiver = self.receiver()
        with tempfile.TemporaryDirectory() as backlog:
            directory = os.path.join(backlog, hashlib.sha256(f"{receiver.url}\nsecret-key".encode()).hexdigest()[:16])
            os.mkdir(directory)
            for name, text in (("b.json", '[{"kind":"end","process":"sh"}]'), ("c.json", "torn")):
                with open(os.path.join(directory, name), "w", encoding="utf-8") as file:
                    file.write(text)
            receiver.answers = [(201, {}, {}), problem(422)]
            client = self.client(receiver, backlog=backlog)
            client.start("mine")
            self.until(lambda: len(receiver.events()) == 2)
            self.assertEqual(receiver.events()[1], {"kind": "end", "process": "sh"})
            refused = os.path.join(directory, "refused")
            self.until(lambda: os.path.isdir(refused) and len(os.listdir(refused)) == 2)
            self.until(lambda: whole_files(backlog) == [])
            client._leave()

    def test_the_oldest_files_go_when_there_is_no_room(self):
        with tempfile.TemporaryDirectory() as backlog:
            said = []
            made = stint._Backlog([(backlog, False)], "http://stint", "k", said.append)
            made.MAX_BYTES = 3 * made.BLOCK_BYTES
            for i in range(4):
                made.keep(f'{{"i":{i}}}', False)
                made.close()
                os.utime(whole_files(backlog)[-1], (i, i))
            kept = [json.load(open(path, encoding="utf-8")) for path in whole_files(backlog)]
            self.assertEqual(kept, [[{"i": 1}], [{"i": 2}], [{"i": 3}]])
            self.assertEqual(said, ["removed the oldest 1 files of the backlog to make room"])

    def test_without_a_home_that_can_be_written_the_directory_is_among_the_temporary_files(self):
        with tempfile.TemporaryDirectory() as temporary, contextlib.ExitStack() as stack:
            for name, value in (("XDG_STATE_HOME", "/proc/nowhere"), ("TMPDIR", temporary)):
                before = os.environ.get(name)
                os.environ[name] = value
                stack.callback(os.environ.pop if before is None else os.environ.__setitem__, name, before)
            client = stint.Stint("http://127.0.0.1:1", "k", backlog=True, exit_wait_ms=1)
            client.start("job")
            client.flush(0.1)
            client._leave()
            mine = os.path.join(temporary, f"stint-{os.getuid()}")
            self.assertEqual(os.stat(mine).st_mode & 0o777, 0o700)
            self.assertEqual(len(whole_files(mine)), 1)


class ClockTest(ClientTest):
    """The server refuses what is more than five minutes ahead or seven days old, by its own clock."""

    def refuse(self, receiver, now):
        def is_bad(event):
            us = stint._parse_us(event["at"]) / 1_000_000
            return us > now + 300 or us < now - 7 * 86_400

        class Answers(list):
            def pop(self, _):
                events = json.loads(gzip.decompress(receiver.batches[-1]))
                bad = [i for i, event in enumerate(events) if is_bad(event)]
                errors = [{"pointer": f"/{i}/at", "detail": "is wrong"} for i in bad]
                items = [{"status": 422, "errors": [e for e in errors if e["pointer"] == f"/{i}/at"]} if i in bad else {"at": "x"} for i in range(len(events))]
                status = 201 if not bad else 422 if len(bad) == len(events) else 207
                return status, {"date": email.utils.formatdate(now, usegmt=True)}, {"errors": errors, "items": items}

            def __bool__(self):
                return True

        receiver.answers = Answers()

    def test_events_of_a_wrong_clock_are_sent_again_with_corrected_times(self):
        for ahead_s, words in ((600, "10 minutes ahead of"), (-8 * 86_400, "8 days behind")):
            receiver = self.receiver()
            now = time.time() - ahead_s
            self.refuse(receiver, now)
            client = self.client(receiver)
            with contextlib.redirect_stderr(io.StringIO()) as said:
                with contextlib.suppress(ValueError), client.run("job"):
                    raise ValueError("bad")
                self.assertTrue(client.flush(20))
                client.start("another")
                self.assertTrue(client.flush(20))
            self.assertEqual(self.drops, [])
            self.assertEqual(said.getvalue(), f"stint: this host's clock is {words} Stint's; times are corrected\n")
            stored = [event for event in receiver.events() if abs(stint._parse_us(event["at"]) / 1e6 - now) < 30]
            self.assertEqual(kinds(stored), ["start", "exception", "end", "start"])
            self.assertEqual(sorted(event["at"] for event in stored), [event["at"] for event in stored])

    def test_a_time_that_is_refused_although_the_clock_is_right_is_dropped(self):
        receiver = self.receiver((422, {}, {"errors": [{"pointer": "/0/at", "detail": "is wrong"}]}))
        client = self.client(receiver)
        client.start("job")
        self.assertFalse(client.flush(20))
        self.assertEqual(len(receiver.batches), 1)


class LoggingExampleTest(RealTest):
    def test_a_handler_reports_errors_of_logging(self):
        client = self.stint

        class StintHandler(logging.Handler):
            def emit(self, record):
                client.exception(record.exc_info[1] if record.exc_info else record.getMessage(), process=record.name)

        log = logging.getLogger(self.named("log"))
        log.propagate = False
        log.addHandler(StintHandler(level=logging.ERROR))
        log.warning("not this")
        log.error("disk %s is full", "sda")
        try:
            1 / 0
        except ZeroDivisionError:
            log.exception("with a traceback")
        last = lambda: [row["exception"].split("\n")[-1] for row in self.ask("exceptions", "log")]
        self.expect(last, ["disk sda is full", "ZeroDivisionError: division by zero"])


if __name__ == "__main__":
    unittest.main()
