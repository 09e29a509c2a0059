// SPDX-License-Identifier: MIT

import LupineTestKit

/// nghttpd, the file server of nghttp2, which shares no code with Lupine. It echoes posted content.
struct NghttpdServer: ServerRecipe {
    var isSecure = false
    /// Options for windows, tables, padding and the like.
    var options: [String] = []

    let programs = ["nghttpd"]

    func files(_ place: ServerPlace) -> [(name: String, text: String)] { [] }

    func command(_ program: String, _ place: ServerPlace) -> [String] {
        [
            program, "--address=127.0.0.1", "--htdocs=\(place.folder)", "--echo-upload",
            "--trailer=x-check: done",
        ] + options + (isSecure ? [] : ["--no-tls"]) + ["\(place.port)"]
            + (isSecure ? [PKI.path("good.key"), PKI.path("good-chain.pem")] : [])
    }
}

/// nghttpx, the proxy of nghttp2, in front of an origin: HTTP/2 on both sides.
struct NghttpxServer: ServerRecipe {
    /// The origin's port on 127.0.0.1.
    let origin: UInt16
    var isSecure = false
    /// Options for windows, tables, padding and the like.
    var options: [String] = []

    let programs = ["nghttpx"]

    func files(_ place: ServerPlace) -> [(name: String, text: String)] { [] }

    func command(_ program: String, _ place: ServerPlace) -> [String] {
        [
            program, "--conf=/dev/null", "--single-process", "--workers=1",
            "--frontend=127.0.0.1,\(place.port)\(isSecure ? "" : ";no-tls")",
            "--backend=127.0.0.1,\(origin);;proto=h2", "--errorlog-file=\(place.folder)/error.log",
        ] + options + (isSecure ? ["--no-ocsp", PKI.path("good.key"), PKI.path("good-chain.pem")] : [])
    }
}
