// SPDX-License-Identifier: MIT

internal import LupineHTTP
public import LupineTransport

/// Writes one line for each event of a transfer: a `TransferObserver` for `transferObservers`.
///
///     configuration.lupine.transferObservers = [TransferLog(level: .info) { level, line in print(level, line) }]
///
/// A line begins with the transfer's identifier. It contains no header fields and no content. Credentials in URLs and errors are
/// replaced, and control characters are escaped, so that a peer's text cannot forge a line. A credential in a path, or with an
/// unusual name, is not recognized.
public struct TransferLog: TransferObserver {
    /// The importance of a line.
    public enum Level: Int, Comparable, CaseIterable, Sendable {
        /// The events during a transfer: starts, opened and leased connections, heads of responses.
        case debug
        /// Transfers that have completed or were cancelled.
        case info
        /// Responses with a status of 400 or above, and requests that the transport sent again because their connection was lost.
        case warning
        /// Transfers that failed.
        case error

        /// Whether the first level is less important.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    private let level: Level
    private let write: @Sendable (_ level: Level, _ line: String) -> Void

    /// Creates a log.
    ///
    /// - Parameters:
    ///   - level: The lowest level to write.
    ///   - write: Receives each line, without a line end. Called on the thread on which the session or client delivers its events
    ///     to observers, one line at a time.
    public init(
        level: Level = .debug, write: @escaping @Sendable (_ level: Level, _ line: String) -> Void
    ) {
        self.level = level
        self.write = write
    }

    /// Writes a line of level `debug`.
    public func transfer(_ id: TransferID, didStart start: TransferStart) {
        let cause =
            switch start.cause {
            case .request: ""
            case .redirect(let previous): ", redirected by \(previous)"
            case .repetition(let previous): ", again after \(previous)"
            }
        let task = start.taskIdentifier.map { ", task \($0)" } ?? ""
        let proxy = start.proxy.map { ", through \($0)" } ?? ""
        log(.debug, id, "\(name(of: start)) starts\(cause)\(task)\(proxy)")
    }

    /// Writes a line of level `debug`.
    public func transfer(_ id: TransferID, didDial dial: TransferDial) {
        let address = dial.address.map { " (\($0))" } ?? ""
        let tls = dial.tlsVersion.map { ", \($0), \(dial.tlsCipherSuite ?? "")" } ?? ""
        log(
            .debug, id,
            "opened a connection to \(dial.host) port \(dial.port)\(address) in \(time(dial.duration))\(tls)")
    }

    /// Writes a line of level `debug`, or `warning` if the request is sent again because the previous connection was lost.
    public func transfer(_ id: TransferID, didLease lease: TransferLease) {
        let connection = lease.isReused ? "a kept connection" : "a new connection"
        let waitingTime = time(lease.waited)
        if lease.isReplay {
            log(
                .warning, id,
                "is sent again on \(connection), for the one before had died; waited \(waitingTime)")
        } else {
            log(.debug, id, "has \(connection); waited \(waitingTime)")
        }
    }

    /// Writes a line of level `debug`.
    public func transfer(_ id: TransferID, didReceive head: TransferHead) {
        log(.debug, id, "status \(head.status), first byte after \(time(head.timeToFirstByte))")
    }

    /// Writes a line of level `error` for a failure, `warning` for a status of 400 or above, otherwise `info`.
    public func transfer(_ id: TransferID, didEnd end: TransferEnd) {
        let request = "\(name(of: end.start))"
        let duration = "after \(time(end.duration))"
        switch end.outcome {
        case .completed:
            let status = end.status.map { "\($0)" } ?? "no response"
            let isHTTPError = end.status.map { $0.code >= 400 } ?? false
            let counts =
                "sent \(end.metrics.requestBodyBytesSent), received \(end.metrics.responseBodyBytesReceived) bytes"
            log(isHTTPError ? .warning : .info, id, "\(request) ended with \(status) \(duration); \(counts)")
        case .cancelled: log(.info, id, "\(request) was cancelled \(duration)")
        case .failed(let error): log(.error, id, "\(request) failed \(duration): \(error)")
        }
    }

    /// Returns the method and the URL, and the path of the Unix-domain socket if there is one.
    private func name(of start: TransferStart) -> String {
        start.unixSocketPath.map { "\(start.method) \(start.url) at \($0)" } ?? "\(start.method) \(start.url)"
    }

    private func time(_ duration: Duration) -> String { "\(Interval(duration))" }

    /// Writes a line if its level is high enough. Credentials in the text are replaced.
    private func log(_ level: Level, _ id: TransferID, _ text: @autoclosure () -> String) {
        guard level >= self.level else { return }
        let line = LogRedaction.line("\(id) \(text())")
        assertNoLockIsHeld()
        write(level, line)
    }
}
