// SPDX-License-Identifier: MIT

/// An error in naming, decoding or encoding a content coding.
///
/// Each case names the coding and, where bytes were involved, the number of bytes of that coding's own input before the error. In
/// a stack (`gzip, br`) that input is the output of the coding applied after it, so the offset counts there. A truncated body
/// (``cutShort(coding:offset:)``) is distinguished from an invalid one (``corrupt(coding:offset:fault:)``): the first is a fault
/// of the transfer, the second of the sender.
public enum CodingError: Error, Hashable, Sendable {
    /// The list names an unknown coding. `name` is at most 64 bytes long.
    case unknownCoding(name: String)
    /// The list stacks more codings than ``ContentCoding/maximumStack``.
    case tooManyCodings(limit: Int)
    /// The bytes are not valid in the coding. For gzip and deflate, the offset is exact, and the fault is the same for every
    /// division of the body. A br decoder reads as far ahead as its input goes: `offset` is the position that it has reached, and
    /// the fault's detail may depend on how the body was divided.
    case corrupt(coding: ContentCoding, offset: Int, fault: Fault)
    /// The body ended before the end of the coded stream.
    case cutShort(coding: ContentCoding, offset: Int)
    /// More than ``ExpansionLimit/bytes`` bytes would have been decoded. All bytes up to the limit were delivered.
    case outputLimit(coding: ContentCoding, limit: Int)
    /// The body expanded by more than ``ExpansionLimit/ratio`` : 1. `received` encoded bytes had been read and `decoded` bytes
    /// delivered (or passed to the next coding of the stack) when one more would have exceeded the limit.
    case ratioLimit(coding: ContentCoding, limit: Int, received: Int, decoded: Int)
    /// The coding needs more working memory than the `limit` bytes that it is allowed, or than the system provides.
    case memoryLimit(coding: ContentCoding, limit: Int)

    /// The kind of corruption that a decoder found.
    public enum Fault: Hashable, Sendable {
        /// The stream's header is not of this format, or of a form that is not allowed.
        case header(detail: String)
        /// The compressed data is invalid. `detail` is the decoder's own description.
        case data(detail: String)
        /// The data was decoded, but its checksum does not match.
        case checksum
        /// The data was decoded, but its length does not match the one in the stream.
        case length
        /// The stream needs a preset dictionary, which HTTP cannot name.
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
