// SPDX-License-Identifier: MIT

import Foundation
internal import LupineLoading

/// Runs the serializer of one stream handler on each chunk, with the reader of the attempt.
///
/// Called for one chunk after the other, on a serial queue. The first chunk of a later attempt creates a new reader; the
/// unfinished state of the earlier attempt is discarded with the old one.
final class StreamSerialization<Value: Sendable>: Sendable {
    private struct Progress: Sendable {
        var attempt: Int
        var reader: any DataStreamReader<Value>
    }

    private enum Mode: Sendable {
        /// Each chunk is a value.
        case piecewise(@Sendable (Data) throws -> Value)
        /// Values may span chunks.
        case spanning(any SpanningStreamSerializer<Value>, Protected<Progress?>)
    }

    private let manner: Mode

    init<Serializer: DataStreamSerializer>(_ serializer: Serializer)
    where Serializer.SerializedObject == Value {
        if let spanning = serializer as? any SpanningStreamSerializer<Value> {
            manner = .spanning(spanning, Protected(nil))
        } else {
            manner = .piecewise { try serializer.serialize($0) }
        }
    }

    /// Returns the results for `data`, which was received in that attempt.
    func results(of data: Data, attempt: Int) -> [Result<Value, AFError>] {
        switch manner {
        case .piecewise(let serialize): [Result { try serialize(data) }.mapError(Self.asAFError)]
        case .spanning: advance(attempt) { $0.read(data) }
        }
    }

    /// Returns the remaining results after the stream of that attempt has ended regularly.
    func lastResults(attempt: Int) -> [Result<Value, AFError>] {
        switch manner {
        case .piecewise: []
        case .spanning: advance(attempt) { $0.finish() }
        }
    }

    /// Advances the reader outside the lock, because it calls the program's decoder.
    private func advance(
        _ attempt: Int, by step: (inout any DataStreamReader<Value>) -> [Result<Value, any Error>]
    ) -> [Result<Value, AFError>] {
        guard case .spanning(let serializer, let state) = manner else { return [] }
        let stored: Progress? = state.write { progress in
            defer { progress = nil }
            return progress
        }
        var progress = stored ?? Progress(attempt: attempt, reader: serializer.makeReader())
        if progress.attempt != attempt {
            progress = Progress(attempt: attempt, reader: serializer.makeReader())
        }
        assertNoLockIsHeld()
        let results = step(&progress.reader)
        state.write(progress)
        return results.map { $0.mapError(Self.asAFError) }
    }

    private static func asAFError(_ error: any Error) -> AFError {
        (error as? AFError) ?? .responseSerializationFailed(reason: .customSerializationFailed(error: error))
    }
}
