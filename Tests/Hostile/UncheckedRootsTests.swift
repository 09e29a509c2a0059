// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Lupine
import LupineLoading
import LupineOrigin
import LupineTLS
import LupineTestKit
import Testing

/// Roots that had not been read when a connection was accepted unchecked, and that its responses must be checked against.
@Suite(.timeLimit(.minutes(10))) struct UncheckedRootsTests {
    /// The roots are a FIFO: its reader blocks until the test writes them. If the loop read them, nothing else would proceed.
    @Test("[I-12.2, U-13.17] they are read off the loop, while the response stands still")
    func readOffTheLoop() async throws {
        let pipe = FileManager.default.temporaryDirectory.appending(path: "lupine-pipe-\(UUID())").path
        try #require(unsafe mkfifo(pipe, 0o600) == 0)
        defer { try? FileManager.default.removeItem(atPath: pipe) }
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        let change = { (configuration: URLSessionConfiguration) in
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
            let unchecked = try shared.session(.accepting, change)
            async let first = unchecked.ask(try shared.url("/set"))
            // Returns once the FIFO has a reader.
            let writer = await withCheckedContinuation { continuation in
                DispatchQueue.global().async {
                    continuation.resume(returning: FileHandle(forWritingAtPath: pipe))
                }
            }
            #expect(await unchecked.ask(try shared.url("/plain")) == .answer(7))
            try #require(writer).write(contentsOf: Data(try PKI.bytes("root.pem")))
            try writer?.close()
            #expect(try await first == .answer(9))
            unchecked.end()
            #expect(storage.cookies?.map(\.value) == ["right"], "the chain has passed: everybody's")
        }
    }
}
