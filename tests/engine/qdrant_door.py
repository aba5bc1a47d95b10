"""Qdrant's REST interface before Qdrant's own shard engine (qdrant-edge-py), for tests: the server itself is in no package registry.

It serves the calls of our engine and those that the official client needs for the same, on the loopback interface alone, and keeps its
data in a folder that the caller removes. What it does not know it refuses with 501. Not here: shards, replicas, and everything else that
makes a server a cluster.

    qdrant_door.py FOLDER PORT_FILE       writes its port into PORT_FILE; the key that it asks for is in QDRANT_DOOR_KEY

A write with the header `x-door-late: COUNT` is acknowledged and applied later. What the server promises is kept, and nothing more: no
write with `ordering=strong` goes before an earlier one that asked for the same; of others, COUNT do. Reads do not wait for it.
"""

import contextlib
import hmac
import json
import os
import re
import shutil
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import qdrant_edge as edge

VERSION = "1.19.0"
# The server's own bound.
BODY_BYTES_MAX = 32 * 1024 * 1024
DISTANCES = {"Cosine": edge.Distance.Cosine, "Dot": edge.Distance.Dot, "Euclid": edge.Distance.Euclid}
INDEXES = {
    "keyword": edge.PayloadSchemaType.Keyword,
    "integer": edge.PayloadSchemaType.Integer,
    "bool": edge.PayloadSchemaType.Bool,
    "uuid": edge.PayloadSchemaType.Uuid,
}
EDGE_VECTOR_NEEDED = "the shard engine wants at least one vector"


class Refused(Exception):
    def __init__(self, status, why):
        super().__init__(why)
        self.status = status


class Late:
    """A write that was acknowledged and is not applied yet."""

    def __init__(self, write, strong, overtaken_by):
        self.write = write
        self.strong = strong
        self.overtaken_by = overtaken_by

    def apply(self):
        # Nobody waits for the answer, and its points may be gone.
        with contextlib.suppress(Exception):
            self.write()


class Collections:
    """The collections, each a shard. One call at a time reaches a shard."""

    def __init__(self, folder):
        self.folder = folder
        self.shards = {}
        self.indexed = {}
        self.late = {}
        self.lock = threading.Lock()

    def create(self, name, body):
        if name in self.shards:
            raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
        dense = {
            vector: edge.EdgeVectorParams(known(form, "size", "distance")["size"], DISTANCES[form["distance"]])
            for vector, form in (body.get("vectors") or {}).items()
        }
        sparse = {vector: sparse_form(form) for vector, form in (body.get("sparse_vectors") or {}).items()}
        if not dense and not sparse:
            raise Refused(501, EDGE_VECTOR_NEEDED)
        folder = os.path.join(self.folder, name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        self.indexed[name] = set()
        self.shards[name] = edge.EdgeShard.create(folder, edge.EdgeConfig(vectors=dense, sparse_vectors=sparse))
        return True

    def drop(self, name):
        shard = self.shards.pop(name, None)
        self.late.pop(name, None)
        if shard is None:
            return False
        shard.close()
        shutil.rmtree(os.path.join(self.folder, name), ignore_errors=True)
        return True

    def shard(self, name):
        try:
            return self.shards[name]
        except KeyError:
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!") from None


def known(form, *keys):
    """Refuses what this door would leave unheeded."""
    unknown = set(form) - set(keys)
    if unknown:
        raise Refused(501, f"this door does not know {sorted(unknown)}")
    return form


def sparse_form(form):
    # Its frequencies would be those of one shard.
    known(form or {}, "index")
    return edge.EdgeSparseVectorParams()


def vector_of(form):
    if isinstance(form, dict):
        known(form, "indices", "values")
        return edge.SparseVector(form["indices"], form["values"])
    return [float(number) for number in form]


def point_of(form):
    known(form, "id", "vector", "payload")
    vectors = {name: vector_of(vector) for name, vector in form["vector"].items()}
    return edge.Point(form["id"], vectors, form.get("payload") or {})


def fields_in(body):
    """All fields that a body filters by."""
    if isinstance(body, dict):
        own = {body["key"]} if isinstance(body.get("key"), str) and ("match" in body or "range" in body) else set()
        return own.union(*(fields_in(part) for part in body.values()))
    return set().union(*(fields_in(part) for part in body)) if isinstance(body, list) else set()


def condition_of(form):
    if "has_id" in form:
        return edge.HasIdCondition(set(form["has_id"]))
    known(form, "key", "match", "range")
    if form.get("range"):
        return edge.FieldCondition(form["key"], range=edge.RangeFloat(**known(form["range"], "gt", "gte", "lt", "lte")))
    match = known(form["match"], "value", "any")
    match = edge.MatchAny(match["any"]) if "any" in match else edge.MatchValue(match["value"])
    return edge.FieldCondition(form["key"], match=match)


def filter_of(form):
    if not form:
        return None
    known(form, "must", "must_not", "should", "min_should")
    part = {name: [condition_of(each) for each in listed(form.get(name))] for name in ("must", "must_not", "should")}
    return edge.Filter(**{name: conditions or None for name, conditions in part.items()})


def listed(form):
    return form if isinstance(form, list) else [form] if form else []


def asked(body, *keys):
    """Leaves out what is not set."""
    return {key: value for key, value in known(body, *keys).items() if value is not None}


def record(point):
    payload = {} if point.payload is None else {"payload": point.payload}
    return {"id": str(point.id)} | payload


def retrieve(shard, body):
    body = asked(body, "ids", "with_payload", "with_vector")
    if body.get("with_vector"):
        raise Refused(501, "this door returns no vectors")
    found = shard.retrieve(body["ids"], with_payload=body.get("with_payload", True), with_vector=False)
    return [record(point) for point in found]


def scroll(shard, body):
    body = asked(body, "offset", "limit", "filter", "with_payload", "with_vector")
    request = edge.ScrollRequest(
        offset=body.get("offset"),
        limit=body.get("limit", 10),
        filter=filter_of(body.get("filter")),
        with_payload=body.get("with_payload", True),
        with_vector=False,
    )
    points, following = shard.scroll(request)
    return {"points": [record(point) for point in points], "next_page_offset": None if following is None else str(following)}


def query(shard, body):
    body = asked(body, "query", "using", "filter", "limit", "params", "with_payload", "with_vector")
    form = body["query"]
    form = form["nearest"] if isinstance(form, dict) and "nearest" in form else form
    params = asked(body.get("params") or {}, "hnsw_ef", "exact")
    request = edge.QueryRequest(
        body.get("limit", 10),
        query=edge.Query.Nearest(vector_of(form), using=body.get("using")),
        filter=filter_of(body.get("filter")),
        params=edge.SearchParams(**params) if params else None,
        with_payload=body.get("with_payload", False),
        with_vector=False,
    )
    hits = shard.query(request)
    return {"points": [record(hit) | {"version": 0, "score": hit.score} for hit in hits]}


def query_batch(shard, body):
    return [query(shard, search) for search in known(body, "searches")["searches"]]


def count(shard, body):
    body = asked(body, "filter", "exact")
    return {"count": shard.count(edge.CountRequest(exact=body.get("exact", True), filter=filter_of(body.get("filter"))))}


def upsert(shard, body):
    points = known(body, "points")["points"]
    shard.update(edge.UpdateOperation.upsert_points([point_of(point) for point in points]))


def delete(shard, body):
    if "filter" in known(body, "points", "filter"):
        shard.update(edge.UpdateOperation.delete_points_by_filter(filter_of(body["filter"])))
    else:
        shard.update(edge.UpdateOperation.delete_points(body["points"]))


def set_payload(shard, body):
    known(body, "payload", "points")
    shard.update(edge.UpdateOperation.set_payload(body["points"], body["payload"]))


def delete_payload(shard, body):
    known(body, "keys", "filter")
    shard.update(edge.UpdateOperation.delete_payload_by_filter(filter_of(body["filter"]), body["keys"]))


CHANGES = {"upsert": upsert, "delete": delete, "set_payload": set_payload, "delete_payload": delete_payload}


def batch(shard, body):
    operations = known(body, "operations")["operations"]
    for operation in operations:
        for name, change in operation.items():
            if name not in CHANGES:
                raise Refused(501, f"this door does not know {name}")
            CHANGES[name](shard, change)
    return [done() for _ in operations]


def index(shard, body):
    form = known(body, "field_name", "field_schema")["field_schema"]
    # Its options are for a larger machine than this one.
    kind = form["type"] if isinstance(form, dict) else form
    shard.update(edge.UpdateOperation.create_field_index(body["field_name"], INDEXES[kind]))
    return done()


def done():
    return {"operation_id": 0, "status": "completed"}


def acknowledged(body):
    one = {"operation_id": 0, "status": "acknowledged"}
    return [one for _ in body["operations"]] if "operations" in body else one


def written(collections, name, write, body, asked_for):
    """Applies a write, or puts it off, and the one that was put off before it or after it."""
    strong, overtaken_by = asked_for
    earlier = collections.late.get(name)
    if earlier and (overtaken_by is not None or (strong and earlier.strong)):
        collections.late.pop(name).apply()
        earlier = None
    if overtaken_by is not None:
        collections.late[name] = Late(write, strong, overtaken_by)
        return acknowledged(body)
    answer = write()
    if earlier:
        earlier.overtaken_by -= 1
        if earlier.overtaken_by <= 0:
            collections.late.pop(name).apply()
    return answer


def changed(change):
    def call(shard, body):
        change(shard, body)
        return done()

    return call


CALLS = {
    ("POST", "/points"): retrieve,
    ("PUT", "/points"): changed(upsert),
    ("POST", "/points/delete"): changed(delete),
    ("POST", "/points/payload"): changed(set_payload),
    ("POST", "/points/batch"): batch,
    ("POST", "/points/query"): query,
    ("POST", "/points/query/batch"): query_batch,
    ("POST", "/points/scroll"): scroll,
    ("POST", "/points/count"): count,
    ("PUT", "/index"): index,
}
WRITES = {("PUT", "/points"), ("POST", "/points/delete"), ("POST", "/points/payload"), ("POST", "/points/batch")}


def answered(collections, method, path, body, asked_for):
    if path == "/" and method == "GET":
        return None
    found = re.fullmatch(r"/collections/([A-Za-z0-9_-]+)(/.*)?", path)
    if not found:
        raise Refused(404, "")
    name, rest = found[1], found[2]
    with collections.lock:
        match (method, rest):
            case ("PUT", None):
                return collections.create(name, body)
            case ("DELETE", None):
                return collections.drop(name)
            case ("GET", "/exists"):
                return {"exists": name in collections.shards}
        call = CALLS.get((method, rest))
        if call is None:
            raise Refused(501, f"this door does not know {method} {rest}")
        shard = collections.shard(name)
        if rest == "/index":
            collections.indexed[name].add(body["field_name"])
        # As in the strict mode that hosted servers have.
        filters = [body.get("filter"), body.get("operations"), [search.get("filter") for search in body.get("searches", [])]]
        unindexed = fields_in(filters) - collections.indexed[name]
        if unindexed:
            raise Refused(400, f"Index required but not found for {sorted(unindexed)}")
        if (method, rest) in WRITES:
            return written(collections, name, lambda: call(shard, body), body, asked_for)
        return call(shard, body)


class Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    collections = None
    key = ""

    def log_message(self, *arguments):
        pass

    def serve(self):
        length = int(self.headers.get("Content-Length") or 0)
        if length > BODY_BYTES_MAX:
            self.close_connection = True
            return self.send(413, {"status": {"error": "Payload Too Large"}})
        read = self.rfile.read(length)
        url = urlsplit(self.path)
        path = url.path
        late = self.headers.get("x-door-late")
        asked_for = (parse_qs(url.query).get("ordering") == ["strong"], int(late) if late else None)
        if self.key and path != "/" and not hmac.compare_digest(self.headers.get("api-key") or "", self.key):
            return self.send(401, {"status": {"error": "Must provide an API key or an Authorization bearer token"}})
        if path == "/":
            return self.send(200, {"title": "qdrant - vector search engine", "version": VERSION})
        try:
            result = answered(self.collections, self.command, path, json.loads(read or b"{}"), asked_for)
        except Refused as refused:
            return self.send(refused.status, {"status": {"error": str(refused)}, "time": 0.0})
        except Exception as error:  # The engine's own refusals have no common type.
            return self.send(400, {"status": {"error": f"Wrong input: {error}"}, "time": 0.0})
        return self.send(200, {"result": result, "status": "ok", "time": 0.0})

    def send(self, status, answer):
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_DELETE = serve


def main():
    folder, port_file = sys.argv[1:]
    Door.collections = Collections(folder)
    Door.key = os.environ.get("QDRANT_DOOR_KEY", "")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Door)
    with open(port_file + ".new", "w", encoding="ascii") as file:
        file.write(str(server.server_address[1]))
    os.replace(port_file + ".new", port_file)
    server.serve_forever()


main()
