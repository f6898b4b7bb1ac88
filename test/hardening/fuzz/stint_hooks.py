"""Hooks of schemathesis. What ends a session or an account is done to one that was made for it, so that the run goes on signed in."""

import datetime
import itertools
import json
import os
import re
import urllib.request

import schemathesis

BASE = os.environ["STINT_URL"]
PASSWORD = "a long enough password"
SESSION = os.environ["STINT_SESSION"]
COOKIE = "stint_session"
ENDS_A_SESSION = {
    ("DELETE", "/api/session"),
    ("DELETE", "/api/account"),
    ("DELETE", "/api/sessions/{id}"),
    ("DELETE", "/api/members/{id}"),
    ("POST", "/api/password"),
    ("POST", "/api/accounts"),
    ("POST", "/api/session"),
}
numbers = itertools.count()


def fresh_session():
    """The cookie of a new account; each comes from an address of its own, for sign-ups are limited by address."""
    number = next(numbers)
    request = urllib.request.Request(
        BASE + "/api/accounts",
        data=json.dumps({"email": f"f{os.getpid()}-{number}@example.com", "password": PASSWORD}).encode(),
        headers={
            "content-type": "application/json",
            "x-forwarded-for": f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}",
        },
        method="POST",
    )
    with urllib.request.urlopen(request) as answer:
        return answer.headers["set-cookie"].split(";")[0].split("=", 1)[1]


@schemathesis.hook
def before_call(ctx, case, kwargs):
    if is_positive(case):
        relate(case)
    if (case.method.upper(), case.operation.path) not in ENDS_A_SESSION:
        return
    if (case.cookies or {}).get(COOKIE) == SESSION:
        case.cookies[COOKIE] = fresh_session()
    number = next(numbers)
    case.headers = case.headers or {}
    case.headers.setdefault("x-forwarded-for", f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}")


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode == schemathesis.GenerationMode.POSITIVE


def relate(case):
    """Valid data also has to keep what no schema can say: `at` is near, `from` is before `to` and not too far, metrics have good names, passwords
    are neither common nor one character repeated, a sign-up without mail has one, an export's data is in its lists, an account that goes is named twice, lines are events, a cursor was given by Stint, a time zone exists and has buckets."""
    if case.media_type == "application/x-ndjson" and isinstance(case.body, str):
        case.body = '{"kind":"start","process":"nightly import"}\n{"kind":"end","process":"nightly import"}\n'
    if case.operation.path.startswith("/otlp/"):
        exported(case.body)
    if (case.method.upper(), case.operation.path) == ("DELETE", "/api/operator/accounts/{id}"):
        case.body = {"id": (case.path_parameters or {}).get("id", "")}
    for event in case.body if isinstance(case.body, list) else [case.body]:
        if not isinstance(event, dict):
            continue
        if "at" in event:
            event["at"] = datetime.datetime.now(datetime.timezone.utc).isoformat().replace("+00:00", "Z")
        if "current_password" in event:
            event["current_password"] = PASSWORD
        if (case.method.upper(), case.operation.path) == ("POST", "/api/accounts"):
            event.setdefault("password", PASSWORD)
        for name in ("password", "new_password"):
            if isinstance(event.get(name), str):
                event[name] = "uncommon " + (event[name] if len(event[name]) <= 100 else event[name][9:])
        if isinstance(event.get("items"), dict):
            event["items"] = named(event["items"])
        elif isinstance(event.get("items"), list):
            event["items"] = [{"name": f"m{i}", "value": i} for i, _ in enumerate(event["items"])]
    query = case.query
    if isinstance(query, dict):
        query.pop("cursor", None)
        if "from" in query:
            query["from"] = "-90m"
        if "to" in query:
            query["to"] = "-1m"
        if "actor" in query:
            query["actor"] = "ada@example.com"
        if "tz" in query:
            query["tz"] = "Europe/Berlin"
            query["every"] = "5m"
        if "every" in query:
            query["every"] = "5m"
            query.pop("limit", None)
            query.pop("compare_from", None)
        if "compare_from" in query:
            query["compare_from"] = "-8d"
        if "compare_to" in query:
            query.pop("compare_to")
        if "percentiles" in query:
            query["percentiles"] = "50,99.9"
        if "by" in query and case.operation.path == "/api/metrics":
            query["every"] = "5m"
            query.pop("limit", None)
        if "sort" in query and query.get("state") not in (None, "completed", "failed"):
            query["state"] = "failed"


EXPORT_LISTS = ("resourceSpans", "scopeSpans", "resourceMetrics", "scopeMetrics", "resourceLogs", "scopeLogs")


def exported(message):
    """Without the members that hold something and that no export has: Stint would lose their data unnoticed."""
    if not isinstance(message, dict):
        return
    known = (*EXPORT_LISTS, "resource", "scope", "spans", "metrics", "logRecords")
    for name in [name for name, value in message.items() if name not in known and isinstance(value, (dict, list))]:
        del message[name]
    for name in EXPORT_LISTS:
        for part in message[name] if isinstance(message.get(name), list) else []:
            exported(part)


def named(items):
    """OpenAPI 3.0 has no words for the names of members."""
    return {re.sub("['\"%\\x00-\\x1f\\x7f]|\\\\+$|[\ud800-\udfff]", "", name) or f"m{i}": value for i, (name, value) in enumerate(items.items())}


@schemathesis.serializer("application/x-ndjson")
def json_lines(ctx, value):
    if isinstance(value, str):
        return value.encode()
    events = value if isinstance(value, list) else [value]
    return "\n".join(json.dumps(event) for event in events).encode()
