// SPDX-License-Identifier: MIT

import Synchronization

/// Stands in for swift-metrics' `Counter` in the tests of the bridges in `Observability.md`: declares the names that they use
/// with the same signatures, and records the values. The module is not called like the package's, because module names must be
/// unique in a package graph.
public final class Counter: Sendable {
    private let label: String
    private let dimensions: [(String, String)]

    public init(label: String, dimensions: [(String, String)] = []) {
        self.label = label
        self.dimensions = dimensions
    }

    public func increment(by amount: some BinaryInteger) { Recorded.note(label, dimensions, Double(amount)) }
}

/// Stands in for `Timer`.
public final class Timer: Sendable {
    private let label: String
    private let dimensions: [(String, String)]

    public init(label: String, dimensions: [(String, String)] = []) {
        self.label = label
        self.dimensions = dimensions
    }

    public func recordNanoseconds(_ duration: some BinaryInteger) {
        Recorded.note(label, dimensions, Double(duration))
    }
}

/// Stands in for `Gauge`.
public final class Gauge: Sendable {
    private let label: String
    private let dimensions: [(String, String)]

    public init(label: String, dimensions: [(String, String)] = []) {
        self.label = label
        self.dimensions = dimensions
    }

    public func record(_ value: some BinaryInteger) { Recorded.note(label, dimensions, Double(value)) }
}

/// A value that was recorded.
public struct Recorded: Sendable {
    public let label: String
    public let dimensions: [String: String]
    public let value: Double

    /// All recorded values.
    public static var all: [Recorded] { log.withLock { $0 } }
    private static let log = Mutex<[Recorded]>([])

    static func note(_ label: String, _ dimensions: [(String, String)], _ value: Double) {
        let recorded = Recorded(
            label: label, dimensions: Dictionary(uniqueKeysWithValues: dimensions), value: value)
        log.withLock { $0.append(recorded) }
    }
}
