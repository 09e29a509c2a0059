# SPDX-License-Identifier: MIT
# hypercorn, on Python's h2, as Lupine's peer.
#
#     python3 peer.py PACKAGES FOLDER PORT [CERTIFICATE KEY]
#
# It answers as HTTP2PeerContent.swift says, but for X-Got: ASGI knows no trailers of requests. Without a certificate it speaks
# HTTP/2 without TLS.

import asyncio
import hashlib
import os
import sys

sys.path.insert(0, sys.argv[1])
try:
    from hypercorn.asyncio import serve
    from hypercorn.config import Config
except ImportError as error:
    sys.exit(f"{error.name}: not in .build/python-packages; Scripts/setup --test installs it")

FOLDER = sys.argv[2]


async def pieces(receive):
    while True:
        message = await receive()
        if message["type"] == "http.disconnect": return
        yield message.get("body", b"")
        if not message.get("more_body"): return


# Web sockets over HTTP/2 (RFC 8441): what comes goes back, and "close" closes with 4000.
async def socket(scope, receive, send):
    await receive()
    if scope["path"] != "/socket":
        return await send({"type": "websocket.close"})
    offered = scope["subprotocols"]
    await send({"type": "websocket.accept", "subprotocol": "lupine" if "lupine" in offered else None})
    while (message := await receive())["type"] == "websocket.receive":
        if message.get("text") == "close":
            return await send({"type": "websocket.close", "code": 4000, "reason": "bye"})
        await send({**message, "type": "websocket.send"})


async def application(scope, receive, send):
    if scope["type"] == "websocket": return await socket(scope, receive, send)
    if scope["type"] == "lifespan":
        while True:
            message = await receive()
            await send({"type": message["type"] + ".complete"})
            if message["type"] == "lifespan.shutdown": return
    if scope["type"] != "http": return

    async def start(status=200, headers=(), trailers=False):
        await send({"type": "http.response.start", "status": status, "headers": list(headers), "trailers": trailers})

    async def body(piece=b"", more=False):
        await send({"type": "http.response.body", "body": piece, "more_body": more})

    path, hasContent = scope["path"], scope["method"] != "HEAD"
    if path in ("/small", "/large"):
        name = FOLDER + path
        await start(headers=[(b"content-length", str(os.path.getsize(name)).encode())])
        with open(name, "rb") as file:
            while hasContent and (piece := file.read(1 << 16)): await body(piece, True)
        await body()
    elif path == "/echo":
        # As it comes: the response begins before the request is over.
        await start()
        async for piece in pieces(receive): await body(piece, True)
        await body()
    elif path == "/digest":
        digest = hashlib.sha256()
        async for piece in pieces(receive): digest.update(piece)
        await start()
        await body(digest.hexdigest().encode())
    elif path == "/trailers":
        async for piece in pieces(receive): pass
        await start(trailers=True)
        await body(b"trailers")
        await send({"type": "http.response.trailers", "headers": [(b"x-check", b"done")]})
    elif path == "/early":
        await send({"type": "http.response.early_hint", "links": [b"</style>"]})
        await start()
        await body(b"late")
    elif path == "/fields":
        await start(headers=[pair for pair in scope["headers"] if pair[0].startswith(b"x-field-")])
        await body()
    else:
        await start(404)
        await body(b"nothing here")


config = Config()
config.bind = [f"127.0.0.1:{sys.argv[3]}"]
config.keep_alive_timeout = 3600
config.websocket_max_message_size = 64 << 20
config.keep_alive_max_requests = 1 << 30
if len(sys.argv) > 4: config.certfile, config.keyfile = sys.argv[4:6]
asyncio.run(serve(application, config))
