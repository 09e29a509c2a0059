// SPDX-License-Identifier: MIT

import Foundation
internal import LupineLoading

/// Runs the serializer of one stream handler on each piece, with the reader of the attempt.
///
/// Called for one piece after the other, on a serial queue. The first piece of a later attempt creates a new reader. The old
/// reader is discarded, and with it the beginning of a value that the earlier attempt did not complete.
final class StreamSerialization<Value: Sendable>: Sendable {
    /// A reader, and the number of the attempt whose stream it reads.
    private struct AttemptReader: Sendable {
        var attempt: Int
        var reader: any DataStreamReader<Value>
    }

    /// The way in which the serializer converts pieces to values.
    private enum Mode: Sendable {
        /// Each piece is a value.
        case perPiece(@Sendable (Data) throws -> Value)
        /// Values may span pieces. The reader is nil before the first piece and while a thread uses it.
        case spanning(any SpanningStreamSerializer<Value>, Protected<AttemptReader?>)
    }

    private let mode: Mode

    init<Serializer: DataStreamSerializer>(_ serializer: Serializer)
    where Serializer.SerializedObject == Value {
        if let spanning = serializer as? any SpanningStreamSerializer<Value> {
            mode = .spanning(spanning, Protected(nil))
        } else {
            mode = .perPiece { try serializer.serialize($0) }
        }
    }

    /// Returns the results for a piece of the stream, which was received in the attempt with this number.
    func results(of data: Data, attempt: Int) -> [Result<Value, AFError>] {
        switch mode {
        case .perPiece(let serialize): [Result { try serialize(data) }.mapError(Self.asAFError)]
        case .spanning: withReader(of: attempt) { $0.read(data) }
        }
    }

    /// Returns the remaining results of the attempt with this number, after the last piece of its stream.
    func lastResults(attempt: Int) -> [Result<Value, AFError>] {
        switch mode {
        case .perPiece: []
        case .spanning: withReader(of: attempt) { $0.finish() }
        }
    }

    /// Calls `body` with the reader of the attempt; creates the reader if the stored one belongs to another attempt. `body` is
    /// called outside the lock, because the reader calls the program's decoder.
    private func withReader(
        of attempt: Int, _ body: (inout any DataStreamReader<Value>) -> [Result<Value, any Error>]
    ) -> [Result<Value, AFError>] {
        guard case .spanning(let serializer, let storage) = mode else { return [] }
        let storedReader: AttemptReader? = storage.write { reader in
            defer { reader = nil }
            return reader
        }
        var current = storedReader ?? AttemptReader(attempt: attempt, reader: serializer.makeReader())
        if current.attempt != attempt {
            current = AttemptReader(attempt: attempt, reader: serializer.makeReader())
        }
        assertNoLockIsHeld()
        let results = body(&current.reader)
        storage.write(current)
        return results.map { $0.mapError(Self.asAFError) }
    }

    /// Returns the error unchanged if it is an `AFError`; otherwise wraps it.
    private static func asAFError(_ error: any Error) -> AFError {
        (error as? AFError) ?? .responseSerializationFailed(reason: .customSerializationFailed(error: error))
    }
}
