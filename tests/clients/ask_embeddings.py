"""Asks our server for vectors with OpenAI's own client, as it comes: it wants base64 unless told otherwise.

    python ask_embeddings.py URL KEY

Prints one JSON object: the model, the vectors, and what the client makes of a wrong model and a wrong key.
"""

import json
import sys

import openai


def main() -> None:
    url, key = sys.argv[1:3]
    client = openai.OpenAI(base_url=url, api_key=key, max_retries=0)
    texts = ["hello world", "the linker runs out of memory"]
    usual = client.embeddings.create(model="all-MiniLM-L6-v2", input=texts)
    floats = client.embeddings.create(model="all-MiniLM-L6-v2", input=texts, encoding_format="float")
    try:
        client.embeddings.create(model="nobody", input=texts)
        wrong_model = None
    except openai.NotFoundError as error:
        wrong_model = error.message
    try:
        openai.OpenAI(base_url=url, api_key="wrong", max_retries=0).embeddings.create(model="all-MiniLM-L6-v2", input="x")
        wrong_key = None
    except openai.AuthenticationError as error:
        wrong_key = error.status_code
    print(
        json.dumps(
            {
                "model": usual.model,
                "tokens": usual.usage.total_tokens,
                "vectors": [one.embedding for one in usual.data],
                "floats": [one.embedding for one in floats.data],
                "wrong_model": wrong_model,
                "wrong_key": wrong_key,
            }
        )
    )


main()
