// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineTLS

/// Request bodies of any size, which the origin hashes as they arrive: `/hash` for the whole body, `/upload` for each part of a
/// form.
enum UploadRoutes {
    static func add(to router: inout Router) {
        router.add(
            ["POST", "PUT", "PATCH"], "/hash", .streamed { _ throws(Refusal) in HashSink() })
        router.add(
            ["POST", "PUT", "PATCH"], "/upload",
            .streamed { request throws(Refusal) in
                guard let reader = MultipartReader(contentType: request.head.fields) else {
                    throw Refusal(415, "this path takes multipart/form-data with a boundary")
                }
                return PartsSink(reader)
            })
    }
}

/// Counts and hashes the octets of a body.
private final class HashSink: BodySink {
    /// The digest; nil if OpenSSL cannot compute it.
    private let digest = RunningDigest(.sha256)
    private var octetCount: Int64 = 0

    func receive(_ bytes: Span<UInt8>) throws(Refusal) {
        digest?.update(bytes)
        octetCount += Int64(bytes.count)
    }

    func finish(trailers: Fields) throws(Refusal) -> OriginResponse {
        var members: [(String, JSON)] = [
            ("bytes", .number(octetCount)),
            ("sha256", .optional(digest?.finish().map(Hexadecimal.lowercase))),
        ]
        if !trailers.isEmpty {
            var trailerMembers: [(String, JSON)] = []
            for index in 0..<trailers.count {
                trailerMembers.append((trailers.name(at: index), .string(trailers.value(at: index))))
            }
            members.append(("trailers", .object(trailerMembers)))
        }
        return try OriginResponse(json: .object(members))
    }
}

/// Answers with the names, types, sizes and digests of the parts of a form. It does not store their content.
private final class PartsSink: BodySink {
    private static let maximumParts = 10_000
    /// The maximum number of octets of the names, file names and types of all parts.
    private static let maximumTextOctets = 1 << 20

    private var reader: MultipartReader
    /// The descriptions of the parts that have ended.
    private var parts: [JSON] = []
    /// The number of octets of the names, file names and types of all parts.
    private var textOctets = 0
    /// The part whose content arrives.
    private var part = PartDescription(Fields())
    /// The digest of the part's content; nil if OpenSSL cannot compute it.
    private var digest = RunningDigest(.sha256)
    /// The number of octets of the part's content.
    private var octetCount: Int64 = 0

    init(_ reader: MultipartReader) { self.reader = reader }

    func receive(_ bytes: Span<UInt8>) throws(Refusal) {
        var events: [MultipartReader.Event] = []
        try reader.read(bytes) { event throws(Refusal) in events.append(event) }
        for event in events { try receive(event) }
    }

    /// Receives an event of the reader.
    private func receive(_ event: MultipartReader.Event) throws(Refusal) {
        switch event {
        case .partHead(let fields):
            guard parts.count < Self.maximumParts else {
                throw Refusal(413, "more than \(Self.maximumParts) parts")
            }
            part = PartDescription(fields)
            textOctets += [part.name, part.fileName ?? "", part.type ?? ""].reduce(0) { $0 + $1.utf8.count }
            guard textOctets <= Self.maximumTextOctets else {
                throw Refusal(413, "names and types of parts are more than \(Self.maximumTextOctets) octets")
            }
            digest = RunningDigest(.sha256)
            octetCount = 0
        case .content(let bytes):
            digest?.update(bytes.span)
            octetCount += Int64(bytes.count)
        case .partEnd:
            parts.append(
                .object([
                    ("name", .string(part.name)), ("filename", .optional(part.fileName)),
                    ("type", .optional(part.type)), ("bytes", .number(octetCount)),
                    ("sha256", .optional(digest?.finish().map(Hexadecimal.lowercase))),
                ]))
        }
    }

    func finish(trailers: Fields) throws(Refusal) -> OriginResponse {
        guard reader.isComplete else { throw .badRequest("multipart: the closing boundary is missing") }
        return try OriginResponse(json: .object([("parts", .array(parts))]))
    }
}
