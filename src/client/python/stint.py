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
import calendar
import contextlib
import contextvars
import email.utils
import functools
import gzip
import hashlib
import http.client
import inspect
import json
import os
import random
import re
import signal
import socket
import ssl
import stat
import sys
import threading
import time
import traceback
import urllib.error
import urllib.request
import uuid
import weakref
from typing import Any, Callable, Iterator, Mapping, TypeVar, overload

__version__ = "2.1.0"
__all__ = ["Run", "Stint", "Unconfirmed", "begin", "end", "exception", "flush", "metrics", "run", "start", "timed"]

BATCH_EVENTS = 1000
BATCH_CHARACTERS = 2**19
REQUEST_TIMEOUT_S = 10
FIRST_WAIT_S = 0.5
MAX_WAIT_S = 60.0
MAX_RETRY_AFTER_S = 300.0
EXIT_WAIT_S = 2.0
RESTART_WAIT_S = 15.0  # at the end of the process, while Stint refuses connections or answers 503
RESTART_PAUSE_S = 1.0
KEEP_AFTER_S = 60.0  # without Stint for so long, what waits in memory is kept
REFUSED = "connection refused"
LAST_TRY_S = 0.5  # a flush tries a last time this long before its time is over
WARN_EVERY_S = 60.0
MAX_ANSWER_BYTES = 8 * 2**20
MAX_OPEN_RUNS = 10_000  # a caller that never ends its runs must not fill the memory
MAX_PROCESS, MAX_META, MAX_EXCEPTION = 250, 500, 15_000
OUTPUT_TAIL = 4096
# The reason of what was sent, or was about to be, when the process ended: the answer is unknown.
UNCONFIRMED = "not confirmed before the process ended, it may be stored"
TOO_LATE = "the interpreter shuts down"
WRONG_CLOCK_S = 60  # a clock this far from the server's is wrong, and not only read a moment later
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
        self.uid = _uid(uid) or str(uuid.uuid4())
        self._client = client
        self._pid = os.getpid()
        self._reported: BaseException | None = None
        self._said = ""
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

    def output(self, text: str) -> None:
        """What the run has said, added to what it has said before; the last 4 kB go with its end.

        It may hold secrets.
        """
        self._said = f"{self._said}{text}"[-OUTPUT_TAIL:]

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
            self._client.end(self.process, self.meta, self.uid, failed, self._said)

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

    backlog: directory that keeps events that no answer has confirmed; True is the one that `stint flush` sends. Each call
    then writes to it, so that events survive a crash. None: they are written there at the end of the process and after
    60 s without Stint; False: never. on_drop: called with the event (a dict) and the reason for each event that is given
    up, and with an `Unconfirmed` for those without an answer at the end; by default stderr shows how many and why, at
    most once a minute. flush_ms: how long an event may wait for others to share its request. max_bytes: limit of what
    waits in memory. exit_wait_ms: how long the exit of the process may wait for the last events; else 2 s, and up to 15 s
    while Stint refuses connections or answers 503, as it does during a restart.
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
        exit_wait_ms: float | None = None,
    ) -> None:
        self._on_drop = on_drop
        self._flush_s = flush_ms / 1000
        self._max_bytes = max_bytes
        self._exit_wait_s = EXIT_WAIT_S if exit_wait_ms is None else exit_wait_ms / 1000
        self._restart_wait_s = RESTART_WAIT_S if exit_wait_ms is None else exit_wait_ms / 1000
        self._keep_after_s = KEEP_AFTER_S
        self._fault, self._url, self._key, self._headers = _read_settings(url, key, service)
        self._homes, self._keeps_each = _read_backlog(backlog)
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._reset()
        _clients.add(self)

    def _reset(self) -> None:
        """Also in the child of a fork: what its parent had in memory, the parent sends."""
        self._cond = threading.Condition(threading.RLock())  # reentrant, as a signal handler may flush
        self._waiting: list[_Item] = []
        self._in_hand: list[_Item] = []
        self._bytes = self._added = self._settled = 0
        self._dropped = self._told = 0  # events that will never be stored, and how many of them `flush` has told
        self._ahead_s: float | None = None  # of the server's clock
        self._is_hurried = False
        self._hurry_until = float("-inf")  # somebody waits in `flush` until then
        self._tries = 0
        self._last_fault = ""  # of the last attempt
        self._is_restarting = False  # it was refused a connection or answered 503
        self._restart_until = float("-inf")  # somebody waits for a restart until then
        self._keeps_now = self._keeps_each  # new events are written to the backlog, too
        self._heard = time.monotonic()  # when the server last took an event, or the first one began to wait
        self._exit_left_s, self._restart_left_s = self._exit_wait_s, self._restart_wait_s
        self._thread: threading.Thread | None = None
        self._times = _Times()
        self._report = _Report(self._on_drop)
        warn = self._report.warn
        self._backlog = _Backlog(self._homes, self._url, self._key, warn) if self._homes else None

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

    def end(
        self,
        process: str,
        meta: str | None = None,
        uid: str | None = None,
        failed: bool = False,
        output: str | None = None,
    ) -> None:
        """output: what the run has said, of which the last 4 kB are sent."""
        said = _fit(output[-OUTPUT_TAIL:], OUTPUT_TAIL) if isinstance(output, str) else None
        self._send("end", process, meta, uid, **({"failed": True} if failed else {}), **({"output": said} if said else {}))

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
        """Sends at once; returns whether all events since the last flush are stored within the timeout, in seconds.

        False if one of them was dropped.
        """
        before = self._told
        is_settled = self._settle_within(timeout)
        self._told = self._dropped
        return is_settled and self._dropped == before

    def _settle_within(self, timeout: float, restart_s: float = 0) -> bool:
        with self._cond:
            up_to = self._added
            if self._settled >= up_to:
                return True
            until = time.monotonic() + timeout
            restart_until = time.monotonic() + restart_s
            self._hurry_until = max(self._hurry_until, until)
            self._restart_until = max(self._restart_until, restart_until)
            self._hurry()
            if self._ensure_thread():
                is_settled = self._cond.wait_for(lambda: self._has_settled(up_to), timeout)
                while not is_settled and self._is_restarting and time.monotonic() < restart_until:
                    is_settled = self._cond.wait_for(lambda: self._has_settled(up_to), LAST_TRY_S)
                return is_settled
        return self._deliver_here(up_to, until)

    def _has_settled(self, up_to: int) -> bool:
        return self._settled >= up_to and all(item.rests_until is None for item in self._waiting)

    def _hurry(self) -> None:
        with self._cond:
            for item in self._waiting:
                if item.rests_until is not None:
                    item.rests_until = 0
            self._is_hurried = True
            self._tries = 0
            self._cond.notify_all()

    # -- from the caller to the queue

    def _send(self, kind: str, process: str | None, meta: str | None, uid: str | None, **rest: Any) -> None:
        fields: dict[str, Any] = {}
        try:
            if self._fault is not None:
                self._dropped += 1
                return self._report.warn(f"{self._fault}; nothing is sent")
            given = {"process": _fit(process, MAX_PROCESS), "meta": _fit(meta, MAX_META), "uid": _uid(uid)}
            fields = {name: value for name, value in given.items() if value is not None}
            if "exception" in rest:
                rest["exception"] = _describe(rest["exception"])
            elif "items" in rest:
                rest["items"] = dict(rest["items"])
            if not fields.get("process"):
                return self._drop({"kind": kind, **fields, **rest}, "it has no process")
            if not self._cond.acquire(blocking=not _is_finalizing()):  # a thread that no longer runs may hold it
                return self._drop({"kind": kind, **fields, **rest}, TOO_LATE)
            try:
                self._add(kind, {**fields, "at": self._times.next(), **rest})
            finally:
                self._cond.release()
            if _is_leaving and not _is_finalizing():
                self._flush_at_exit()
        except Exception as error:  # noqa: BLE001 - nothing may reach the caller
            self._drop({"kind": kind, **fields}, f"it cannot be written as JSON: {error!r}")

    def _add(self, kind: str, fields: dict[str, Any]) -> None:
        line = _dump({"kind": kind, **fields})
        is_full = self._bytes + len(line) > self._max_bytes
        is_late = _is_finalizing()
        is_kept = self._keeps_now or is_full or is_late
        file = self._backlog.keep(line, is_full) if self._backlog and is_kept else None
        if is_full or is_late:
            if file is None:
                self._drop(json.loads(line), TOO_LATE if is_late else self._because("too many events are waiting"))
            elif is_late and self._backlog:
                self._backlog.close()
            return
        self._push(_Item(line, file))
        if len(self._waiting) == 1 or len(self._waiting) == BATCH_EVENTS or self._bytes >= BATCH_CHARACTERS:
            self._cond.notify_all()
        self._ensure_thread()

    def _drop(self, event: dict[str, Any], reason: str) -> None:
        self._dropped += 1
        self._report.drop(event, reason)

    def _because(self, reason: str) -> str:
        return f"{reason}: {self._last_fault}" if self._last_fault else reason

    def _push(self, item: _Item) -> None:
        if self._settled == self._added:
            self._heard = time.monotonic()
        self._waiting.append(item)
        self._bytes += len(item.line)
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
            for item in found or ():
                self._push(item)
            return found is not None

    def _take(self) -> list[_Item]:
        """As many as fit one request, of those that do not rest."""
        with self._cond:
            now, characters = time.monotonic(), 0
            taken: list[_Item] = []
            left: list[_Item] = []
            for item in self._waiting:
                is_full = len(taken) == BATCH_EVENTS or characters >= BATCH_CHARACTERS
                if is_full or (item.rests_until or 0) > now:
                    left.append(item)
                else:
                    taken.append(item)
                    characters += len(item.line)
            self._waiting = left
            return taken

    def _deliver(self, until: float = float("inf")) -> None:
        """Sends one batch until none of it has to be sent again, or until the time is over."""
        in_hand = self._in_hand = self._take()
        if not in_hand and until == float("inf"):
            with self._cond:  # all that waits rests
                first = min((item.rests_until or 0 for item in self._waiting), default=0)
                self._cond.wait_for(lambda: self._is_hurried, max(0, min(self._flush_s, first - time.monotonic())))
                self._is_hurried = False
        body: bytes | None = None
        while in_hand:
            if body is None:
                body = gzip.compress(f"[{','.join(item.line for item in in_hand)}]".encode(), 6, mtime=0)
            status, retry_after_s, text, ahead_s = self._post(body, min(REQUEST_TIMEOUT_S, until - time.monotonic()))
            if self._in_hand is not in_hand:
                return  # given up meanwhile
            self._last_fault = _fault_of(status, text)
            # An older reading counts as long as the clock has not been set, so that all events move by the same.
            if self._ahead_s is None or (ahead_s is not None and abs(ahead_s - self._ahead_s) > WRONG_CLOCK_S):
                self._ahead_s = ahead_s
            again, spent, is_corrected = self._judge(in_hand, status, text)
            self._is_restarting = status == 503 or (status == 0 and text == REFUSED)
            settled = {id(item): item for item in in_hand}
            for item in again + spent:
                del settled[id(item)]
            if spent:
                rests_until = time.monotonic() + self._pause_s(retry_after_s)
                with self._cond:
                    for item in spent:
                        item.rests_until = rests_until
                    self._waiting += spent
                    in_hand = self._in_hand = again
                body = None
            if (again or spent) and not is_corrected:
                self._share_kept()
            if settled:
                in_hand = self._in_hand = again
                self._settle(list(settled.values()))
                body, self._tries = None, 0
                self._keeps_now, self._heard = self._keeps_each, time.monotonic()
            if is_corrected:
                body = None
                continue
            if not in_hand:
                return
            wait_s = self._pause_s(retry_after_s)
            if time.monotonic() + wait_s > self._limit(until):
                with self._cond:
                    self._waiting[:0] = in_hand
                    self._in_hand = []
                return
            with self._cond:
                self._cond.wait_for(lambda: self._is_hurried, wait_s)
                self._is_hurried = False

    def _limit(self, until: float) -> float:
        return max(until, self._restart_until) if self._is_restarting else until

    def _share_kept(self) -> None:
        if self._backlog is None:
            return
        with self._cond:
            if not self._keeps_now and time.monotonic() - self._heard > self._keep_after_s:
                self._keeps_now = True
                self._keep(self._in_hand + self._waiting)
        if self._keeps_now:
            self._backlog.share(self._cond)

    def _keep(self, items: list[_Item]) -> None:
        for item in items:
            if item.file is None and self._backlog is not None:
                item.file = self._backlog.keep(item.line, False)

    def _pause_s(self, retry_after_s: float) -> float:
        back_off = min(MAX_WAIT_S, FIRST_WAIT_S * 2.0**self._tries) * (0.5 + random.random() / 2)
        self._tries += 1
        if self._is_restarting and time.monotonic() < self._restart_until:
            back_off = min(back_off, RESTART_PAUSE_S)
        wait_s = max(back_off, min(retry_after_s, MAX_RETRY_AFTER_S))
        spare_s = self._hurry_until - time.monotonic() - LAST_TRY_S
        return min(wait_s, spare_s) if spare_s > 0 else wait_s

    def _deliver_here(self, up_to: int, until: float) -> bool:
        while self._settled < up_to and time.monotonic() < self._limit(until):
            before = self._settled
            self._is_hurried = False
            self._deliver(until)
            if self._settled == before:
                break
        return self._has_settled(up_to)

    def _post(self, body: bytes, timeout_s: float) -> tuple[int, float, str, float | None]:
        """Status, retry-after, text, and how far our clock is ahead. Status 0: no answer came, and the text says why."""
        request = urllib.request.Request(f"{self._url}/v1/batch", body, self._headers)
        sent = time.time()
        try:
            with self._opener.open(request, timeout=max(timeout_s, 0.001)) as response:
                ahead_s = _read_ahead(response.headers.get("date"), sent)
                return response.status, 0, response.read(MAX_ANSWER_BYTES).decode(errors="replace"), ahead_s
        except urllib.error.HTTPError as error:
            with error:
                ahead_s = _read_ahead(error.headers.get("date"), sent)
                try:
                    retry_after_s = float(error.headers.get("retry-after", 0))
                except ValueError:
                    retry_after_s = 0
                try:
                    text = error.read(MAX_ANSWER_BYTES).decode(errors="replace")
                except OSError:
                    text = ""
                return error.code, retry_after_s, text, ahead_s
        except Exception as error:  # noqa: BLE001 - all that is left are ways of having no connection
            return 0, 0, _no_answer(error), None

    def _judge(self, items: list[_Item], status: int, text: str) -> tuple[list[_Item], list[_Item], bool]:
        """Drops what the answer refuses for good.

        Returns what must be sent again, what has to rest before because the quota keeps its last part for starts and
        ends, which must not wait behind it, and whether some event has got another time.
        """
        problem = _parse(text)
        again: list[_Item] = []
        spent: list[_Item] = []
        refused: list[str] = []
        is_corrected = False
        for i, item in enumerate(items):
            code, own = status, problem
            if status == 207:
                answers = problem.get("items") or []
                own = answers[i] if i < len(answers) else {"status": 0}
                code = own.get("status", 201)
            if code == 201:
                continue
            is_final = code in (413, 422)
            is_suspended = own.get("code") == "account_suspended"
            if own.get("code") == "quota_spent" and not item.line.startswith(('{"kind":"start"', '{"kind":"end"')):
                spent.append(item)
            elif _is_passing(code) or is_suspended or (self._keeps_each and not is_final):
                again.append(item)
            elif _is_refused_for_time(code, own, i) and self._correct(item):
                is_corrected = True
                again.append(item)
            else:
                if is_final:
                    refused.append(item.line)
                self._drop(json.loads(item.line), _explain(code, own, i))
        if refused and self._keeps_each and self._backlog is not None:
            self._backlog.refuse(refused)
        return again, spent, is_corrected

    def _correct(self, item: _Item) -> bool:
        """Gives the event the time that it has by the server's clock. False if our clock is not at fault."""
        if item.is_corrected or self._ahead_s is None or abs(self._ahead_s) < WRONG_CLOCK_S:
            return False
        event = json.loads(item.line)
        us = _parse_us(event["at"]) - round(self._ahead_s * 1_000_000)
        line = _dump({**event, "at": _format_us(us)})
        with self._cond:
            self._bytes += len(line) - len(item.line)
        item.line, item.is_corrected = line, True
        self._report.warn(_describe_ahead(self._ahead_s))
        return True

    def _settle(self, items: list[_Item]) -> None:
        with self._cond:
            for item in items:
                self._bytes -= len(item.line)
                if item.file is not None and self._backlog is not None:
                    self._backlog.settle(item.file)
            self._settled += len(items)
            self._cond.notify_all()

    # -- the end of the process

    def _flush_at_exit(self) -> None:
        """All flushes at exit together wait `exit_wait_ms` at most."""
        began = time.monotonic()
        with self._report.at_once():
            if not self._settle_within(self._exit_left_s, self._restart_left_s):
                self._leave()
        took = time.monotonic() - began
        self._exit_left_s -= took
        self._restart_left_s -= took

    def _leave(self) -> None:
        with self._cond:
            left = self._in_hand + self._waiting
            self._in_hand, self._waiting = [], []
            self._settled = self._added
            reported = [item for item in left if item.file is None]
            self._keep(reported)
        with self._report.at_once():
            for item in reported:
                reason = Unconfirmed(self._because(UNCONFIRMED), item.file is not None)
                self._drop(json.loads(item.line), reason)
        if self._backlog is not None:
            self._backlog.close()


class Unconfirmed(str):
    """The reason of an event that got no answer before the process ended: it may be stored, and is sent later if `kept`."""

    reason = "unconfirmed"
    kept: bool

    def __new__(cls, text: str, kept: bool) -> Unconfirmed:
        made = super().__new__(cls, text)
        made.kept = kept
        return made


class _Report:
    """Says what went wrong on stderr, at most once a minute. Its numbers add up to the dropped and unconfirmed events."""

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
            is_kept = isinstance(reason, Unconfirmed) and reason.kept
            return self._add(f"{reason}; kept, sent later" if is_kept else reason, 1)
        try:
            self._on_drop(event, reason)
        except Exception:  # noqa: BLE001 - the caller's own fault must not end the sending
            pass

    @contextlib.contextmanager
    def at_once(self) -> Iterator[None]:
        """What is reported within, and what waits, is printed together at the end."""
        self._is_collecting = True
        try:
            yield
        finally:
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
            how = "" if text.startswith(UNCONFIRMED) else "dropped: "
            events = "" if count is None else f"{count} event{'' if count == 1 else 's'} {how}"
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
        return _format_us(us)


def _format_us(us: int) -> str:
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(us // 1_000_000))}.{us % 1_000_000:06d}Z"


def _parse_us(text: str) -> int:
    return calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")) * 1_000_000 + int(text[20:-1])


def _read_ahead(date: str | None, sent: float) -> float | None:
    """How far our clock is ahead of the server's, in seconds. The header has whole seconds."""
    parsed = email.utils.parsedate_tz(date) if date else None
    return None if parsed is None else (sent + time.time()) / 2 - email.utils.mktime_tz(parsed) - 0.5


def _describe_ahead(ahead_s: float) -> str:
    minutes = abs(ahead_s) / 60
    count, unit = (minutes, "minute") if minutes < 100 else (minutes / 60, "hour")
    if minutes >= 2880:
        count, unit = minutes / 1440, "day"
    span = f"{round(count)} {unit}{'' if round(count) == 1 else 's'}"
    side = "ahead of" if ahead_s > 0 else "behind"
    return f"this host's clock is {span} {side} Stint's; times are corrected"


class _File:
    """Events on the disk: a draft of this process, or a whole file."""

    def __init__(self, path: str, whole: str = "", fd: int | None = None, open_events: int = 0) -> None:
        self.path, self.whole, self.fd = path, whole, fd
        self.open = open_events  # events in it that are not settled
        self.events = self.size = 0


class _Item:
    """An event that waits, as one line of a batch, and the file in which it is kept in case of a crash."""

    __slots__ = ("line", "file", "is_corrected", "rests_until")

    def __init__(self, line: str, file: _File | None) -> None:
        self.line, self.file, self.is_corrected = line, file, False
        self.rests_until: float | None = None
        """The quota refused it: it is not sent before."""


class _Backlog:
    """Events in files until the server has them, in the directory and format of `stint exec` and the other clients:

    1. a sub-directory is for one address and key, named by the first 16 hex digits of SHA-256 over the address, a line
       feed and the key;
    2. a file NAME.json is whole and the body of one /v1/batch request. Before, it is a draft, .NAME.json.tmp, to which
       each call adds a line; it is synced and renamed when the server has not taken an event of it;
    3. any process may send any file, the oldest first, and removes it then: an event that is sent twice is stored once;
    4. all files take at most MAX_BYTES on disk, and the oldest go first;
    5. what the server refuses for good is kept in refused/ beside the files.
    """

    FILE_EVENTS = 1000
    FILE_BYTES = 2**19
    MAX_BYTES = 32 * 2**20
    BLOCK_BYTES = 4096
    SEARCH_EVERY_S = 30
    ABANDONED_AFTER_S = 60

    def __init__(self, homes: list[tuple[str, bool]], url: str, key: str, warn: Callable[[str], None]) -> None:
        self._homes, self._warn = homes, warn
        self._name = hashlib.sha256(f"{url}\n{key}".encode()).hexdigest()[:16]
        self._own: set[_File] = set()  # those whose events are in memory
        self._current: _File | None = None
        self._overflow: _File | None = None
        self._searched = float("-inf")

    def keep(self, line: str, later: bool) -> _File | None:
        """Writes an event to the disk; one of `later` comes back by `adopt`. None when that is not possible."""
        try:
            file = self._overflow if later else self._current
            if file is not None and (file.events >= self.FILE_EVENTS or file.size >= self.FILE_BYTES):
                self._seal(file)
                file = None
            if file is None:
                file = self._place(self._open_draft)
                if later:
                    self._overflow = file
                else:
                    self._current = file
                    self._own.add(file)
            data = f"{',' if file.events else '['}{line}\n".encode()
            file.events += 1
            file.open += 1
            file.size += len(data)
            assert file.fd is not None
            if os.write(file.fd, data) == len(data):
                return file
            file.open -= 1
            self._seal(file)  # a torn line: nothing may follow it
            self._warn("the backlog cannot be written: short write")
        except OSError as error:
            self._warn(f"the backlog cannot be written: {error.strerror}")
        return None

    def settle(self, file: _File) -> None:
        file.open -= 1
        if file.open > 0:
            return
        try:
            if file is self._current and file.fd is not None:
                os.ftruncate(file.fd, 0)
                file.events = file.size = 0
            else:
                self._remove(file)
        except OSError:
            pass  # it stays, and is sent again

    def share(self, lock: threading.Condition) -> None:
        """Lets other processes send what is not settled; callers do not wait for the disk."""
        with lock:
            file = self._current
            if file is None or file.open == 0:
                return
            fd = self._end(file)
        self._finish(file, fd)

    def refuse(self, lines: list[str]) -> None:
        """Keeps what the server refused for good."""

        def write(directory: str) -> None:
            refused = os.path.join(directory, "refused")
            os.makedirs(refused, mode=0o700, exist_ok=True)
            self._write_whole(os.path.join(refused, self._unique()), lines)

        try:
            self._place(write)
        except OSError as error:
            self._warn(f"the backlog cannot be written: {error.strerror}")

    def adopt(self) -> list[_Item] | None:
        """Events of the oldest file that is not in the memory of this process."""
        try:
            if self._overflow is not None:
                self._seal(self._overflow)
                self._searched = float("-inf")
            if time.monotonic() - self._searched < self.SEARCH_EVERY_S:
                return None
            own = {file.path for file in self._own}
            for path in self._list():
                lines = [] if path in own else self._read(path)
                if lines:
                    file = _File(path, open_events=len(lines))
                    self._own.add(file)
                    return [_Item(line, file) for line in lines]
            self._searched = time.monotonic()
        except OSError as error:
            self._warn(f"the backlog cannot be read: {error.strerror}")
        return None

    def close(self) -> None:
        for file in (self._current, self._overflow):
            if file is not None:
                self._seal(file)

    # -- drafts

    def _open_draft(self, directory: str) -> _File:
        self._make_room(os.path.dirname(directory))
        name = self._unique()
        path = os.path.join(directory, f".{name}.tmp")
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
        return _File(path, os.path.join(directory, name), fd)

    def _seal(self, file: _File) -> None:
        self._finish(file, self._end(file))

    def _end(self, file: _File) -> int | None:
        """Nothing is added to it any more."""
        if file is self._current:
            self._current = None
        if file is self._overflow:
            self._overflow = None
        fd, file.fd = file.fd, None
        return fd

    def _finish(self, file: _File, fd: int | None) -> None:
        if fd is None:
            return
        try:
            if file.open == 0:
                os.close(fd)
                return self._remove(file)
            os.write(fd, b"]\n")
            os.fsync(fd)
            os.close(fd)
            os.rename(file.path, file.whole)
            file.path = file.whole
        except FileNotFoundError:
            pass  # another process took it for abandoned, and has sent it
        except OSError as error:
            self._warn(f"the backlog cannot be written: {error.strerror}")

    def _remove(self, file: _File) -> None:
        self._own.discard(file)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(file.path)

    # -- the directory

    def _place(self, work: Callable[[str], Any]) -> Any:
        """Calls `work` with the first directory in which it succeeds."""
        fault: OSError | None = None
        for home, is_shared in self._homes:
            try:
                if is_shared:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(home, 0o700)
                    if not _is_own(home):
                        raise PermissionError(13, "another user made it")
                directory = os.path.join(home, self._name)
                os.makedirs(directory, mode=0o700, exist_ok=True)
                return work(directory)
            except OSError as error:
                fault = fault or error
        raise fault or OSError(2, "no directory")

    def _unique(self) -> str:
        return f"{_now_us():017d}-{os.urandom(4).hex()}.json"

    def _write_whole(self, path: str, lines: list[str]) -> None:
        directory, name = os.path.split(path)
        draft = os.path.join(directory, f".{name}.tmp")
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write("[" + "\n,".join(lines) + "\n]\n")
            file.flush()
            os.fsync(file.fileno())
        os.rename(draft, path)

    def _list(self) -> list[str]:
        """Whole files, the oldest first."""
        found: list[tuple[float, str]] = []
        for home, is_shared in self._homes:
            directory = os.path.join(home, self._name)
            if is_shared and not _is_own(home):
                continue
            for name in _names_in(directory):
                if name.startswith(".") and name.endswith(".tmp"):
                    self._rescue(os.path.join(directory, name))
            found += [(changed, path) for changed, path, _ in _files_in(directory)]
        return [path for _, path in sorted(found)]

    def _rescue(self, draft: str) -> None:
        """Makes a whole file of the whole lines of a draft whose process has ended."""
        try:
            if time.time() - os.path.getmtime(draft) < self.ABANDONED_AFTER_S:
                return
            with open(draft, encoding="utf-8", errors="replace") as file:
                text = file.read()
            text = text[: max(text.rfind("\n"), 0)]
            lines = _parse_body(f"{text[:-2] if text.endswith(chr(10) + ']') else text}\n]")
            directory, name = os.path.split(draft)
            if lines:
                self._write_whole(os.path.join(directory, name[1 : -len(".tmp")]), lines)
            else:
                os.unlink(draft)
        except OSError:
            pass  # another process was faster, or it cannot be read

    def _read(self, path: str) -> list[str] | None:
        """A file that is no list of events moves to refused/."""
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                lines = _parse_body(file.read())
            if lines is None:
                directory, name = os.path.split(path)
                refused = os.path.join(directory, "refused")
                os.makedirs(refused, mode=0o700, exist_ok=True)
                os.rename(path, os.path.join(refused, name))
            return lines
        except FileNotFoundError:
            return None

    def _make_room(self, home: str) -> None:
        """Removes the oldest files of all sub-directories until there is room."""
        names = [name for name in _names_in(home) if re.fullmatch("[0-9a-f]{16}", name)]
        paths = [path for name in names for path in (os.path.join(home, name), os.path.join(home, name, "refused"))]
        files = sorted(file for path in paths for file in _files_in(path))
        total = self.BLOCK_BYTES + sum(max(self.BLOCK_BYTES, size) for _, _, size in files)
        removed = 0
        while total > self.MAX_BYTES and removed < len(files):
            _, path, size = files[removed]
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
            total -= max(self.BLOCK_BYTES, size)
            removed += 1
        if removed:
            self._warn(f"removed the oldest {removed} files of the backlog to make room")


def _is_own(path: str) -> bool:
    """A directory that no other user has made or can write."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and found.st_mode & 0o077 == 0


def _names_in(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError:
        return []


def _files_in(directory: str) -> list[tuple[float, str, int]]:
    """Time, path and size of the whole files."""
    found = []
    for name in _names_in(directory):
        if name.endswith(".json") and not name.startswith("."):
            with contextlib.suppress(FileNotFoundError):
                path = os.path.join(directory, name)
                status = os.stat(path)
                found.append((status.st_mtime, path, status.st_size))
    return found


def _parse_body(text: str) -> list[str] | None:
    """The events of a file, each as one line; None if it is no list of events."""
    try:
        events = json.loads(text)
    except ValueError:
        return None
    if not isinstance(events, list) or not all(isinstance(event, dict) for event in events):
        return None
    return [_dump(event) for event in events]


def _now_us() -> int:
    return time.time_ns() // 1000


def _read_settings(
    url: str | None, key: str | None, service: str | None
) -> tuple[str | None, str, str, dict[str, str]]:
    """The fault of the settings, or None; address, key and headers."""
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
    return fault, url, key, headers


def _read_backlog(given: str | bool | None) -> tuple[list[tuple[str, bool]], bool]:
    """Where it may be, and whether each call writes to it."""
    backlog = given if given is not None else os.environ.get("STINT_BACKLOG") or None
    if backlog is None:
        return _find_homes(), False
    if backlog is True or backlog == "1":
        return _find_homes(), True
    return ([], False) if backlog in (False, "0", "") else ([(str(backlog), False)], True)


def _find_homes() -> list[tuple[str, bool]]:
    """The user's state directory, and where that cannot be written one among the temporary files.

    True beside the one that is in a directory where every user may write.
    """
    state = os.environ.get("XDG_STATE_HOME", "")
    base = state if os.path.isabs(state) else os.path.expanduser("~/.local/state")
    homes = [(os.path.join(base, "stint"), False)]
    if hasattr(os, "getuid"):
        homes.append((os.path.join(os.environ.get("TMPDIR") or "/tmp", f"stint-{os.getuid()}"), True))
    return homes


def _uid(id: object) -> str | None:
    """An id as its scheduler has it → what Stint accepts. README.md has the rule; a uid stays as it is."""
    if id is None:
        return None
    text = re.sub("[\ud800-\udfff]", "\ufffd", str(id))
    if re.fullmatch("[A-Za-z0-9_-]{0,50}", text):
        return text.lower()
    lowered = re.sub(rb"[^a-z0-9_-]", b"-", text.encode().lower())[:41]
    return f"{lowered.decode()}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"


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
        return REFUSED
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"certificate not trusted ({cause.verify_message})"
    if isinstance(cause, socket.gaierror):
        return "host name does not resolve"
    if isinstance(cause, (TimeoutError, socket.timeout)):
        return "no answer in time"
    if isinstance(cause, (ConnectionError, http.client.BadStatusLine)):
        return "connection closed without an answer"
    return f"no answer ({cause})"


def _is_refused_for_time(status: int, problem: Mapping[str, Any], index: int) -> bool:
    pointers = [fault["pointer"] for fault in problem.get("errors") or []]
    own = [pointer for pointer in pointers if f"{pointer}/".startswith(f"/{index}/")]
    return status == 422 and bool(own) and all(pointer == f"/{index}/at" for pointer in own)


def _explain(status: int, problem: Mapping[str, Any], index: int | None) -> str:
    """The server's own words; of a whole batch only those about the event at `index`."""
    faults = [
        f"{re.sub(r'^/[0-9]+/?', '', fault['pointer'])} {fault['detail']}"
        for fault in problem.get("errors") or []
        if index is None or f"{fault['pointer']}/".startswith(f"/{index}/")
    ]
    words = [word for word in (problem.get("detail") or problem.get("title"), *faults) if word]
    return f"the server answered {status}: {'; '.join(words)}"


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
        took = time.monotonic() - began
        client._exit_left_s, client._restart_left_s = client._exit_wait_s - took, client._restart_wait_s - took
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


def end(
    process: str,
    meta: str | None = None,
    uid: str | None = None,
    failed: bool = False,
    output: str | None = None,
) -> None:
    _client().end(process, meta, uid, failed, output)


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
