// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineTLS

/// Bodies of any size, hashed as they arrive: `/hash`, and `/upload` for the parts of a form.
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

/// Counts and hashes a body.
private final class HashSink: BodySink {
    private let hash = RunningDigest(.sha256)
    private var count: Int64 = 0

    func receive(_ bytes: Span<UInt8>) throws(Refusal) {
        hash?.update(bytes)
        count += Int64(bytes.count)
    }

    func finish(trailers: Fields) throws(Refusal) -> OriginResponse {
        var members: [(String, JSON)] = [
            ("bytes", .number(count)), ("sha256", .optional(hash?.finish().map(Hexadecimal.lowercase))),
        ]
        if !trailers.isEmpty {
            members.append(
                (
                    "trailers",
                    .object(
                        (0..<trailers.count).map { (trailers.name(at: $0), .string(trailers.value(at: $0))) })
                ))
        }
        return try OriginResponse(json: .object(members))
    }
}

/// Reports the names, types, sizes and hashes of the parts of a form, without storing their content.
private final class PartsSink: BodySink {
    private static let maximumParts = 10_000
    /// The maximum number of octets of all names and types.
    private static let maximumTextOctets = 1 << 20

    private var reader: MultipartReader
    private var parts: [JSON] = []
    private var textOctets = 0
    private var part = PartDescription(Fields())
    private var hash = RunningDigest(.sha256)
    private var count: Int64 = 0

    init(_ reader: MultipartReader) { self.reader = reader }

    func receive(_ bytes: Span<UInt8>) throws(Refusal) {
        var events: [MultipartReader.Event] = []
        try reader.read(bytes) { event throws(Refusal) in events.append(event) }
        for event in events { try handle(event) }
    }

    private func handle(_ event: MultipartReader.Event) throws(Refusal) {
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
            hash = RunningDigest(.sha256)
            count = 0
        case .content(let bytes):
            hash?.update(bytes.span)
            count += Int64(bytes.count)
        case .partEnd:
            parts.append(
                .object([
                    ("name", .string(part.name)), ("filename", .optional(part.fileName)),
                    ("type", .optional(part.type)), ("bytes", .number(count)),
                    ("sha256", .optional(hash?.finish().map(Hexadecimal.lowercase))),
                ]))
        }
    }

    func finish(trailers: Fields) throws(Refusal) -> OriginResponse {
        guard reader.isComplete else { throw .badRequest("multipart: the closing boundary is missing") }
        return try OriginResponse(json: .object([("parts", .array(parts))]))
    }
}
