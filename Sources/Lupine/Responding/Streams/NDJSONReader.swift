// SPDX-License-Identifier: MIT

package import Foundation

/// Splits the stream of one attempt into lines and converts each to a value with the serializer.
package struct NDJSONReader<T: Decodable & Sendable>: DataStreamReader {
    private let serializer: NDJSONSerializer<T>
    private var lines: LineSplitter
    /// The number of failing lines of one chunk that get an error of their own; later ones share the last error. Otherwise a
    /// line of two octets could cost several hundred.
    private let mostErrors = 16

    /// Creates a reader for one attempt.
    package init(_ serializer: NDJSONSerializer<T>) {
        self.serializer = serializer
        lines = LineSplitter(ending: .feed, limit: serializer.maximumLineLength)
    }

    package mutating func read(_ data: Data) -> [Result<T, any Error>] {
        var found: [LineSplitter.Piece] = []
        lines.split(data) { found.append($0) }
        var failures: [any Error] = []
        return found.compactMap { piece in
            let result = result(of: piece)
            guard case .failure(let error)? = result else { return result }
            if failures.count < mostErrors { failures.append(error) }
            return .failure(failures.count < mostErrors ? error : failures[mostErrors - 1])
        }
    }

    package mutating func finish() -> [Result<T, any Error>] {
        var found: [LineSplitter.Piece] = []
        lines.finish { found.append($0) }
        return found.compactMap { result(of: $0) }
    }

    private func result(of piece: LineSplitter.Piece) -> Result<T, any Error>? {
        switch piece {
        case .tooLong:
            return .failure(StreamLimitError.lineTooLong(limit: serializer.maximumLineLength))
        case .line(let line):
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return nil }
            return Result { try serializer.value(of: line) }
        }
    }
}
