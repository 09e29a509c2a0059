// SPDX-License-Identifier: MIT

/// What went wrong while a content coding was read, undone or applied.
///
/// Each case names the coding and, where bytes were involved, how many bytes of that coding's own input stand before
/// the fault. In a stack (`gzip, br`) that input is what the coding after it decoded to, so the offset counts there.
/// A body that ends too early (``cutShort(coding:offset:)``) is told apart from one that is wrong
/// (``corrupt(coding:offset:fault:)``): the first is a broken transfer, the second a broken sender.
public enum CodingError: Error, Hashable, Sendable {
    /// The list names a coding that is not known here. `name` is at most 64 bytes long.
    case unknownCoding(name: String)
    /// The list stacks more codings than ``ContentCoding/maximumStack``.
    case tooManyCodings(limit: Int)
    /// The bytes are not what the coding allows. For gzip and deflate the offset is exact and the fault always the
    /// same; br looks ahead by as much as it is given, so there `offset` is where reading had come to, and the fault's
    /// detail may depend on how the body was divided.
    case corrupt(coding: ContentCoding, offset: Int, fault: Fault)
    /// The body ended before the coding's end mark.
    case cutShort(coding: ContentCoding, offset: Int)
    /// More than ``ExpansionLimit/bytes`` bytes would have been decoded. All bytes up to the limit were delivered.
    case outputLimit(coding: ContentCoding, limit: Int)
    /// The body grew by more than ``ExpansionLimit/ratio`` : 1. `received` encoded bytes had been read and `decoded`
    /// bytes delivered (or handed to the next coding of the stack) when one more would have crossed the limit.
    case ratioLimit(coding: ContentCoding, limit: Int, received: Int, decoded: Int)
    /// The coding needs more working memory than the `limit` bytes it may have, or than the system gives.
    case memoryLimit(coding: ContentCoding, limit: Int)

    /// What a decoder found wrong.
    public enum Fault: Hashable, Sendable {
        /// The stream's header: not this format, or a form of it that nobody may send.
        case header(detail: String)
        /// The compressed data itself. `detail` is the decoder's own word for it.
        case data(detail: String)
        /// The data decoded, and its checksum says that it is not what was encoded.
        case checksum
        /// The data decoded, and the length that the sender noted is another one.
        case length
        /// The stream needs a preset dictionary, which HTTP has no way to name.
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
