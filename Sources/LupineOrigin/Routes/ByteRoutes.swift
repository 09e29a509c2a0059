// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Bodies of any length and speed: `/bytes`, `/stream`, `/stream-bytes`, `/drip`, `/chunked`, `/infinite`.
enum ByteRoutes {
    private static let octetStream = "application/octet-stream"
    private static let maximumBytes = 1 << 40
    private static let maximumLines = 1_000_000
    private static let maximumSeconds = 3_600.0

    static func add(to router: inout Router) {
        router.get("/bytes/{n}") { request throws(Refusal) in
            let count = try request.number(parameter: 0, atMost: maximumBytes)
            return try stream(request, count, length: Int64(count), chunk: nil)
        }
        router.get("/stream-bytes/{n}") { request throws(Refusal) in
            let chunk = try request.number(argument: "chunk_size") ?? 10 << 10
            return try stream(
                request, try request.number(parameter: 0, atMost: maximumBytes), length: nil,
                chunk: min(max(1, chunk), 1 << 20))
        }
        router.get("/stream/{n}") { request throws(Refusal) in try lines(request) }
        router.get("/chunked/{n}") { request throws(Refusal) in try chunks(request) }
        router.get("/drip") { request throws(Refusal) in try drip(request) }
        router.get("/infinite") { _ throws(Refusal) in
            let line = [UInt8](repeating: UInt8(ascii: "*"), count: 1_023) + [UInt8(ascii: "\n")]
            return try response("text/plain", length: nil) { piece, room in
                while piece.count < room { piece += line }
                return .more
            }
        }
    }

    private static func response(
        _ type: String, length: Int64?,
        _ producer: @escaping (inout [UInt8], Int) -> OriginResponse.Continuation
    ) throws(Refusal) -> OriginResponse {
        var response = OriginResponse(body: .stream(length: length, producer))
        try response.add(.contentType, type)
        return response
    }

    /// Returns a response with pseudo-random octets, which are the same for the same `seed`.
    private static func stream(
        _ request: OriginRequest, _ count: Int, length: Int64?, chunk: Int?
    ) throws(Refusal) -> OriginResponse {
        let seed =
            try request.number(argument: "seed").map { UInt64($0) } ?? UInt64.random(in: 0...UInt64.max)
        var source = SeededOctets(seed: seed)
        var remaining = count
        return try response(octetStream, length: length) { piece, room in
            let size = min(remaining, chunk ?? room)
            source.append(size, to: &piece)
            remaining -= size
            return remaining == 0 ? .end(trailers: Fields()) : .more
        }
    }

    /// Returns lines of JSON, each with the description of the request and a number.
    private static func lines(_ request: OriginRequest) throws(Refusal) -> OriginResponse {
        let count = try request.number(parameter: 0, atMost: maximumLines)
        let members = EchoRoutes.requestMembers(request)
        var next = 0
        return try response("application/json", length: nil) { piece, _ in
            guard next < count else { return .end(trailers: Fields()) }
            piece += JSONWriter.line(.object(members + [("id", .number(Int64(next)))]))
            next += 1
            return .more
        }
    }

    /// Returns a response with the requested number of chunks of text, and a trailer with that number.
    private static func chunks(_ request: OriginRequest) throws(Refusal) -> OriginResponse {
        let count = try request.number(parameter: 0, atMost: maximumLines)
        var trailers = OriginResponse()
        try trailers.add("X-Chunks", String(count))
        let fields = trailers.fields
        var next = 0
        var response = try response("text/plain", length: nil) { piece, _ in
            guard next < count else { return .end(trailers: fields) }
            piece += "chunk \(next)\n".utf8
            next += 1
            return .more
        }
        try response.add(.trailer, "X-Chunks")
        return response
    }

    /// Returns `numbytes` octets, spread evenly over `duration` seconds after a delay of `delay` seconds, with the status `code`.
    private static func drip(_ request: OriginRequest) throws(Refusal) -> OriginResponse {
        let arguments = request.arguments
        let count = try request.number(argument: "numbytes") ?? 10
        guard (1...10 << 20).contains(count) else { throw .badRequest("numbytes is out of range: \(count)") }
        let duration = try OriginRequest.seconds(arguments["duration"] ?? "2", atMost: maximumSeconds)
        let pause = duration / count
        var remaining = count
        var answer = try response(octetStream, length: Int64(count)) { piece, _ in
            piece.append(UInt8(ascii: "*"))
            remaining -= 1
            if remaining == 0 { return .end(trailers: Fields()) }
            return pause == .zero ? .more : .pause(pause)
        }
        answer.delay = try OriginRequest.seconds(arguments["delay"] ?? "0", atMost: maximumSeconds)
        let code = try request.number(argument: "code") ?? 200
        guard (200...999).contains(code) else { throw .badRequest("not a status: \(code)") }
        answer.status = Status(code)
        return answer
    }
}
