"""Times runs of your code and sends marks, metrics and exceptions to Stint in the background.

    import stint

    with stint.run("nightly import", meta="eu") as run:
        run.metrics({"rows": load()})

Settings come from STINT_URL and STINT_API_KEY (or STINT_API_KEY_FILE), STINT_SERVICE and STINT_BACKLOG, or from the
arguments of `Stint`. Nothing here raises into the caller or makes it wait: what cannot be sent is retried, kept within
bounds, and reported through `on_drop` when it is given up. One file, the standard library only, Python 3.9 and later;
safe in threads and across forks.
"""

from __future__ import annotations

import atexit
import contextlib
import contextvars
import functools
import gzip
import http.client
import inspect
import json
import os
import random
import re
import signal
import socket
import ssl
import struct
import sys
import threading
import time
import traceback
import urllib.error
import urllib.request
import uuid
import weakref
from typing import Any, Callable, Iterator, Mapping, TypeVar, overload

__version__ = "1.1.0"
__all__ = ["Run", "Stint", "begin", "end", "exception", "flush", "metrics", "run", "start", "timed"]

BATCH_EVENTS = 1000
BATCH_CHARACTERS = 2**19
REQUEST_TIMEOUT_S = 10
FIRST_WAIT_S = 0.5
MAX_WAIT_S = 60.0
MAX_RETRY_AFTER_S = 300.0
LAST_TRY_S = 0.5  # a flush tries a last time this long before its time is over
WARN_EVERY_S = 60.0
MAX_ANSWER_BYTES = 8 * 2**20
MAX_OPEN_RUNS = 10_000  # a caller that never ends its runs must not fill the memory
MAX_PROCESS, MAX_META, MAX_EXCEPTION = 250, 500, 15_000
TOO_LATE = "the interpreter shuts down"
F = TypeVar("F", bound=Callable[..., Any])

_current: contextvars.ContextVar[Run | None] = contextvars.ContextVar("stint_run", default=None)
_clients: weakref.WeakSet[Stint] = weakref.WeakSet()
_open_runs: dict[Run, None] = {}  # those that have begun and not ended, in that order


class Run:
    """One run of the caller's code, from its start mark to its end mark; a context manager, with `async with` too.

    An exception that leaves the block is reported, marks the run as failed, and is raised on.
    """

    def __init__(self, client: Stint, process: str, meta: str | None, uid: str | None) -> None:
        self.process = process
        self.meta = meta
        self.uid = uid or str(uuid.uuid4())
        self._client = client
        self._pid = os.getpid()
        self._reported: BaseException | None = None
        self._is_over = False
        self._token: contextvars.Token[Run | None] | None = None

    def _is_inherited(self) -> bool:
        """In the child of a fork: the run is its parent's, which alone sends its events and its end."""
        return self._pid != os.getpid()

    def metrics(self, items: Mapping[str, float]) -> None:
        if self._is_inherited():
            return
        self._client.metrics(items, self.process, self.meta, self.uid)

    def exception(self, error: BaseException | str) -> None:
        """Reports an exception of this run; the run continues."""
        if error is self._reported or self._is_inherited():
            return
        if isinstance(error, BaseException):
            self._reported = error
        self._client.exception(error, self.process, self.meta, self.uid)

    def fail(self, error: BaseException | str | None = None) -> None:
        """Ends the run as failed, with the exception when one is given."""
        if error is not None and not self._is_over:
            self.exception(error)
        self._finish(True)

    def end(self) -> None:
        """Ends the run. Only the first end counts."""
        self._finish(False)

    def _finish(self, failed: bool) -> None:
        if not self._is_over and not self._is_inherited():
            self._is_over = True
            self._reported = None  # its traceback holds the frames of the caller
            _open_runs.pop(self, None)
            self._client.end(self.process, self.meta, self.uid, failed)

    def _begin(self) -> Run:
        self._pid = os.getpid()
        _open_runs[self] = None
        if len(_open_runs) > MAX_OPEN_RUNS:
            with contextlib.suppress(RuntimeError):  # another thread begins a run, and takes one away
                _open_runs.pop(next(iter(_open_runs), self), None)
        self._client.start(self.process, self.meta, self.uid)
        return self

    def _leave(self, error: BaseException | None) -> None:
        if error is None or _is_success(error):
            self.end()
        else:
            self.fail(error)

    def __enter__(self) -> Run:
        self._token = _current.set(self)
        return self._begin()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if self._token is not None:
            try:
                _current.reset(self._token)
            except ValueError:
                pass  # left in another context than it was entered in
        self._leave(error)

    async def __aenter__(self) -> Run:
        return self.__enter__()

    async def __aexit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        self.__exit__(kind, error, trace)


def _is_success(error: BaseException) -> bool:
    if isinstance(error, SystemExit):
        return error.code in (None, 0)
    return isinstance(error, GeneratorExit)


class Stint:
    """A client with settings of its own; missing ones come from the environment. Use one per process.

    backlog: directory that keeps events until the server has them, so that they survive a crash; True is the one that
    `stint flush` reads. on_drop: called with the event (a dict) and the reason for each event that is given up; by
    default stderr shows how many and why, at most once a minute. flush_ms: how long an event may wait for others to
    share its request. max_bytes: limit of what waits in memory. exit_wait_ms: how long the exit of the process may wait
    for the last events.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        service: str | None = None,
        backlog: str | bool | None = None,
        on_drop: Callable[[dict[str, Any], str], None] | None = None,
        flush_ms: float = 1000,
        max_bytes: int = 4 * 2**20,
        exit_wait_ms: float = 2000,
    ) -> None:
        self._on_drop = on_drop
        self._flush_s = flush_ms / 1000
        self._max_bytes = max_bytes
        self._exit_wait_s = exit_wait_ms / 1000
        self._fault, self._url, self._headers, self._backlog_dir = _read_settings(url, key, service, backlog)
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._reset()
        _clients.add(self)

    def _reset(self) -> None:
        """Also in the child of a fork: what its parent had in memory, the parent sends."""
        self._cond = threading.Condition(threading.RLock())  # reentrant, as a signal handler may flush
        self._waiting: list[tuple[str, _Segment | None]] = []
        self._in_hand: list[tuple[str, _Segment | None]] = []
        self._bytes = self._added = self._settled = 0
        self._is_hurried = False
        self._hurry_until = float("-inf")  # somebody waits in `flush` until then
        self._tries = 0
        self._last_fault = ""  # of the last attempt
        self._exit_left_s = self._exit_wait_s
        self._thread: threading.Thread | None = None
        self._times = _Times()
        self._report = _Report(self._on_drop)
        directory = self._backlog_dir
        self._backlog = None if directory is None else _Backlog(directory, self._url, self._report.warn)

    # -- what callers use

    def run(self, process: str, meta: str | None = None, uid: str | None = None) -> Run:
        """`with stint.run("import"):` sends a start, an end, and the exception of a failure."""
        return Run(self, process, meta, uid)

    def begin(self, process: str, meta: str | None = None, uid: str | None = None) -> Run:
        """Starts a run at once, which ends by `end()` or `fail()`."""
        return Run(self, process, meta, uid)._begin()

    @overload
    def timed(self, process: F) -> F: ...
    @overload
    def timed(self, process: str | None = None, meta: str | None = None) -> Callable[[F], F]: ...
    def timed(self, process: Any = None, meta: str | None = None) -> Any:
        """Decorator: each call of a function, coroutine or (asynchronous) generator is a run.

        The process is its qualified name by default.
        """
        if callable(process):
            return _decorate(process, lambda: self, None, None)
        return lambda function: _decorate(function, lambda: self, process, meta)

    def start(self, process: str, meta: str | None = None, uid: str | None = None) -> None:
        self._send("start", process, meta, uid)

    def end(self, process: str, meta: str | None = None, uid: str | None = None, failed: bool = False) -> None:
        self._send("end", process, meta, uid, **({"failed": True} if failed else {}))

    def metrics(
        self,
        items: Mapping[str, float],
        process: str | None = None,
        meta: str | None = None,
        uid: str | None = None,
    ) -> None:
        """Up to 50 numbers by name. Inside a run, process, meta and uid are the run's."""
        self._send("metrics", *_subject(process, meta, uid), items=items)

    def exception(
        self,
        error: BaseException | str,
        process: str | None = None,
        meta: str | None = None,
        uid: str | None = None,
    ) -> None:
        """An exception with its traceback, or any text. Inside a run, process, meta and uid are the run's."""
        self._send("exception", *_subject(process, meta, uid), exception=error)

    def flush(self, timeout: float = 5.0) -> bool:
        """Sends at once; returns whether all events so far were settled within the timeout, in seconds."""
        with self._cond:
            up_to = self._added
            if self._settled >= up_to:
                return True
            until = time.monotonic() + timeout
            self._hurry_until = max(self._hurry_until, until)
            self._hurry()
            if self._ensure_thread():
                return self._cond.wait_for(lambda: self._settled >= up_to, timeout)
        return self._deliver_here(up_to, until)

    def _hurry(self) -> None:
        with self._cond:
            self._is_hurried = True
            self._tries = 0
            self._cond.notify_all()

    # -- from the caller to the queue

    def _send(self, kind: str, process: str | None, meta: str | None, uid: str | None, **rest: Any) -> None:
        fields: dict[str, Any] = {}
        try:
            if self._fault is not None:
                return self._report.warn(f"{self._fault}; nothing is sent")
            given = {"process": _fit(process, MAX_PROCESS), "meta": _fit(meta, MAX_META), "uid": uid}
            fields = {name: value for name, value in given.items() if value is not None}
            if "exception" in rest:
                rest["exception"] = _describe(rest["exception"])
            elif "items" in rest:
                rest["items"] = dict(rest["items"])
            if not fields.get("process"):
                return self._report.drop({"kind": kind, **fields, **rest}, "it has no process")
            if not self._cond.acquire(blocking=not _is_finalizing()):  # a thread that no longer runs may hold it
                return self._report.drop({"kind": kind, **fields, **rest}, TOO_LATE)
            try:
                self._add(kind, {**fields, "at": self._times.next(), **rest})
            finally:
                self._cond.release()
            if _is_leaving and not _is_finalizing():
                self._flush_at_exit()
        except Exception as error:  # noqa: BLE001 - nothing may reach the caller
            self._report.drop({"kind": kind, **fields}, f"it cannot be written as JSON: {error!r}")

    def _add(self, kind: str, fields: dict[str, Any]) -> None:
        line = _dump({"kind": kind, **fields})
        is_full = self._bytes + len(line) > self._max_bytes
        is_late = _is_finalizing()
        segment = self._backlog.keep(kind, fields, is_full) if self._backlog else None
        if is_full or is_late:
            if segment is None:
                reason = TOO_LATE if is_late else self._because("too many events are waiting")
                self._report.drop(json.loads(line), reason)
            return
        self._push(line, segment)
        if len(self._waiting) == 1 or len(self._waiting) == BATCH_EVENTS or self._bytes >= BATCH_CHARACTERS:
            self._cond.notify_all()
        self._ensure_thread()

    def _because(self, reason: str) -> str:
        return f"{reason}: {self._last_fault}" if self._last_fault else reason

    def _push(self, line: str, segment: _Segment | None) -> None:
        self._waiting.append((line, segment))
        self._bytes += len(line)
        self._added += 1

    def _ensure_thread(self) -> bool:
        """False when no thread can be started: the interpreter shuts down."""
        if self._thread is not None and self._thread.is_alive():
            return not _is_finalizing()
        if _is_leaving or _is_finalizing():
            return False  # before Python 3.12 it would wait forever for a thread to start
        try:
            thread = threading.Thread(target=self._work, name="stint", daemon=True)
            thread.start()
            _watch_exit()
            self._thread = thread
        except RuntimeError:
            return False
        return True

    # -- from the queue to the server

    def _work(self) -> None:
        while True:
            with self._cond:
                self._cond.wait_for(lambda: self._waiting)
                self._cond.wait_for(
                    lambda: self._is_hurried or len(self._waiting) >= BATCH_EVENTS or self._bytes >= BATCH_CHARACTERS,
                    self._flush_s,
                )
                self._is_hurried = False
            try:
                while self._waiting or self._adopt():
                    self._deliver()
            except Exception as error:  # noqa: BLE001 - the thread must live
                self._report.warn(f"sending failed: {error!r}")
                time.sleep(FIRST_WAIT_S)

    def _adopt(self) -> bool:
        with self._cond:
            found = self._backlog.adopt() if self._backlog else None
            for line, segment in found or ():
                self._push(line, segment)
            return found is not None

    def _take(self) -> list[tuple[str, _Segment | None]]:
        with self._cond:
            events = characters = 0
            while events < min(len(self._waiting), BATCH_EVENTS) and characters < BATCH_CHARACTERS:
                characters += len(self._waiting[events][0])
                events += 1
            taken, self._waiting = self._waiting[:events], self._waiting[events:]
            return taken

    def _deliver(self, until: float = float("inf")) -> None:
        """Sends one batch until none of it has to be sent again, or until the time is over."""
        in_hand = self._in_hand = self._take()
        body: bytes | None = None
        while in_hand:
            if body is None:
                body = gzip.compress(f"[{','.join(line for line, _ in in_hand)}]".encode(), 6, mtime=0)
            status, retry_after_s, text = self._post(body, min(REQUEST_TIMEOUT_S, until - time.monotonic()))
            if self._in_hand is not in_hand:
                return  # given up meanwhile
            self._last_fault = _fault_of(status, text)
            again = self._judge(in_hand, status, text)
            if len(again) < len(in_hand):
                left = set(map(id, again))
                self._settle([item for item in in_hand if id(item) not in left])
                in_hand = self._in_hand = again
                body, self._tries = None, 0
            if not in_hand:
                return
            wait_s = self._pause_s(retry_after_s)
            if time.monotonic() + wait_s > until:
                with self._cond:
                    self._waiting[:0] = in_hand
                    self._in_hand = []
                return
            with self._cond:
                self._cond.wait_for(lambda: self._is_hurried, wait_s)
                self._is_hurried = False

    def _pause_s(self, retry_after_s: float) -> float:
        back_off = min(MAX_WAIT_S, FIRST_WAIT_S * 2.0**self._tries) * (0.5 + random.random() / 2)
        self._tries += 1
        wait_s = max(back_off, min(retry_after_s, MAX_RETRY_AFTER_S))
        spare_s = self._hurry_until - time.monotonic() - LAST_TRY_S
        return min(wait_s, spare_s) if spare_s > 0 else wait_s

    def _deliver_here(self, up_to: int, until: float) -> bool:
        while self._settled < up_to and time.monotonic() < until:
            before = self._settled
            self._is_hurried = False
            self._deliver(until)
            if self._settled == before:
                break
        return self._settled >= up_to

    def _post(self, body: bytes, timeout_s: float) -> tuple[int, float, str]:
        """Status 0: no answer came, and the text says why."""
        request = urllib.request.Request(f"{self._url}/v1/batch", body, self._headers)
        try:
            with self._opener.open(request, timeout=max(timeout_s, 0.001)) as response:
                return response.status, 0, response.read(MAX_ANSWER_BYTES).decode(errors="replace")
        except urllib.error.HTTPError as error:
            with error:
                try:
                    retry_after_s = float(error.headers.get("retry-after", 0))
                except ValueError:
                    retry_after_s = 0
                try:
                    return error.code, retry_after_s, error.read(MAX_ANSWER_BYTES).decode(errors="replace")
                except OSError:
                    return error.code, retry_after_s, ""
        except Exception as error:  # noqa: BLE001 - all that is left are ways of having no connection
            return 0, 0, _no_answer(error)

    def _judge(self, items: list[Any], status: int, text: str) -> list[Any]:
        """Drops what the answer refuses for good and returns what must be sent again."""
        if status == 201:
            return []
        parsed = _parse(text)
        if status == 207:
            answers = parsed.get("items") or []
            again = []
            for i, item in enumerate(items):
                answer = answers[i] if i < len(answers) else {"status": 0}
                refused = answer.get("status")
                if refused is None:
                    continue
                if _is_passing(refused):
                    again.append(item)
                else:
                    self._report.drop(json.loads(item[0]), _explain(refused, answer, None))
            return again
        if _is_passing(status) or (self._backlog is not None and status not in (413, 422)):
            return items
        for i, (line, _) in enumerate(items):
            self._report.drop(json.loads(line), _explain(status, parsed, i))
        return []

    def _settle(self, items: list[tuple[str, _Segment | None]]) -> None:
        with self._cond:
            for line, segment in items:
                self._bytes -= len(line)
                if segment is not None and self._backlog is not None:
                    self._backlog.settle(segment)
            self._settled += len(items)
            self._cond.notify_all()

    # -- the end of the process

    def _flush_at_exit(self) -> None:
        """All flushes at exit together wait `exit_wait_ms` at most."""
        began = time.monotonic()
        if not self.flush(self._exit_left_s):
            self._leave()
        self._exit_left_s -= time.monotonic() - began

    def _leave(self) -> None:
        with self._cond:
            left = self._in_hand + self._waiting
            self._in_hand, self._waiting = [], []
            self._settled = self._added
        with self._report.at_once():
            for line, segment in left:
                if segment is None:
                    self._report.drop(json.loads(line), self._because("the process ended before Stint accepted it"))
        if self._backlog is not None:
            self._backlog.close()


class _Report:
    """Says what went wrong on stderr, at most once a minute. The numbers of its lines add up to the dropped events."""

    def __init__(self, on_drop: Callable[[dict[str, Any], str], None] | None) -> None:
        self._on_drop = on_drop
        self._lock = threading.RLock()  # reentrant, as a signal handler may report
        self._lines: dict[str, int | None] = {}  # how many were dropped by reason; None beside other lines
        self._printed = float("-inf")
        self._is_collecting = False

    def warn(self, text: str) -> None:
        self._add(text, None)

    def drop(self, event: dict[str, Any], reason: str) -> None:
        if self._on_drop is None:
            return self._add(reason, 1)
        try:
            self._on_drop(event, reason)
        except Exception:  # noqa: BLE001 - the caller's own fault must not end the sending
            pass

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """What is reported within, and what waits, is printed together at the end."""
        self._is_collecting = True
        yield
        self._is_collecting = False
        self._print(0)

    def _add(self, text: str, count: int | None) -> None:
        if not self._lock.acquire(blocking=not _is_finalizing()):
            return
        try:
            self._lines[text] = None if count is None else (self._lines.get(text) or 0) + count
        finally:
            self._lock.release()
        self._print(0 if _is_leaving else WARN_EVERY_S)

    def _print(self, every_s: float) -> None:
        with self._lock:
            if self._is_collecting or time.monotonic() - self._printed < every_s:
                return
            lines, self._lines = self._lines, {}
            if lines:
                self._printed = time.monotonic()
        for text, count in lines.items():
            events = "" if count is None else f"{count} event{'' if count == 1 else 's'} dropped: "
            try:
                print(f"stint: {events}{text}", file=sys.stderr)
            except Exception:  # noqa: BLE001 - stderr may be closed
                pass


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The key is for this server only."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class _Times:
    """Unique, increasing times of events in µs.

    Durations follow the monotonic clock; only a wall clock that jumps far moves the anchor.
    """

    def __init__(self) -> None:
        self._offset_us = (time.time_ns() - time.monotonic_ns()) // 1000
        self._last_us = 0

    def next(self) -> str:
        monotonic_us = time.monotonic_ns() // 1000
        jump_us = _now_us() - monotonic_us - self._offset_us
        if jump_us > 100_000 or jump_us < -60_000_000:
            self._offset_us += jump_us
            if jump_us < 0:
                self._last_us = 0
        self._last_us = us = max(self._last_us + 1, monotonic_us + self._offset_us)
        return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(us // 1_000_000))}.{us % 1_000_000:06d}Z"


class _Segment:
    """A file of events that this process owns."""

    def __init__(self, path: str, fd: int | None, size: int) -> None:
        self.path, self.fd, self.size = path, fd, size
        self.open = 0  # events in it that are not settled


class _Backlog:
    """Events in files until the server has them, in the format of `stint exec`. Invariants:

    1. an event is in a file when `keep` returns: a kill of the process does not lose it (a power cut may);
    2. a segment belongs to one process. Its name promises SEGMENT_BYTES, so that others take it for unfinished while it
       is touched; a process that finds it abandoned takes it over by renaming it, which only one can do;
    3. a segment goes when all its events are settled. An event sent twice is stored once, so any doubt is resolved by
       sending.
    """

    SEGMENT_BYTES = 2**20
    MAX_BYTES = 32 * 2**20
    TOUCH_EVERY_S = 20
    SEARCH_EVERY_S = 30
    ABANDONED_AFTER_S = 60

    def __init__(self, directory: str, url: str, warn: Callable[[str], None]) -> None:
        self._dir, self._url, self._warn = directory, url, warn
        self._url_mark, self._host = _xx_hash32(url), _xx_hash32(socket.gethostname())
        owner = r"(?:([0-9a-f]{8})-(\d+)-[0-9a-f]{8}|[0-9a-f-]+)"
        self._name = re.compile(rf"^pending-(?:metrics-)?(\d{{17}})-{self._url_mark}-(\d+)-{owner}\.jsonl$")
        self._own: dict[str, _Segment] = {}
        self._current: _Segment | None = None
        self._overflow: _Segment | None = None
        self._unread: list[_Segment] = []  # overflows, the oldest first
        self._searched = self._touched = float("-inf")

    def keep(self, kind: str, fields: Mapping[str, Any], later: bool) -> _Segment | None:
        """Writes an event to the disk; one of `later` is read back by `adopt`. None when that is not possible."""
        try:
            self._touch()
            segment = self._overflow if later else self._current
            if segment is not None and segment.size >= self.SEGMENT_BYTES:
                self._close(segment)
                segment = None
            if segment is None:
                if sum(own.size for own in self._own.values()) >= self.MAX_BYTES:
                    return None
                segment = self._create()
                if later:
                    self._overflow = segment
                    self._unread.append(segment)
                else:
                    self._current = segment
            texts = {name: value for name, value in fields.items() if name != "failed"}
            failed = {"failed": True} if "failed" in fields else {}
            line = _dump({"kind": kind, "url": self._url, "body": texts, **failed}).encode() + b"\n"
            segment.open += 1
            segment.size += len(line)
            assert segment.fd is not None
            if os.write(segment.fd, line) == len(line):
                return segment
            segment.open -= 1
            self._close(segment)  # a torn line: nothing may follow it
            self._warn("the backlog cannot be written: short write")
        except OSError as error:
            self._warn(f"the backlog cannot be written: {error.strerror}")
        return None

    def settle(self, segment: _Segment) -> None:
        segment.open -= 1
        if segment.open > 0:
            return
        try:
            if segment is self._current and segment.fd is not None:
                os.ftruncate(segment.fd, 0)
                segment.size = 0
            else:
                self._remove(segment)
        except OSError:
            pass  # it stays, and is sent again

    def adopt(self) -> list[tuple[str, _Segment]] | None:
        """Events of one segment that no other process is about to send."""
        try:
            self._touch()
            segment = self._unread.pop(0) if self._unread else self._take_over()
            if segment is None:
                return None
            self._close(segment)
            return self._load(segment)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._warn(f"the backlog cannot be read: {error.strerror}")
            return None

    def close(self) -> None:
        for segment in list(self._own.values()):
            self._close(segment)
            if segment.open == 0:
                self._remove(segment)

    def _create(self) -> _Segment:
        os.makedirs(self._dir, mode=0o700, exist_ok=True)
        path = self._new_path()
        return self._hold(path, os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600), 0)

    def _new_path(self) -> str:
        owner = f"{self._host}-{os.getpid()}-{os.urandom(4).hex()}"
        name = f"pending-metrics-{_now_us():017d}-{self._url_mark}-{self.SEGMENT_BYTES}-{owner}.jsonl"
        return os.path.join(self._dir, name)

    def _hold(self, path: str, fd: int | None, size: int) -> _Segment:
        self._own[path] = segment = _Segment(path, fd, size)
        return segment

    def _close(self, segment: _Segment) -> None:
        if segment.fd is not None:
            os.close(segment.fd)
            segment.fd = None
            if segment.open == 0:
                self._remove(segment)
        if segment is self._current:
            self._current = None
        if segment is self._overflow:
            self._overflow = None

    def _remove(self, segment: _Segment) -> None:
        self._own.pop(segment.path, None)
        try:
            os.unlink(segment.path)
        except FileNotFoundError:
            pass

    def _touch(self) -> None:
        """Shows that we are alive. A process that was taken for dead has lost the file and continues in another one."""
        if time.monotonic() - self._touched < self.TOUCH_EVERY_S:
            return
        self._touched = time.monotonic()
        for segment in list(self._own.values()):
            try:
                os.utime(segment.path)
            except OSError:
                self._own.pop(segment.path, None)
                self._close(segment)

    def _take_over(self) -> _Segment | None:
        """The first that could be taken over."""
        if time.monotonic() - self._searched < self.SEARCH_EVERY_S:
            return None
        for file in sorted(os.listdir(self._dir)):
            match = self._name.match(file)
            path = os.path.join(self._dir, file)
            if match is None or path in self._own:
                continue
            try:
                if self._is_abandoned(path, match):
                    taken = self._new_path()
                    os.rename(path, taken)
                    os.utime(taken)
                    return self._hold(taken, None, os.path.getsize(taken))
            except OSError:
                continue  # somebody else was faster
        self._searched = time.monotonic()
        return None

    def _is_abandoned(self, path: str, match: re.Match[str]) -> bool:
        """Has its process ended, or is it a complete file of `stint exec`?"""
        made_us, length, host, pid = match.groups()
        found = os.stat(path)
        if pid is None and found.st_size >= int(length):
            return True
        if time.time() - found.st_mtime > self.ABANDONED_AFTER_S:
            return True
        if host != self._host:
            return False
        if int(pid) == os.getpid():
            return int(made_us) < _LOADED_US
        try:
            os.kill(int(pid), 0)
            return False
        except ProcessLookupError:
            return True
        except OSError:
            return False

    def _load(self, segment: _Segment) -> list[tuple[str, _Segment]]:
        found = []
        unreadable = 0
        foreign = 0  # for another address whose hash is the same: they stay
        with open(segment.path, encoding="utf-8", errors="replace") as file:
            for text in file.read().split("\n"):
                if text == "":
                    continue
                try:
                    event = json.loads(text)
                    if event["url"] != self._url:
                        foreign += 1
                        continue
                    failed = {"failed": True} if event.get("failed") is True else {}
                    found.append((_dump({"kind": event["kind"], **event["body"], **failed}), segment))
                except (ValueError, KeyError, TypeError):
                    unreadable += 1  # torn by a crash: its call had not returned
        if unreadable > 0:
            self._warn(f"{unreadable} unreadable lines in a backlog file")
        segment.open = len(found) + foreign
        if segment.open == 0:
            self._remove(segment)
        return found


def _now_us() -> int:
    return time.time_ns() // 1000


_LOADED_US = _now_us()


def _read_settings(
    url: str | None, key: str | None, service: str | None, backlog: str | bool | None
) -> tuple[str | None, str, dict[str, str], str | None]:
    """The fault of the settings, or None; address, headers, directory of the backlog."""
    fault = None
    env = os.environ.get
    key = key if key is not None else env("STINT_API_KEY")
    path = env("STINT_API_KEY_FILE")
    if not key and path:
        try:
            with open(path, encoding="utf-8") as file:
                key = file.read()
        except (OSError, ValueError):
            fault = "cannot read STINT_API_KEY_FILE"
    key = (key or "").strip()
    url = (url or env("STINT_URL") or "http://127.0.0.1:7070").rstrip("/")
    service = service or env("STINT_SERVICE") or "stint"
    backlog = backlog if backlog is not None else env("STINT_BACKLOG")
    if not re.match(r"https?://[^\s?#]+$", url):
        fault = "STINT_URL is not an http address"
    elif not key:
        fault = fault or "STINT_API_KEY is not set"
    elif not re.match(r"[!-~]+$", key):
        fault = "STINT_API_KEY does not hold one key"
    elif not re.match(r"[A-Za-z0-9-]+$", service):
        fault = "STINT_SERVICE is not the name of a service"
    headers = {
        f"x-{service}-api-key": key,
        "content-type": "application/json",
        "content-encoding": "gzip",
        "user-agent": f"stint-python/{__version__}",
    }
    if backlog is True or backlog == "1":
        backlog = os.path.join(env("XDG_STATE_HOME") or os.path.expanduser("~/.local/state"), "stint")
    return fault, url, headers, str(backlog) if backlog else None


def _subject(process: str | None, meta: str | None, uid: str | None) -> tuple[str | None, str | None, str | None]:
    """A subject that names another process than the run's has nothing of the run."""
    run = _current.get()
    if run is None or run._is_inherited() or process not in (None, run.process):
        return process, meta, uid
    return run.process, run.meta if meta is None else meta, run.uid if uid is None else uid


def _fit(text: Any, limit: int) -> str | None:
    """What the server would refuse is cut: a long text is better than none. Lone surrogates are no text."""
    if not isinstance(text, str):
        return None
    return text[:limit].encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _describe(error: Any) -> str:
    """A traceback with its causes. What is too long loses its middle: the message stands at the end."""
    try:
        if isinstance(error, BaseException):
            text = "".join(traceback.format_exception(type(error), error, error.__traceback__)).rstrip()
        else:
            text = str(error)
    except Exception:  # noqa: BLE001 - __str__ may raise, too
        text = f"{type(error).__name__}, which cannot be described"
    if len(text) > MAX_EXCEPTION:
        text = f"{text[:1000]}\n...\n{text[-(MAX_EXCEPTION - 1005) :]}"
    return _fit(text, MAX_EXCEPTION) or ""


def _dump(value: Any) -> str:
    """One line of ASCII. Decimals and numbers of other libraries become floats."""
    return json.dumps(value, allow_nan=False, separators=(",", ":"), default=float)


def _parse(text: str) -> dict[str, Any]:
    try:
        parsed = json.loads(text)
        return parsed if isinstance(parsed, dict) else {}
    except ValueError:
        return {}


def _is_passing(status: int) -> bool:
    return status in (0, 408, 425, 429) or status >= 500


def _fault_of(status: int, text: str) -> str:
    """Empty for a success."""
    if status == 0:
        return text
    return "" if status in (201, 207) else _explain(status, _parse(text), None)


def _no_answer(error: Exception) -> str:
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, ConnectionRefusedError):
        return "connection refused"
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"certificate not trusted ({cause.verify_message})"
    if isinstance(cause, socket.gaierror):
        return "host name does not resolve"
    if isinstance(cause, (TimeoutError, socket.timeout)):
        return "no answer in time"
    if isinstance(cause, (ConnectionError, http.client.BadStatusLine)):
        return "connection closed without an answer"
    return f"no answer ({cause})"


def _explain(status: int, problem: Mapping[str, Any], index: int | None) -> str:
    """The server's own words; of a whole batch only those about the event at `index`."""
    faults = [
        f"{re.sub(r'^/[0-9]+/?', '', fault['pointer'])} {fault['detail']}"
        for fault in problem.get("errors") or []
        if index is None or f"{fault['pointer']}/".startswith(f"/{index}/")
    ]
    words = [word for word in (problem.get("detail") or problem.get("title"), *faults) if word]
    return f"the server answered {status}: {'; '.join(words)}"


def _xx_hash32(text: str) -> str:
    """XXH32 with seed 0, in hexadecimal (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md)."""
    mask, p1, p2, p3, p4, p5 = 0xFFFFFFFF, 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D, 0x27D4EB2F, 0x165667B1

    def rotate(x: int, bits: int) -> int:
        return (x << bits | x >> (32 - bits)) & mask

    data = text.encode()
    at, value = 0, p5
    if len(data) >= 16:
        lanes = [p1 + p2 & mask, p2, 0, -p1 & mask]
        while at + 16 <= len(data):
            words = struct.unpack_from("<4I", data, at)
            lanes = [rotate(lane + word * p2 & mask, 13) * p1 & mask for lane, word in zip(lanes, words)]
            at += 16
        value = sum(rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & mask
    value = value + len(data) & mask
    while at + 4 <= len(data):
        value = rotate(value + struct.unpack_from("<I", data, at)[0] * p3 & mask, 17) * p4 & mask
        at += 4
    for byte in data[at:]:
        value = rotate(value + byte * p5 & mask, 11) * p1 & mask
    value = (value ^ value >> 15) * p2 & mask
    value = (value ^ value >> 13) * p3 & mask
    return f"{value ^ value >> 16:08x}"


def _decorate(function: Callable[..., Any], client: Callable[[], Stint], process: str | None, meta: str | None) -> Any:
    name = process or f"{function.__module__}.{function.__qualname__}"

    def open_run() -> Run:
        return client().run(name, meta)

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def timed_coroutine(*args: Any, **named: Any) -> Any:
            with open_run():
                return await function(*args, **named)

        return timed_coroutine

    if inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def timed_generator(*args: Any, **named: Any) -> Any:
            run, steps = open_run()._begin(), function(*args, **named)
            step, value = steps.send, None
            try:
                while True:
                    token = _current.set(run)  # not while the caller's code runs between the steps
                    try:
                        item = step(value)
                    except StopIteration as stop:
                        run.end()
                        return stop.value
                    finally:
                        _current.reset(token)
                    try:
                        step, value = steps.send, (yield item)
                    except GeneratorExit:
                        steps.close()
                        raise
                    except BaseException as error:  # noqa: BLE001 - thrown into us, for the generator
                        step, value = steps.throw, error
            except BaseException as error:
                run._leave(error)
                raise

        return timed_generator

    if inspect.isasyncgenfunction(function):

        @functools.wraps(function)
        async def timed_async_generator(*args: Any, **named: Any) -> Any:
            run, steps = open_run()._begin(), function(*args, **named)
            step, value = steps.asend, None
            try:
                while True:
                    token = _current.set(run)
                    try:
                        item = await step(value)
                    except StopAsyncIteration:
                        run.end()
                        return
                    finally:
                        _current.reset(token)
                    try:
                        step, value = steps.asend, (yield item)
                    except GeneratorExit:
                        await steps.aclose()
                        raise
                    except BaseException as error:  # noqa: BLE001 - thrown into us, for the generator
                        step, value = steps.athrow, error
            except BaseException as error:
                run._leave(error)
                raise

        return timed_async_generator

    @functools.wraps(function)
    def timed_function(*args: Any, **named: Any) -> Any:
        with open_run():
            return function(*args, **named)

    return timed_function


# -- the last events of a process

_is_leaving = False
_is_watching = False
_is_watching_sigterm = False


def _is_finalizing() -> bool:
    """The interpreter takes its modules apart; other threads no longer run, and no new one would start."""
    return sys is None or sys.is_finalizing()


def _watch_exit() -> None:
    """Once per process, with its first event. A child of `multiprocessing` leaves without `atexit`."""
    global _is_watching
    _watch_sigterm()
    if _is_watching:
        return
    _is_watching = True
    processes = sys.modules.get("multiprocessing")
    if processes is not None and processes.parent_process() is not None:
        from multiprocessing import util

        util.Finalize(None, _leave_all, exitpriority=100)


def _watch_sigterm() -> None:
    """Only the main thread may, so that this is tried with the import: the first event may come from another one."""
    global _is_watching_sigterm
    if _is_watching_sigterm or threading.current_thread() is not threading.main_thread():
        return
    _is_watching_sigterm = True
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _on_sigterm)


def _leave_all() -> None:
    global _is_leaving
    error = getattr(sys, "last_value", None) or sys.exc_info()[1] or "the process ended in the middle of this run"
    for run in reversed(list(_open_runs)):
        run.fail(error)
    _is_leaving = True
    clients = list(_clients)
    for client in clients:
        client._hurry()
    began = time.monotonic()
    for client in clients:
        client._exit_left_s = client._exit_wait_s - (time.monotonic() - began)
        client._flush_at_exit()
    for client in clients:
        client._leave()


def _on_sigterm(number: int, _: Any) -> None:
    """Only where the caller does not handle the signal: sends what is left, then ends the process by it."""
    for run in reversed(list(_open_runs)):
        run.fail("the process was ended by SIGTERM in the middle of this run")
    _leave_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _after_fork() -> None:
    global _is_leaving, _is_watching, _open_runs
    _is_leaving = _is_watching = False
    _open_runs = {}
    for client in list(_clients):
        client._reset()


atexit.register(_leave_all)  # with the import, so that handlers of the caller run before it
_watch_sigterm()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


# -- the client with the settings of the environment

_shared: Stint | None = None
_shared_lock = threading.Lock()


def _client() -> Stint:
    global _shared
    with _shared_lock:
        if _shared is None:
            _shared = Stint()
        return _shared


def run(process: str, meta: str | None = None, uid: str | None = None) -> Run:
    """As `Stint.run`, with the settings of the environment; so are the others."""
    return _client().run(process, meta, uid)


def begin(process: str, meta: str | None = None, uid: str | None = None) -> Run:
    return _client().begin(process, meta, uid)


@overload
def timed(process: F) -> F: ...
@overload
def timed(process: str | None = None, meta: str | None = None) -> Callable[[F], F]: ...
def timed(process: Any = None, meta: str | None = None) -> Any:
    if callable(process):
        return _decorate(process, _client, None, None)
    return lambda function: _decorate(function, _client, process, meta)


def start(process: str, meta: str | None = None, uid: str | None = None) -> None:
    _client().start(process, meta, uid)


def end(process: str, meta: str | None = None, uid: str | None = None, failed: bool = False) -> None:
    _client().end(process, meta, uid, failed)


def metrics(
    items: Mapping[str, float], process: str | None = None, meta: str | None = None, uid: str | None = None
) -> None:
    _client().metrics(items, process, meta, uid)


def exception(
    error: BaseException | str, process: str | None = None, meta: str | None = None, uid: str | None = None
) -> None:
    _client().exception(error, process, meta, uid)


def flush(timeout: float = 5.0) -> bool:
    return _client().flush(timeout)
