// SPDX-License-Identifier: MIT

public import Foundation
internal import Lupine
public import LupineLoading

/// Records the exchanges between a program and a server: one JSON file for each exchange, with secrets redacted.
///
/// ```swift
/// let recorder = try Recorder(into: folder)
/// let user = try await recorder.session().request("https://api.example.com/users/1").serializingString().value
/// try recorder.verify()
/// // later, without a network
/// let stubs = try Stubs.replaying(folder)
/// ```
///
/// Each request of its sessions is sent to the server, and written once the response is complete; then the program receives
/// the response, with its content decoded. Each response of a redirect chain is a separate exchange. Network errors are
/// recorded as well. Files are readable by their owner only (0600). `RecordingRedaction` defines what is redacted;
/// everything else is written, including, for example, a token in a body under another name. Can be used on any thread.
public final class Recorder: SessionSource {
    private let core: RecorderCore
    /// Retains the sessions.
    public let shelf = SessionShelf()

    /// Creates a recorder that writes to a folder, which is created if it does not exist.
    ///
    /// - Parameters:
    ///   - folder: The folder for the files; it must not contain recordings.
    ///   - configuration: The configuration for the connections to servers. It is copied, with caching off. A session whose
    ///     TLS options differ from it fails all https loads, because it would accept responses of servers that it does not
    ///     trust.
    ///   - redaction: Defines what is redacted.
    ///   - limits: Limits the size of the recording.
    ///   - clock: The clock of all sessions, including those that connect to the servers; nil for the system clock.
    /// - Throws: `RecordingError.inUse` when the folder contains recordings, `notReadable` when it cannot be read.
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

    /// The number of exchanges that have begun.
    public var count: Int { core.count }

    /// Checks that all exchanges could be written.
    ///
    /// - Throws: The first `RecordingError` that occurred.
    public func verify() throws(RecordingError) {
        if let failure = core.failure { throw failure }
    }
}

extension Stubs {
    /// Returns stubs that answer with a recording: the first request of a method, a URL and a body gets the first recorded
    /// outcome for them, the second request the second outcome, and so on. `verify` reports the recordings that were not
    /// requested.
    ///
    /// - Parameters:
    ///   - folder: A folder written by a `Recorder`. Reading it blocks.
    ///   - redaction: The redaction of the recording; it is applied to requests before they are compared.
    ///   - limits: Limits the size of the recording.
    ///   - clock: The clock of the sessions; nil for the system clock.
    /// - Throws: `RecordingError` when a file cannot be read, is not a recording or exceeds a limit.
    public static func replaying(
        _ folder: URL, redacting redaction: RecordingRedaction = .standard,
        limits: RecordingLimits = RecordingLimits(), clock: ManualClock? = nil
    ) throws(RecordingError) -> Stubs {
        let stubs = Stubs(clock: clock)
        for exchange in try RecordingFolder(url: folder, limits: limits).read() {
            stubs.expect(RequestPattern(exchange.request, redaction), exchange.replay)
        }
        return stubs
    }
}
