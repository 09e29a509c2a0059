// SPDX-License-Identifier: MIT

import Dispatch
import LupineLoading

@testable import Lupine

/// Everything that a stream handler received.
struct StreamHeard<Value: Sendable>: Sendable {
    let values: [Value]
    let errors: [AFError]
    let completion: DataStreamRequest.Completion
    /// The number of completions.
    let completions: Int
}

extension DataStreamRequest {
    /// Adds a handler and waits for its completion.
    func heard<Serializer: DataStreamSerializer>(
        using serializer: Serializer, on queue: DispatchQueue = DispatchQueue(label: "handler"),
        also body: @escaping @Sendable (Stream<Serializer.SerializedObject, AFError>) throws -> Void = { _ in
        }
    ) async -> StreamHeard<Serializer.SerializedObject> {
        let values = ValueLog<Serializer.SerializedObject>()
        let errors = ValueLog<AFError>()
        let ends = ValueLog<Completion>()
        responseStream(using: serializer, on: queue) { stream in
            dispatchPrecondition(condition: .onQueue(queue))
            if let value = stream.value { values.add(value) }
            if let error = stream.error { errors.add(error) }
            if let completion = stream.completion { ends.add(completion) }
            try body(stream)
        }
        let end = await ends.wait(for: 1)[0]
        await queue.flush()
        return StreamHeard(
            values: values.all, errors: errors.all, completion: end, completions: ends.all.count)
    }
}
