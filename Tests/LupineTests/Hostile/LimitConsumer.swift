// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import Testing

@testable import Lupine

/// A public function that delivers a body. `Tests/ArchitectureTests/ConsumerTests.swift` compares the names with the public
/// interface.
struct LimitConsumer: Sendable, CustomTestStringConvertible {
    /// The type and name of the function.
    let name: String
    /// The overload of the function, or the way in which it is used.
    let note: String
    /// Whether the body is collected in memory.
    let collects: Bool
    /// Loads a path of the origin. The error that it returns or throws is that of the transfer.
    let load: @Sendable (PipelineStage, String) async throws -> (any Error)?

    init(
        _ name: String, _ note: String = "", collects: Bool = true,
        _ load: @escaping @Sendable (PipelineStage, String) async throws -> (any Error)?
    ) {
        self.name = name
        self.note = note
        self.collects = collects
        self.load = load
    }

    var testDescription: String { note.isEmpty ? name : "\(name), \(note)" }

    static let all: [LimitConsumer] = data + uploads + downloads + streams + gathered + loading

    /// Returns the error of the transfer at `path`, or nil if it succeeds.
    func error(_ stage: PipelineStage, _ path: String) async -> (any Error)? {
        do { return try await load(stage, path) } catch { return error }
    }
}

extension PipelineStage {
    /// A queue for handlers.
    var handlers: DispatchQueue { DispatchQueue(label: "hostile.limit") }

    /// Returns the `URLSession`, and a request for a path of the origin.
    func loading(_ path: String) throws -> (URLSession, URLRequest) {
        (session.session, URLRequest(url: try url(path).asURL()))
    }
}
