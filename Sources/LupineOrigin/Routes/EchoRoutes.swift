// SPDX-License-Identifier: MIT

internal import LupineHTTP
internal import LupineTLS
internal import LupineTransport

/// Responses that describe the request: `/get`, `/post`, `/anything` and similar paths.
enum EchoRoutes {
    static func add(to router: inout Router) {
        router.get("/get") { request throws(Refusal) in
            try OriginResponse(json: .object(requestMembers(request)))
        }
        for (method, pattern) in [
            ("POST", "/post"), ("PUT", "/put"), ("PATCH", "/patch"), ("DELETE", "/delete"),
        ] {
            router.add(
                [method], pattern,
                .collected { request throws(Refusal) in
                    try OriginResponse(json: .object(requestMembers(request) + bodyMembers(request)))
                })
        }
        for pattern in ["/anything", "/anything/{*}"] {
            router.any(pattern) { request throws(Refusal) in
                let method: [(String, JSON)] = [("method", .string(request.head.method.rawValue))]
                return try OriginResponse(
                    json: .object(requestMembers(request) + bodyMembers(request) + method))
            }
        }
        router.get("/headers") { request throws(Refusal) in
            try OriginResponse(json: .object([("headers", headers(request))]))
        }
        router.get("/ip") { request throws(Refusal) in
            try OriginResponse(json: .object([("origin", .string(client(request)))]))
        }
        router.get("/user-agent") { request throws(Refusal) in
            try OriginResponse(json: .object([("user-agent", .optional(request.head.fields[.userAgent]))]))
        }
        router.get("/uuid") { _ throws(Refusal) in
            try OriginResponse(json: .object([("uuid", .string(uuid()))]))
        }
    }

    /// Returns the members that describe the request: its arguments, headers, client address and URL.
    static func requestMembers(_ request: OriginRequest) -> [(String, JSON)] {
        [
            ("args", request.arguments.json), ("headers", headers(request)),
            ("origin", .string(client(request))), ("url", .string(url(request))),
        ]
    }

    /// Returns the fields of the request as a JSON object. Values of fields with the same name are joined by commas.
    static func headers(_ request: OriginRequest) -> JSON {
        var members: [(name: String, values: [String])] = []
        // The index in `members` of each name.
        var memberIndexes: [FieldName: Int] = [:]
        let fields = request.head.fields
        for index in 0..<fields.count {
            let name = fields.fieldName(at: index)
            if let memberIndex = memberIndexes[name] {
                members[memberIndex].values.append(fields.value(at: index))
            } else {
                memberIndexes[name] = members.count
                members.append((fields.name(at: index), [fields.value(at: index)]))
            }
        }
        return .object(members.map { ($0.name, .string($0.values.joined(separator: ","))) })
    }

    /// Returns the IP address of the client, or another description of its socket address; empty if it is not known.
    static func client(_ request: OriginRequest) -> String {
        request.peer.map { $0.host ?? $0.description } ?? ""
    }

    /// Returns the requested URL.
    static func url(_ request: OriginRequest) -> String {
        request.schemeAndAuthority + request.pathAndQuery
    }

    /// Returns the members that describe the body. By its media type, `form` and `files` have values, or `data` and `json`.
    private static func bodyMembers(_ request: OriginRequest) throws(Refusal) -> [(String, JSON)] {
        var form = FormPairs()
        var files = FormPairs()
        var data = ""
        var json = JSON.null
        switch request.mediaType {
        case "application/x-www-form-urlencoded":
            form = try FormPairs(form: request.body)
        case "multipart/form-data":
            (form, files) = try formAndFiles(request)
        default:
            data = text(request.body)
            if JSONSyntax.accepts(request.body) { json = .verbatim(request.body) }
        }
        return [("data", .string(data)), ("files", files.json), ("form", form.json), ("json", json)]
    }

    /// Returns the fields and the files of a multipart body. Refuses an invalid body.
    private static func formAndFiles(
        _ request: OriginRequest
    ) throws(Refusal) -> (form: FormPairs, files: FormPairs) {
        guard var reader = MultipartReader(contentType: request.head.fields) else {
            throw .badRequest("multipart: no boundary")
        }
        var form = FormPairs()
        var files = FormPairs()
        // A placeholder until the head of the first part.
        var part = PartDescription(Fields())
        var content: [UInt8] = []
        try reader.read(request.body.span) { event throws(Refusal) in
            switch event {
            case .partHead(let fields):
                part = PartDescription(fields)
                content = []
            case .content(let bytes): content += bytes
            case .partEnd:
                if part.fileName == nil {
                    try form.append(part.name, text(content))
                } else {
                    try files.append(part.name, text(content))
                }
            }
        }
        guard reader.isComplete else { throw .badRequest("multipart: the closing boundary is missing") }
        return (form, files)
    }

    /// Returns octets as text, or as a base64 data URL if they are not UTF-8.
    private static func text(_ bytes: [UInt8]) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? "data:application/octet-stream;base64," + Base64.encode(bytes)
    }

    /// Returns a random UUID (RFC 9562 section 5.4).
    private static func uuid() -> String {
        var bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
        // Version 4, in the upper four bits.
        bytes[6] = bytes[6] & 0x0f | 0x40
        // The variant 0b10, in the upper two bits.
        bytes[8] = bytes[8] & 0x3f | 0x80
        let digits = Array(Hexadecimal.lowercase(bytes))
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }
}
