// SPDX-License-Identifier: MIT

/// An error in the name of a content coding, or in decoding or encoding a body.
///
/// The `offset` of a case is the number of bytes of the coding's own input before the error. If a body has several codings, such
/// as `gzip, br`, the input of one decoder is the output of the decoder before it: of br first, then of gzip. A truncated body
/// (``cutShort(coding:offset:)``) is distinguished from an invalid one (``corrupt(coding:offset:fault:)``). The first is a fault
/// of the transfer, the second a fault of the sender.
public enum CodingError: Error, Hashable, Sendable {
    /// The list of codings names an unknown one. `name` is at most 64 bytes long.
    case unknownCoding(name: String)
    /// The list names more codings than ``ContentCoding/maximumStack``.
    case tooManyCodings(limit: Int)
    /// The bytes are not valid in the coding. For gzip and deflate, `offset` is exact, and `fault` does not depend on the pieces
    /// in which the body arrives. A br decoder reads all of its input at once: `offset` is the position that it has reached, and
    /// the detail of `fault` may depend on the pieces.
    case corrupt(coding: ContentCoding, offset: Int, fault: Fault)
    /// The body ended before the end of the coded stream.
    case cutShort(coding: ContentCoding, offset: Int)
    /// The body decodes to more than ``ExpansionLimit/bytes`` bytes. All bytes up to the limit were delivered.
    case outputLimit(coding: ContentCoding, limit: Int)
    /// The body expands by more than ``ExpansionLimit/ratio`` : 1. At the limit, `received` encoded bytes had been read.
    /// `decoded` bytes had been delivered, or passed to the decoder of the next coding.
    case ratioLimit(coding: ContentCoding, limit: Int, received: Int, decoded: Int)
    /// The coding needs more working memory than its `limit` in bytes, or than the system provides.
    case memoryLimit(coding: ContentCoding, limit: Int)

    /// The kind of corruption that a decoder found.
    public enum Fault: Hashable, Sendable {
        /// The header of the stream is invalid. `detail` is the description by the decoder's library.
        case header(detail: String)
        /// The compressed data is invalid. `detail` is the description by the decoder's library.
        case data(detail: String)
        /// The data was decoded, but its checksum does not match.
        case checksum
        /// The data was decoded, but its length does not match the length in the stream.
        case length
        /// The stream needs a preset dictionary, which HTTP does not transfer.
        case dictionary
    }
}

extension CodingError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownCoding(let name):
            "the content coding \"\(name)\" is not known"
        case .tooManyCodings(let limit):
            "the body is encoded more than \(limit) times over (limit: \(limit) stacked codings)"
        case .corrupt(let coding, let offset, let fault):
            "the body is not valid \(coding): \(fault), at byte \(offset)"
        case .cutShort(let coding, let offset):
            "the \(coding) body was cut short after \(offset) bytes"
        case .outputLimit(let coding, let limit):
            "the \(coding) body decodes to more than \(limit) bytes (limit: decoded bytes)"
        case .ratioLimit(let coding, let limit, let received, let decoded):
            "the \(coding) body grows more than \(limit) times: \(received) bytes were read and "
                + "\(decoded) decoded (limit: expansion ratio)"
        case .memoryLimit(let coding, let limit):
            "there is no more memory for the \(coding) body (limit: \(limit) bytes of working memory)"
        }
    }
}

extension CodingError.Fault: CustomStringConvertible {
    public var description: String {
        switch self {
        case .header(let detail): "bad header (\(detail))"
        case .data(let detail): "bad data (\(detail))"
        case .checksum: "the checksum does not match"
        case .length: "the noted length does not match"
        case .dictionary: "a preset dictionary is asked for"
        }
    }
}
