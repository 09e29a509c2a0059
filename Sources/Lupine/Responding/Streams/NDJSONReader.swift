// SPDX-License-Identifier: MIT

package import Foundation

/// Splits the stream of one attempt into lines and converts each to a value with the serializer.
package struct NDJSONReader<T: Decodable & Sendable>: DataStreamReader {
    private let serializer: NDJSONSerializer<T>
    private var lines: LineSplitter
    /// The maximum number of different errors for one piece. Further lines that fail share the last error. This limits the memory
    /// for errors: an error takes several hundred bytes, but a line that causes an error may have only two.
    private let maximumErrorCount = 16

    /// Creates a reader for one attempt.
    package init(_ serializer: NDJSONSerializer<T>) {
        self.serializer = serializer
        lines = LineSplitter(ending: .lineFeed, limit: serializer.maximumLineLength)
    }

    package mutating func read(_ data: Data) -> [Result<T, any Error>] {
        var completedLines: [LineSplitter.Line] = []
        lines.split(data) { completedLines.append($0) }
        var errors: [any Error] = []
        return completedLines.compactMap { line in
            let result = result(of: line)
            guard case .failure(let error)? = result else { return result }
            if errors.count < maximumErrorCount { errors.append(error) }
            return .failure(errors.last ?? error)
        }
    }

    package mutating func finish() -> [Result<T, any Error>] {
        var completedLines: [LineSplitter.Line] = []
        lines.finish { completedLines.append($0) }
        return completedLines.compactMap { result(of: $0) }
    }

    /// Returns the result for a line; nil for a line of white space.
    private func result(of line: LineSplitter.Line) -> Result<T, any Error>? {
        switch line {
        case .tooLong:
            return .failure(StreamLimitError.lineTooLong(limit: serializer.maximumLineLength))
        case .complete(let line):
            // Space, tab and carriage return: the white space of JSON (RFC 8259 §2) that a line can contain.
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return nil }
            return Result { try serializer.value(of: line) }
        }
    }
}
