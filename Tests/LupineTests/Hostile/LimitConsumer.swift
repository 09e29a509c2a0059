// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import LupineLoading
import Testing

@testable import Lupine

/// Somebody who is given a body: by a public function, whose name it has. `Tests/ArchitectureTests/ConsumerTests.swift` holds the
/// names against the public interface.
struct LimitConsumer: Sendable, CustomTestStringConvertible {
    /// The type and the name of the function.
    let name: String
    /// Which of the functions of that name, or how it is used.
    let note: String
    /// Whether the body is collected in memory.
    let collects: Bool
    /// Loads what is at a path of the origin's; what it returns or throws is the error of the transfer.
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

    /// The error that the transfer at `path` comes to; nil where it succeeds.
    func error(_ stage: PipelineStage, _ path: String) async -> (any Error)? {
        do { return try await load(stage, path) } catch { return error }
    }
}

extension PipelineStage {
    /// A queue for handlers.
    var handlers: DispatchQueue { DispatchQueue(label: "hostile.limit") }

    /// The session of the loading system, and an address of the origin's for it.
    func loading(_ path: String) throws -> (URLSession, URLRequest) {
        (session.session, URLRequest(url: try url(path).asURL()))
    }
}
