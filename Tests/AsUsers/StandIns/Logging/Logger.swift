// SPDX-License-Identifier: MIT

import Synchronization

/// Stands in for swift-log's `Logger` in the tests of the bridges in `Observability.md`: declares the names that they use with
/// the same signatures, and records the messages. The module is not called like the package's, because module names must be
/// unique in a package graph.
public struct Logger: Sendable {
    /// The severity of a message.
    public enum Level: String, Sendable { case trace, debug, info, notice, warning, error, critical }

    /// A message.
    public struct Message: ExpressibleByStringInterpolation, Sendable {
        let text: String
        public init(stringLiteral value: String) { text = value }
    }

    /// The metadata of a message.
    public typealias Metadata = [String: MetadataValue]

    /// A value in the metadata.
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

    /// The messages of all loggers.
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
