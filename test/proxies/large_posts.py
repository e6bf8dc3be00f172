"""Posts large bodies with urllib and http.client, with a Content-Length and in chunks: ORIGIN SIZE...

Prints a line of JSON for each response: what was sent, the status and the body.
"""

import http.client
import json
import sys
import urllib.error
import urllib.parse
import urllib.request

ORIGIN, *SIZES = sys.argv[1:]
PATH = "/api/newsletter"
HEADERS = {"Content-Type": "application/json"}


def post_with_urllib(body):
    request = urllib.request.Request(ORIGIN + PATH, body, HEADERS, method="POST")
    try:
        with urllib.request.urlopen(request) as response:
            return response.status, response.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def post(body, headers, chunked):
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(ORIGIN).netloc)
    connection.request("POST", PATH, body, {**HEADERS, **headers}, encode_chunked=chunked)
    response = connection.getresponse()
    return response.status, response.read()


CLIENTS = {
    "urllib": post_with_urllib,
    "http.client with a length": lambda body: post(body, {}, False),
    "http.client in chunks": lambda body: post([body], {"Transfer-Encoding": "chunked"}, True),
}

for size in map(int, SIZES):
    for client, send in CLIENTS.items():
        try:
            status, text = send(b"x" * size)
        except OSError as error:
            status, text = 0, repr(error).encode()
        print(json.dumps({"client": client, "size": size, "status": status, "text": text.decode()}))
