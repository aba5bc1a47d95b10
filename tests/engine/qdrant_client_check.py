"""Qdrant's official client against an address: what our engine sends is what the client sends, so the door speaks the real forms.

    qdrant_client_check.py URL            the key is in QDRANT_DOOR_KEY
"""

import os
import sys
import warnings

from qdrant_client import QdrantClient, models

warnings.filterwarnings("ignore", message="Api key is used with an insecure connection")
NAME = f"client-check-{os.getpid()}"
VISIBLE = models.Filter(
    must=[models.FieldCondition(key="live", match=models.MatchValue(value=1))],
    must_not=[models.FieldCondition(key="from", range=models.Range(gt=7))],
)


def uuid(number):
    return f"00000000-0000-0000-0000-{number:012x}"


def check(what, one, other):
    if one != other:
        sys.exit(f"qdrant_client_check: {what}: {one!r}, not {other!r}")


def main():
    client = QdrantClient(url=sys.argv[1], api_key=os.environ.get("QDRANT_DOOR_KEY"), timeout=30)
    check("not made yet", client.collection_exists(NAME), False)
    client.create_collection(
        NAME,
        vectors_config={"meaning": models.VectorParams(size=4, distance=models.Distance.COSINE)},
        sparse_vectors_config={"words": models.SparseVectorParams()},
    )
    try:
        checked(client)
    finally:
        client.delete_collection(NAME)
    check("gone", client.collection_exists(NAME), False)
    print("qdrant_client_check: the official client and our forms agree")


def checked(client):
    for field in ("live", "from", "until"):
        client.create_payload_index(NAME, field, models.PayloadSchemaType.INTEGER, wait=True)
    client.create_payload_index(NAME, "repo", models.KeywordIndexParams(type="keyword", is_tenant=True), wait=True)
    words = [models.SparseVector(indices=[7, 4_000_000_000], values=[weight, 0.5]) for weight in (0.5, 1.0, 1.5)]
    points = [
        models.PointStruct(
            id=uuid(number),
            vector={"words": sparse, "meaning": [number + 1, 1, 0, 0]} if number else {"words": sparse},
            payload={"live": 1, "repo": f"r{number % 2}", "from": 6 + number},
        )
        for number, sparse in enumerate(words)
    ]
    client.upsert(NAME, points, wait=True)
    query = models.SparseVector(indices=[7, 9], values=[2.0, 1.0])
    hits = client.query_points(NAME, query=query, using="words", query_filter=VISIBLE, limit=5, with_payload=["repo"]).points
    found = [(str(hit.id), round(hit.score, 5), hit.payload) for hit in hits]
    check("words", found, [(uuid(1), 2.0, {"repo": "r1"}), (uuid(0), 1.0, {"repo": "r0"})])
    asked = [models.QueryRequest(query=query, using="words", filter=VISIBLE, limit=limit) for limit in (1, 5)]
    answers = client.query_batch_points(NAME, asked)
    check("several", [[str(hit.id) for hit in answer.points] for answer in answers], [[uuid(1)], [uuid(1), uuid(0)]])
    hits = client.query_points(NAME, query=[1.0, 1.0, 0.0, 0.0], using="meaning", limit=5).points
    check("meaning", [str(hit.id) for hit in hits], [uuid(1), uuid(2)])
    kept = client.retrieve(NAME, [uuid(2), uuid(9)], with_payload=["from"])
    check("records", [(str(point.id), point.payload) for point in kept], [(uuid(2), {"from": 8})])
    page, following = client.scroll(NAME, limit=2, with_payload=False)
    check("a page", ([str(point.id) for point in page], str(following)), ([uuid(0), uuid(1)], uuid(2)))
    client.batch_update_points(
        NAME,
        [
            models.SetPayloadOperation(set_payload=models.SetPayload(payload={"until": 8}, points=[uuid(0)])),
            models.DeleteOperation(delete=models.PointIdsList(points=[uuid(1)])),
            models.DeletePayloadOperation(
                delete_payload=models.DeletePayload(
                    keys=["until"],
                    filter=models.Filter(must=[models.FieldCondition(key="until", range=models.Range(gt=7))]),
                )
            ),
            models.DeleteOperation(
                delete=models.FilterSelector(
                    filter=models.Filter(must=[models.FieldCondition(key="from", range=models.Range(gt=7))])
                )
            ),
        ],
        wait=True,
    )
    left, _ = client.scroll(NAME, limit=9, with_payload=True)
    check("what is left", [(str(point.id), sorted(point.payload)) for point in left], [(uuid(0), ["from", "live", "repo"])])
    check("how many", client.count(NAME).count, 1)


main()
