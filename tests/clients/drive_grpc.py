"""Drives gRPC with Google's client for Python: the committed .proto is compiled here, as a user would, and compared with what
reflection tells. Prints `ok NAME` or `FAILED NAME` for each check.

    drive_grpc.py ADDRESS AUTHORIZATION WORK_TREE PROTO_FOLDER
"""

import importlib
import os
import subprocess
import sys
import tempfile

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format
from google.rpc import error_details_pb2
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from grpc_status import rpc_status
from grpc_tools import protoc

SECONDS_MAX = 50
SERVICE = "agent_knowledge.v1.MemoryService"
FILE = "agent_knowledge/v1/memory.proto"

address, authorization, work_tree, protos = sys.argv[1:]
failed = 0


def check(name, holds, what=""):
    global failed
    print(f"ok {name}" if holds else f"FAILED {name}: {what}")
    failed += not holds


def refused(call, *args, **more):
    try:
        call(*args, **more)
    except grpc.RpcError as error:
        return error
    return None


def compiled(folder):
    """Compiles the committed file, and imports what that gives."""
    out = [f"--{kind}_out={folder}" for kind in ("python", "grpc_python")]
    descriptors = os.path.join(folder, "descriptors.bin")
    # The files that everybody imports come with the compiler.
    common = os.path.join(os.path.dirname(protoc.__file__), "_proto")
    places = [f"-I{protos}", f"-I{common}", f"--descriptor_set_out={descriptors}"]
    status = protoc.main(["protoc", *places, *out, FILE])
    check("the committed proto compiles", status == 0, status)
    sys.path.insert(0, folder)
    names = [FILE.replace("/", ".").replace(".proto", end) for end in ("_pb2", "_pb2_grpc")]
    with open(descriptors, "rb") as file:
        described = descriptor_pb2.FileDescriptorSet.FromString(file.read()).file[0]
    return [importlib.import_module(name) for name in names] + [described]


def without_json_names(described):
    for message in described.message_type:
        for field in message.field:
            field.ClearField("json_name")
    return described


def main(folder):
    pb, stubs, described = compiled(folder)
    bare = grpc.insecure_channel(address)
    metadata = (("authorization", authorization),)
    shown = {"metadata": metadata, "timeout": SECONDS_MAX}
    memory = stubs.MemoryServiceStub(bare)

    # Who may ask.
    for name, sent in (("no", ()), ("a wrong", (("authorization", "Bearer " + "0" * 64),))):
        error = refused(memory.Status, pb.StatusRequest(), metadata=sent, timeout=SECONDS_MAX)
        code = error and error.code()
        check(f"{name} token is refused", code == grpc.StatusCode.UNAUTHENTICATED, code)

    health = health_pb2_grpc.HealthStub(bare)
    for service in ("", SERVICE):
        answer = health.Check(health_pb2.HealthCheckRequest(service=service), **shown)
        check(f"health of {service or 'all'}", answer.status == answer.SERVING, answer)
    error = refused(health.Check, health_pb2.HealthCheckRequest(service="other"), **shown)
    check("health of nothing", error and error.code() == grpc.StatusCode.NOT_FOUND, error)

    reflected(described, metadata)

    # Save, find, report; and another stream tells of it.
    happens = memory.WatchMemories(pb.WatchMemoriesRequest(events=["added", "feedback"]), **shown)
    check("a stream begins", next(happens).event == "begun")
    saved = memory.Save(
        pb.SaveRequest(
            event_type="pattern",
            lesson="freeze the clock in cart tests",
            tags=["cart"],
            repo="acme/web",
            more={"symptoms": ["cart_test failed at midnight"]},
        ),
        metadata=metadata + (("x-agent", "python"),),
        timeout=SECONDS_MAX,
    )
    key = json_format.MessageToDict(saved.json)["id"]
    check("a lesson is saved", key in saved.text or key, saved)
    found = memory.Search(pb.SearchRequest(query="cart_test failed at midnight", limit=3), **shown)
    check("it is found as text", "freeze the clock" in found.text, found)
    first = json_format.MessageToDict(found.json)["memories"][0]
    check("it is found as JSON", first["id"] == key, first)
    told = memory.Feedback(pb.FeedbackRequest(ids=[key], verdict="worked"), **shown)
    check("feedback is taken", told.text, told)
    shown_whole = memory.Show(pb.ShowRequest(ids=[key]), **shown)
    check("it counts", "worked" in shown_whole.text, shown_whole.text)

    events = [next(happens), next(happens)]
    check("a stream tells it", [one.event for one in events] == ["added", "feedback"], events)
    happens.cancel()
    rest = memory.WatchMemories(pb.WatchMemoriesRequest(after=events[0].sequence, events=["feedback"]), **shown)
    next(rest)
    check("a stream goes on", next(rest).sequence == events[1].sequence)
    rest.cancel()

    # What is wrong is named.
    error = refused(memory.Search, pb.SearchRequest(query="a", limit=99), **shown)
    check("a wrong value is refused", error and error.code() == grpc.StatusCode.INVALID_ARGUMENT, error)
    details = rpc_status.from_call(error).details
    wrong = error_details_pb2.BadRequest()
    check("its field is in the details", details and details[0].Unpack(wrong), details)
    check("its field is named", [one.field for one in wrong.field_violations] == ["limit"], wrong)
    # Field 900, a text: no version has it yet.
    raw = bare.unary_unary(f"/{SERVICE}/Search")
    error = refused(raw, b"\x0a\x01a\xa2\x38\x01b", **shown)
    check("an unknown field is refused", error and "no field 900" in error.details(), error)
    error = refused(raw, b"\x0a\xff", **shown)
    check("what is no message is refused", error and error.code() == grpc.StatusCode.INVALID_ARGUMENT, error)
    error = refused(bare.unary_unary(f"/{SERVICE}/Nothing"), b"", **shown)
    check("an unknown call is refused", error and error.code() == grpc.StatusCode.UNIMPLEMENTED, error)

    calls = [memory.Search.future(pb.SearchRequest(query=f"q{number}"), **shown) for number in range(64)]
    check("64 calls at once are answered", all(call.result() for call in calls))

    stale(pb, memory, shown)


def reflected(described, metadata):
    """What a client without the file learns."""

    class WithToken(grpc.StreamStreamClientInterceptor):
        def intercept_stream_stream(self, proceed, details, requests):
            return proceed(details._replace(metadata=metadata), requests)

    database = ProtoReflectionDescriptorDatabase(
        grpc.intercept_channel(grpc.insecure_channel(address), WithToken())
    )
    services = sorted(database.get_services())
    check("reflection lists the services", SERVICE in services and "grpc.health.v1.Health" in services, services)
    pool = descriptor_pool.DescriptorPool(database)
    search = pool.FindMessageTypeByName("agent_knowledge.v1.SearchRequest")
    check("reflection describes a message", "query" in search.fields_by_name)
    told = database.FindFileByName(FILE)
    same = without_json_names(told) == without_json_names(described)
    check("reflection tells what the committed file says", same, told)


def stale(pb, memory, shown):
    """A file that a lesson names changes while a client listens."""
    events = memory.WatchStale(pb.WatchStaleRequest(directory=work_tree), **shown)
    with open(os.path.join(work_tree, "walrus.rs"), "w", encoding="utf-8") as file:
        file.write("fn open_walrus(at: u8) {}\n")
    for step in (["add", "--all"], ["commit", "--quiet", "--message", "y"]):
        subprocess.run(["git", "-C", work_tree, *step], check=True)
    event = next(events)
    check("a memory becomes stale", event.event == "stale" and "walrus.rs" in str(event.json), event)
    events.cancel()


with tempfile.TemporaryDirectory() as temporary:
    main(temporary)
sys.exit(failed > 0)
