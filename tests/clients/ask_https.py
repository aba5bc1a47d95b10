"""Asks an HTTPS server on this machine, as any program does that trusts one authority.

    ask_https.py PORT AUTHORITY.pem < REQUESTS

REQUESTS is a JSON list; each has `server` (the name that the certificate must be for), `method`, `path`, `headers` and
`body`. Prints for each one line of JSON: `status`, `headers`, `body`, `tls` and `serial`, or `refused` with the reason why
there was no connection.
"""

import http.client
import json
import socket
import ssl
import sys

# Longest any step may take, in seconds: a debug build on a busy machine, but never for ever.
STEP = 60


def ask(port, context, one):
    plain = socket.create_connection(("127.0.0.1", port), timeout=STEP)
    with context.wrap_socket(plain, server_hostname=one["server"]) as secured:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=STEP)
        connection.sock = secured
        connection.putrequest(one["method"], one["path"], skip_host=True, skip_accept_encoding=True)
        for name, value in one["headers"]:
            connection.putheader(name, value)
        body = one["body"].encode()
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        return {
            "status": answer.status,
            "headers": {name.lower(): value for name, value in answer.getheaders()},
            "body": answer.read().decode(),
            "tls": f"{secured.version()} {secured.selected_alpn_protocol()}",
            "serial": secured.getpeercert()["serialNumber"],
        }


def main():
    context = ssl.create_default_context(cafile=sys.argv[2])
    context.set_alpn_protocols(["h2", "http/1.1"])
    for one in json.load(sys.stdin):
        try:
            answer = ask(int(sys.argv[1]), context, one)
        except (OSError, http.client.HTTPException) as error:
            answer = {"refused": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer))


main()
