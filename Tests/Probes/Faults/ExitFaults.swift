// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Glibc
import Lupine

/// A program that calls `exit` with requests of every kind in flight: it ends with its own status, at once, from any caller.
struct ExitFaults {
    let origin: FaultOrigin
    /// The exit status of the process.
    private static let status: Int32 = 42

    /// Runs the scenario; `caller` is `main`, `handler` or `thread`.
    func run(_ caller: String) async throws {
        let folder = try origin.folder()
        let session = origin.session { $0.httpMaximumConnectionsPerHost = 64 }
        try await origin.check(session)
        let large = Data(repeating: 1, count: 4 << 20)
        for index in 0..<4 {
            session.request(origin.url("/drip?duration=60")).response { _ in }
            session.request(origin.url("/delay/60")).response { _ in }
            session.streamRequest(origin.url("/drip?duration=60&delay=60")).responseStream { _ in }
            session.download(
                origin.url("/drip?duration=60"), to: { _, _ in (folder.appending(path: "\(index)"), []) }
            ).response { _ in }
            session.upload(large, to: origin.url("/stall")).response { _ in }
            session.upload(
                multipartFormData: { $0.append(large, withName: "a", fileName: "a.bin") },
                to: origin.url("/stall")
            ).response { _ in }
            session.webSocketRequest(
                to: origin.url("/websocket?count=1000").replacingOccurrences(of: "http", with: "ws")
            )
            .streamMessageEvents { _ in }
        }
        // A request that always receives data.
        session.streamRequest(origin.url("/infinite")).responseStream { _ in }
        try? FileManager.default.removeItem(at: folder)
        for _ in 0..<20 { try await origin.check(session, 5_000) }
        // If the caller has not exited within a minute, it never will.
        DispatchQueue.global().asyncAfter(deadline: .now() + 60) { exit(3) }
        let (never, keeper) = AsyncStream.makeStream(of: Void.self)
        switch caller {
        case "handler":
            session.request(origin.url("/get")).response(queue: .global()) { _ in exit(Self.status) }
        case "thread": Thread.detachNewThread { exit(Self.status) }
        default: exit(Self.status)
        }
        for await _ in never {}
        keeper.finish()
    }
}
