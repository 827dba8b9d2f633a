# SPDX-License-Identifier: MIT
"""A receiver of OTLP metrics that decodes by the published field numbers.

    otlp_receiver.py PORT [STATUS[:RETRY_AFTER] ...]

Port 0 lets the kernel choose; the first line printed is the port. The first requests are answered with
the given statuses, all others with 200 and one refused point. One JSON line per request.
"""
import gzip
import http.server
import json
import struct
import sys


def fields(data):
    """All fields of a message: (number, value); a value is an int, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = data[at:at + 8], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "a field is cut off"
        else:
            raise ValueError("wire type %d of field %d" % (kind, number))
        yield number, value


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if not data[at - 1] & 0x80:
            return value, at


def all_of(data, number):
    return [value for n, value in fields(data) if n == number]


def one(data, number, default=None):
    found = all_of(data, number)
    assert len(found) <= 1, "field %d is there %d times" % (number, len(found))
    return found[0] if found else default


def text(data):
    return (data or b"").decode("utf-8")


def fixed64(data):
    return struct.unpack("<Q", data)[0] if data else 0


def double(data):
    return struct.unpack("<d", data)[0] if data else None


def zigzag(value):
    return (value >> 1) ^ -(value & 1)


def attributes(message, number):
    found = {}
    for pair in all_of(message, number):
        value = one(pair, 2)
        string, whole = one(value, 1), one(value, 3)
        found[text(one(pair, 1))] = text(string) if whole is None else whole
    return found


def packed_varints(data):
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def times(point):
    return {"start": fixed64(one(point, 2)), "time": fixed64(one(point, 3))}


def number_point(point):
    whole = one(point, 6)
    value = double(one(point, 4)) if whole is None else struct.unpack("<q", whole)[0]
    return {"attributes": attributes(point, 7), "value": value, **times(point)}


def histogram_point(point):
    counts, bounds = one(point, 6, b""), one(point, 7, b"")
    return {"attributes": attributes(point, 9), "count": fixed64(one(point, 4)),
            "sum": double(one(point, 5)), "max": double(one(point, 12)),
            "counts": list(struct.unpack("<%dQ" % (len(counts) // 8), counts)),
            "bounds": list(struct.unpack("<%dd" % (len(bounds) // 8), bounds)), **times(point)}


def exponential_point(point):
    positive = one(point, 8, b"")
    return {"attributes": attributes(point, 1), "count": fixed64(one(point, 4)),
            "sum": double(one(point, 5)), "max": double(one(point, 13)),
            "scale": zigzag(one(point, 6, 0)), "zero": fixed64(one(point, 7)),
            "threshold": double(one(point, 14)), "offset": zigzag(one(positive, 1, 0)),
            "counts": packed_varints(one(positive, 2, b"")), **times(point)}


KINDS = {5: ("gauge", number_point), 7: ("sum", number_point),
         9: ("histogram", histogram_point), 10: ("exponential", exponential_point)}


def metric(data):
    (number, body), = [f for f in fields(data) if f[0] in KINDS]
    kind, point = KINDS[number]
    return {"name": text(one(data, 1)), "description": text(one(data, 2)),
            "unit": text(one(data, 3)), "kind": kind, "temporality": one(body, 2, 0),
            "monotonic": bool(one(body, 3, 0)), "points": [point(p) for p in all_of(body, 1)]}


def resource(data):
    scopes = all_of(data, 2)
    assert len(scopes) == 1
    return {"attributes": attributes(one(data, 1), 1), "scope": text(one(one(scopes[0], 1), 1)),
            "metrics": {m["name"]: m for m in map(metric, all_of(scopes[0], 2))}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        status, _, after = (STATUSES.pop(0) if STATUSES else "200").partition(":")
        print(json.dumps({
            "status": int(status), "path": self.path, "bytes": len(body),
            "type": self.headers["Content-Type"],
            "encoding": self.headers.get("Content-Encoding"),
            "resources": [resource(r) for r in all_of(body, 1)]}), flush=True)
        # partial_success { rejected_data_points: 1, error_message: "late" ESC "x" }
        answer = b"\x0a\x0a\x08\x01\x12\x06late\x1bx" if status == "200" else b""
        self.send_response(int(status))
        if after:
            self.send_header("Retry-After", after)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


STATUSES = sys.argv[2:]
server = http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
