// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Lupine
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

/// Roots that the library reads only after a delegate has accepted a connection without checking it.
@Suite(.timeLimit(.minutes(10))) struct UncheckedRootsTests {
    /// The roots are in a FIFO, whose reader blocks until the test writes to it. If the event loop read it, the request for
    /// `/plain` would block as well.
    @Test("[I-12.2, U-13.17] the roots are read off the event loop while the response waits")
    func readOffTheLoop() async throws {
        let pipe = FileManager.default.temporaryDirectory.appending(path: "lupine-pipe-\(UUID())").path
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        defer { try? FileManager.default.removeItem(atPath: pipe) }
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        let configure = { (configuration: URLSessionConfiguration) in
            configuration.httpCookieStorage = storage
            configuration.urlCache = nil
            configuration.lupine.tls.roots = TrustRoots(includesSystem: false, files: [pipe])
        }
        try await SharedCache.with(leaf: "good") { shared in
            shared.origin.route("GET", "/set") { _ throws(Refusal) in
                var response = try OriginResponse(200, "text/plain", Array("9".utf8))
                try response.add("Set-Cookie", "sid=right; Secure; Path=/")
                return response
            }
            shared.origin.route("GET", "/plain") { _ throws(Refusal) in
                try OriginResponse(200, "text/plain", Array("7".utf8))
            }
            let unchecked = try shared.session(.accepting, configure)
            async let first = unchecked.fetch(try shared.url("/set"))
            // Returns once the FIFO has a reader.
            let writer = await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(returning: FileHandle(forWritingAtPath: pipe))
                }
            }
            #expect(await unchecked.fetch(try shared.url("/plain")) == .answer(7))
            try #require(writer).write(contentsOf: Data(try PKI.bytes("root.pem")))
            try writer?.close()
            #expect(try await first == .answer(9))
            unchecked.invalidate()
            // The chain satisfies the roots, so the cookie is stored for every session.
            #expect(storage.cookies?.map(\.value) == ["right"])
        }
    }
}
