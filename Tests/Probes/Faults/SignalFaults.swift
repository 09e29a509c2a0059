// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Lupine

/// Signals that a host program receives: SIGPIPE with its default action, and the pause between SIGSTOP and SIGCONT, which
/// resembles a suspended machine.
struct SignalFaults {
    let origin: FaultOrigin

    /// Peers reset during uploads of each kind. SIGPIPE would kill this process.
    func run() async throws {
        _ = signal(SIGPIPE, SIG_DFL)
        let folder = try origin.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let large = Data(repeating: 1, count: 12 << 20)
        let file = folder.appending(path: "upload.bin")
        try large.write(to: file)
        let session = origin.session()
        for _ in 0..<10 {
            for path in ["/reset-at-once", "/reset-later"] {
                let url = origin.url(path)
                let requests = [
                    session.upload(large, to: url), session.upload(file, to: url),
                    session.upload(InputStream(data: large), to: url),
                    session.upload(multipartFormData: { $0.append(file, withName: "file") }, to: url),
                ]
                for request in requests {
                    let error = await request.serializingData().response.error?.urlError
                    try origin.require(
                        error?.code == .networkConnectionLost, "\(path): \(String(describing: error))")
                }
            }
            let socket = session.webSocketRequest(
                to: origin.url("/reset-at-once").replacingOccurrences(of: "http", with: "ws"))
            for await _ in socket.webSocketTask().streamingMessages() {}
        }
        try await origin.check(session)
    }

    /// The process is stopped for twelve seconds. Meanwhile the origin closes idle connections and sends the rest of a response.
    /// A time-out of ten seconds must not apply to data that arrived while the process was stopped.
    func pause() async throws {
        let session = origin.session {
            $0.timeoutIntervalForRequest = 10
            $0.httpMaximumConnectionsPerHost = 8
        }
        // A busy connection.
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let dropping = session.request(origin.url("/drops"))
        dropping.onHTTPResponse { _ in begin.yield() }
        // If the request fails, the wait ends, and `drops` throws its error.
        dropping.response(queue: .global()) { _ in begin.finish() }
        let drops = dropping.validate().serializingData()
        for await _ in begun { break }
        // Connections that are idle during the pause.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    _ = try await session.request(origin.url("/meet")).validate().serializingData().value
                }
            }
            try await group.waitForAll()
        }

        let keeper = Process()
        keeper.executableURL = URL(filePath: "/bin/bash")
        keeper.arguments = ["-c", Self.keeper, "keeper", "\(getpid())", "\(origin.port)"]
        try keeper.run()
        // The signal stops the process, but the thread that sends it may run on for a moment. The pause shows as a gap in the
        // time.
        let before = ContinuousClock.now
        kill(getpid(), SIGSTOP)
        var last = before
        var longest = Duration.zero
        while longest < .seconds(11), last - before < .seconds(60) {
            poll(nil, 0, 10)
            let now = ContinuousClock.now
            longest = max(longest, now - last)
            last = now
        }
        try origin.require(longest >= .seconds(11), "there was no pause, but one of \(longest)")

        let count = try await drops.value.count
        try origin.require(count == 25, "of what came in the pause there are \(count) bytes")
        // The origin has closed the idle connections: requests that must not be repeated get new ones.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
                group.addTask {
                    let text = try await session.upload(Data([1, 2]), to: origin.url("/hash")).validate()
                        .serializingString().value
                    try origin.require(text.contains("2"), "an upload behind the pause: \(text)")
                    try await origin.check(session, 100 + index)
                }
            }
            try await group.waitForAll()
        }
        keeper.waitUntilExit()
        try origin.require(keeper.terminationStatus == 0, "the origin did not close what was idle")
    }

    /// Waits until the process is stopped, requests `/paused` from the origin, and continues the process twelve seconds later in
    /// any case. Exits with 0 if the origin has answered. The twelve seconds are the pause itself.
    private static let keeper = #"""
        trap 'sleep 12; kill -CONT "$1"' EXIT
        until grep -q '^State:[[:space:]]*T' "/proc/$1/status"; do
            [ -e "/proc/$1" ] || exit 1
            sleep 0.05
        done
        exec 3<>"/dev/tcp/127.0.0.1/$2"
        printf 'GET /paused HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n' >&3
        grep -q '^HTTP/1.1 200' <&3
        """#
}
