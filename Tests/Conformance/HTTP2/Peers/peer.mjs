// SPDX-License-Identifier: MIT
// Node's http2 as Lupine's peer.
//
//     node peer.mjs FOLDER PORT SETTINGS [CERTIFICATE KEY]
//
// It answers as HTTP2PeerContent.swift says; SETTINGS is the JSON of what it announces. Without a certificate it speaks HTTP/2
// without TLS.

import { createReadStream, readFileSync, statSync } from "node:fs";
import { createSecureServer, createServer } from "node:http2";

const [folder, port, settings, certificate, key] = process.argv.slice(2);

function file(stream, name, hasContent) {
    const path = `${folder}/${name}`;
    stream.respond({ ":status": 200, "content-length": statSync(path).size }, { endStream: !hasContent });
    if (hasContent) createReadStream(path).pipe(stream);
}

function answer(stream, headers) {
    // A client may leave at any moment.
    stream.on("error", () => {});
    switch (headers[":path"]) {
        case "/small": return file(stream, "small", headers[":method"] !== "HEAD");
        case "/large": return file(stream, "large", true);
        // As it comes: the response begins before the request is over.
        case "/echo":
            stream.respond({ ":status": 200 });
            return stream.pipe(stream);
        case "/trailers": {
            let got = "";
            stream.on("trailers", (fields) => { got = fields["x-sent"] ?? ""; });
            stream.on("wantTrailers", () => stream.sendTrailers({ "x-check": "done", "x-got": got }));
            stream.on("end", () => {
                stream.respond({ ":status": 200 }, { waitForTrailers: true });
                stream.end("trailers");
            });
            return stream.resume();
        }
        case "/early":
            stream.additionalHeaders({ ":status": 103, link: "</style>" });
            stream.respond({ ":status": 200 });
            return stream.end("late");
        case "/fields": {
            const fields = Object.entries(headers).filter(([name]) => name.startsWith("x-field-"));
            stream.respond({ ":status": 200, ...Object.fromEntries(fields) });
            return stream.end();
        }
        default:
            stream.respond({ ":status": 404 });
            return stream.end("nothing here");
    }
}

const options = { settings: JSON.parse(settings) };
const server = certificate
    ? createSecureServer({ ...options, cert: readFileSync(certificate), key: readFileSync(key) })
    : createServer(options);
server.on("stream", answer);
server.on("sessionError", () => {});
server.listen(Number(port), "127.0.0.1");
