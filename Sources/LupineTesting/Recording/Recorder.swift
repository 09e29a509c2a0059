// SPDX-License-Identifier: MIT

public import Foundation
internal import Lupine
public import LupineLoading

/// Stands between a program and a server, and writes down what they say: one JSON file for each exchange, without secrets.
///
/// ```swift
/// let recorder = try Recorder(into: folder)
/// let user = try await recorder.session().request("https://api.example.com/users/1").serializingString().value
/// try recorder.verify()
/// // later, without a network
/// let stubs = try Stubs.replaying(folder)
/// ```
///
/// Each request of its sessions goes to the server and is written when the response is whole; then the program gets it, with its
/// content decoded. Each hop of a redirect is an exchange of its own, and an error of the network is recorded as well. Files are
/// for their owner only (0600). `RecordingRedaction` says what is left out; whatever else a message holds, a token in a body of another
/// name too, stands in the file. Any thread.
public final class Recorder: SessionSource {
    private let core: RecorderCore
    /// Keeps the sessions.
    public let shelf = SessionShelf()

    /// A recorder into a folder, which is made if it does not exist.
    ///
    /// - Parameters:
    ///   - folder: Where the files go; it has none yet.
    ///   - configuration: How the servers are reached. It is copied; caching is switched off. A session whose configuration has other
    ///     TLS options loads nothing over https: it would be told that servers are good which it does not trust.
    ///   - redaction: What is left out.
    ///   - limits: How much is written.
    ///   - clock: What the sessions go by, those that reach the servers too; nil for the machine's clock.
    /// - Throws: `RecordingError.inUse` when the folder has recordings, `notReadable` when it cannot be looked into.
    public init(
        into folder: URL, configuration: URLSessionConfiguration = .ephemeral,
        redacting redaction: RecordingRedaction = .standard, limits: RecordingLimits = RecordingLimits(),
        clock: ManualClock? = nil
    ) throws(RecordingError) {
        core = try RecorderCore(
            RecordingFolder(url: folder, limits: limits), configuration, redaction, clock: clock)
    }

    /// A new configuration whose sessions are recorded.
    public var configuration: URLSessionConfiguration { core.configuration() }

    /// How many exchanges have begun.
    public var count: Int { core.count }

    /// Says whether everything could be written.
    ///
    /// - Throws: The first `RecordingError` that there was.
    public func verify() throws(RecordingError) {
        if let failure = core.failure { throw failure }
    }
}

extension Stubs {
    /// Stubs that answer with what was recorded: the first request of a method, an address and a body with the first recording of
    /// these, and so on. `verify` says which recordings were not asked for.
    ///
    /// - Parameters:
    ///   - folder: What a `Recorder` has written. It blocks while it is read.
    ///   - redaction: What was left out: requests are compared without it.
    ///   - limits: How much is read.
    ///   - clock: What the sessions go by; nil for the machine's clock.
    /// - Throws: `RecordingError` when a file cannot be read, is no recording or exceeds a limit.
    public static func replaying(
        _ folder: URL, redacting redaction: RecordingRedaction = .standard,
        limits: RecordingLimits = RecordingLimits(), clock: ManualClock? = nil
    ) throws(RecordingError) -> Stubs {
        let stubs = Stubs(clock: clock)
        for exchange in try RecordingFolder(url: folder, limits: limits).read() {
            stubs.expect(RequestPattern(exchange.request, redaction), exchange.answer)
        }
        return stubs
    }
}
