// SPDX-License-Identifier: MIT
import LupineCoding

/// The result of passing a body through a ``CodingStream``: the decoded bytes and how it ended.
struct CodingRun: Equatable {
    enum End: Equatable {
        case complete
        case failed(CodingError)
    }

    var bytes: [UInt8] = []
    var end = End.complete

    /// Decodes `parts` one after the other, with room for `piece` bytes of output.
    init(_ parts: [ArraySlice<UInt8>], through stream: CodingStream, piece: Int = 16384) {
        var buffer = SampleBody.zeros(piece)
        do throws(CodingError) {
            for part in parts {
                var read = 0
                while true {
                    var room = buffer.mutableSpan
                    let step = try stream.decode(part.span.extracting(read...), into: &room)
                    read += step.consumed
                    bytes += buffer[..<step.produced]
                    if step.status == .needsRoom { continue }
                    precondition(read == part.count, "input left over")
                    break
                }
            }
            try stream.finish()
        } catch {
            end = Self.failure(error)
        }
    }

    /// Decodes the whole of `body` with ``CodingStream/push(_:deliver:)``.
    init(pushing body: [UInt8], through stream: CodingStream) {
        var delivered: [UInt8] = []
        do throws(CodingError) {
            try stream.push(body.span) { piece in
                for index in piece.indices { delivered.append(piece[index]) }
            }
            try stream.finish()
        } catch {
            end = Self.failure(error)
        }
        bytes = delivered
    }

    /// Returns the end of a run that throws `error`. Sets the offset of br to zero: its decoder reads ahead, so the offset
    /// depends on how the input is divided.
    private static func failure(_ error: CodingError) -> End {
        guard case .corrupt(.br, _, let fault) = error else { return .failed(error) }
        return .failed(.corrupt(coding: .br, offset: 0, fault: fault))
    }

    /// Decodes the whole of `body` at once.
    init(
        _ body: [UInt8], _ codings: [ContentCoding], limit: ExpansionLimit = .standard, piece: Int = 16384
    ) {
        self.init([body[...]], through: CodingStream(codings, limit: limit), piece: piece)
    }

    /// Decodes `body` in two parts.
    init(_ body: [UInt8], cutAt cut: Int, through stream: CodingStream) {
        self.init([body[..<cut], body[cut...]], through: stream)
    }

    /// Decodes `body` in parts of `size` bytes.
    init(_ body: [UInt8], inPartsOf size: Int, through stream: CodingStream, piece: Int = 16384) {
        let parts = stride(from: 0, to: body.count, by: size).map {
            body[$0..<min($0 + size, body.count)]
        }
        self.init(parts, through: stream, piece: piece)
    }
}

/// Returns `body` in a coding. The encoder gets parts of `part` bytes, and room for `piece` bytes of output.
func encode(
    _ body: [UInt8], as coding: DeflateEncoder.Coding, level: CompressionLevel = .standard, part: Int = 4096,
    piece: Int = 4096
) -> [UInt8] {
    guard let encoder = try? DeflateEncoder(coding, level: level) else { return [] }
    return encode(body, with: encoder, part: part, piece: piece)
}

/// Returns the output of `encoder` for the whole of `body`.
func encode(_ body: [UInt8], with encoder: DeflateEncoder, part: Int = 4096, piece: Int = 4096) -> [UInt8] {
    var result: [UInt8] = []
    var buffer = SampleBody.zeros(piece)
    for start in stride(from: 0, to: body.count, by: part) {
        let input = body[start..<min(start + part, body.count)]
        var read = 0
        while true {
            var room = buffer.mutableSpan
            let step = encoder.encode(input.span.extracting(read...), into: &room)
            read += step.consumed
            result += buffer[..<step.produced]
            if step.status != .needsRoom { break }
        }
    }
    while true {
        var room = buffer.mutableSpan
        let step = encoder.finish(into: &room)
        result += buffer[..<step.produced]
        if step.status == .done { return result }
    }
}
