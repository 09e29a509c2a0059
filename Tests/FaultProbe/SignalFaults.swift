// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Lupine

/// Signals that a host program gets: SIGPIPE where it never thought of it, and the pause between SIGSTOP and SIGCONT, which is
/// what a machine that sleeps is to a program.
struct SignalFaults {
    let place: FaultPlace

    /// Peers reset in the middle of uploads of each kind. SIGPIPE kills this process if it is ever raised.
    func run() async throws {
        _ = signal(SIGPIPE, SIG_DFL)
        let folder = try place.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let large = Data(repeating: 1, count: 12 << 20)
        let file = folder.appending(path: "upload.bin")
        try large.write(to: file)
        let session = place.session()
        for _ in 0..<10 {
            for path in ["/reset-at-once", "/reset-later"] {
                let url = place.url(path)
                let requests = [
                    session.upload(large, to: url), session.upload(file, to: url),
                    session.upload(InputStream(data: large), to: url),
                    session.upload(multipartFormData: { $0.append(file, withName: "file") }, to: url),
                ]
                for request in requests {
                    let error = await request.serializingData().response.error?.urlError
                    try place.require(
                        error?.code == .networkConnectionLost, "\(path): \(String(describing: error))")
                }
            }
            let socket = session.webSocketRequest(
                to: place.url("/reset-at-once").replacingOccurrences(of: "http", with: "ws"))
            for await _ in socket.webSocketTask().streamingMessages() {}
        }
        try await place.check(session)
    }

    /// The process stands still for three seconds. The origin sends on what was asked for, a piece at a time, and closes what
    /// has been idle for a second. Time-outs of two seconds are not for what came while nobody could take it.
    func pause() async throws {
        let session = place.session {
            $0.timeoutIntervalForRequest = 2
            $0.httpMaximumConnectionsPerHost = 8
        }
        // Some connections to lie idle, one to be busy.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<6 {
                group.addTask {
                    _ = try await session.request(place.url("/meet")).validate().serializingData().value
                }
            }
            try await group.waitForAll()
        }
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let dripping = session.request(place.url("/drip?duration=2.5&numbytes=25"))
        dripping.onHTTPResponse { _ in begin.yield() }
        let drops = dripping.validate().serializingData()
        dripping.resume()
        for await _ in begun { break }

        let keeper = Process()
        keeper.executableURL = URL(filePath: "/bin/sh")
        keeper.arguments = ["-c", "sleep 3; kill -CONT \(getpid())"]
        try keeper.run()
        // The signal is for the process: the thread that sends it may run on for a moment. A pause is a hole in the time.
        let before = ContinuousClock.now
        kill(getpid(), SIGSTOP)
        var last = before
        var longest = Duration.zero
        while longest < .seconds(2), last - before < .seconds(30) {
            poll(nil, 0, 10)
            let now = ContinuousClock.now
            longest = max(longest, now - last)
            last = now
        }
        try place.require(longest >= .seconds(2), "there was no pause, but one of \(longest)")

        let count = try await drops.value.count
        try place.require(count == 25, "of what came in the pause there are \(count) bytes")
        // The origin has closed the idle connections: requests that must not be repeated get new ones.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<8 {
                group.addTask {
                    try await place.check(session, 100 + index)
                    let text = try await session.upload(Data([1, 2]), to: place.url("/hash")).validate()
                        .serializingString().value
                    try place.require(text.contains("2"), "an upload behind the pause: \(text)")
                }
            }
            try await group.waitForAll()
        }
        keeper.waitUntilExit()
    }
}
