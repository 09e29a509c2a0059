// SPDX-License-Identifier: MIT

import Synchronization

/// Stands in for swift-log's `Logger`, in the tests of the bridges that `Observability.md` shows: the names that they use, in the
/// same shapes, and what was written. The module has
/// another name than the package's: none may stand twice in a graph of packages.
public struct Logger: Sendable {
    /// How much a message matters.
    public enum Level: String, Sendable { case trace, debug, info, notice, warning, error, critical }

    /// A message.
    public struct Message: ExpressibleByStringInterpolation, Sendable {
        let text: String
        public init(stringLiteral value: String) { text = value }
    }

    /// What goes along with a message.
    public typealias Metadata = [String: MetadataValue]

    /// A value of it.
    public enum MetadataValue: ExpressibleByStringInterpolation, Sendable {
        case string(String)
        public init(stringLiteral value: String) { self = .string(value) }
    }

    /// A message that was written.
    public struct Written: Sendable {
        public let label: String
        public let level: Level
        public let text: String
        public let keys: [String]
    }

    /// What was written by all loggers.
    public static var written: [Written] { log.withLock { $0 } }
    private static let log = Mutex<[Written]>([])

    public let label: String
    public var logLevel = Level.info

    public init(label: String) { self.label = label }

    public func log(
        level: Level, _ message: @autoclosure () -> Message, metadata: @autoclosure () -> Metadata? = nil
    ) {
        let written = Written(
            label: label, level: level, text: message().text, keys: (metadata() ?? [:]).keys.sorted())
        Self.log.withLock { $0.append(written) }
    }
}
