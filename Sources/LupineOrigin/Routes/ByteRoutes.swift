// SPDX-License-Identifier: MIT

internal import LupineHTTP

/// Bodies of any length and speed: `/bytes`, `/stream`, `/stream-bytes`, `/drip`, `/chunked`, `/infinite`.
enum ByteRoutes {
    private static let octetStream = "application/octet-stream"
    private static let maximumBytes = 1 << 40
    private static let maximumChunkSize = 1 << 20
    private static let maximumDripBytes = 10 << 20
    private static let maximumLines = 1_000_000
    private static let maximumSeconds = 3_600.0

    static func add(to router: inout Router) {
        router.get("/bytes/{n}") { request throws(Refusal) in
            let count = try request.number(parameter: 0, atMost: maximumBytes)
            return try stream(request, count, length: Int64(count), chunkSize: nil)
        }
        router.get("/stream-bytes/{n}") { request throws(Refusal) in
            let chunkSize = try request.number(argument: "chunk_size") ?? 10 << 10
            return try stream(
                request, try request.number(parameter: 0, atMost: maximumBytes), length: nil,
                chunkSize: min(max(1, chunkSize), maximumChunkSize))
        }
        router.get("/stream/{n}") { request throws(Refusal) in try lines(request) }
        router.get("/chunked/{n}") { request throws(Refusal) in try chunks(request) }
        router.get("/drip") { request throws(Refusal) in try drip(request) }
        router.get("/infinite") { _ throws(Refusal) in
            // A line of 1 KiB.
            let line = [UInt8](repeating: UInt8(ascii: "*"), count: 1_023) + [UInt8(ascii: "\n")]
            return try response("text/plain", length: nil) { piece, room in
                while piece.count < room { piece += line }
                return .more
            }
        }
    }

    /// Returns a response with streamed content of a media type. `length` is its `Content-Length`; nil sends none.
    private static func response(
        _ type: String, length: Int64?,
        _ producer: @escaping (_ piece: inout [UInt8], _ room: Int) -> OriginResponse.Continuation
    ) throws(Refusal) -> OriginResponse {
        var response = OriginResponse(body: .stream(length: length, producer))
        try response.add(.contentType, type)
        return response
    }

    /// Returns a response with `count` pseudo-random octets, in pieces of `chunkSize`; nil for the suggested size. The octets
    /// are the same for the same `seed` in the request's query.
    private static func stream(
        _ request: OriginRequest, _ count: Int, length: Int64?, chunkSize: Int?
    ) throws(Refusal) -> OriginResponse {
        let seed =
            try request.number(argument: "seed").map { UInt64($0) } ?? UInt64.random(in: 0...UInt64.max)
        var octets = SeededOctets(seed: seed)
        var remainingCount = count
        return try response(octetStream, length: length) { piece, room in
            let size = min(remainingCount, chunkSize ?? room)
            octets.append(size, to: &piece)
            remainingCount -= size
            return remainingCount == 0 ? .end(trailers: Fields()) : .more
        }
    }

    /// Returns a response with lines of JSON. Each line has the description of the request and the number of the line.
    private static func lines(_ request: OriginRequest) throws(Refusal) -> OriginResponse {
        let count = try request.number(parameter: 0, atMost: maximumLines)
        let members = EchoRoutes.requestMembers(request)
        var nextNumber = 0
        return try response("application/json", length: nil) { piece, _ in
            guard nextNumber < count else { return .end(trailers: Fields()) }
            piece += JSONWriter.line(.object(members + [("id", .number(Int64(nextNumber)))]))
            nextNumber += 1
            return .more
        }
    }

    /// Returns a response with the requested number of chunks of text, and a trailer with that number.
    private static func chunks(_ request: OriginRequest) throws(Refusal) -> OriginResponse {
        let count = try request.number(parameter: 0, atMost: maximumLines)
        // This response only collects the trailers, because its `add` throws a `Refusal`, and `Fields.append` does not.
        var trailerResponse = OriginResponse()
        try trailerResponse.add("X-Chunks", String(count))
        let trailers = trailerResponse.fields
        var nextNumber = 0
        var response = try response("text/plain", length: nil) { piece, _ in
            guard nextNumber < count else { return .end(trailers: trailers) }
            piece += "chunk \(nextNumber)\n".utf8
            nextNumber += 1
            return .more
        }
        try response.add(.trailer, "X-Chunks")
        return response
    }

    /// Returns a response with `numbytes` octets, which are spread evenly over `duration` seconds. The response begins after
    /// `delay` seconds, and has the status `code`. All four are arguments of the query.
    private static func drip(_ request: OriginRequest) throws(Refusal) -> OriginResponse {
        let arguments = request.arguments
        let count = try request.number(argument: "numbytes") ?? 10
        guard (1...maximumDripBytes).contains(count) else {
            throw .badRequest("numbytes is out of range: \(count)")
        }
        let duration = try OriginRequest.seconds(arguments["duration"] ?? "2", atMost: maximumSeconds)
        let pause = duration / count
        var remainingCount = count
        var response = try response(octetStream, length: Int64(count)) { piece, _ in
            piece.append(UInt8(ascii: "*"))
            remainingCount -= 1
            if remainingCount == 0 { return .end(trailers: Fields()) }
            return pause == .zero ? .more : .pause(pause)
        }
        response.delay = try OriginRequest.seconds(arguments["delay"] ?? "0", atMost: maximumSeconds)
        let code = try request.number(argument: "code") ?? 200
        guard (200...999).contains(code) else { throw .badRequest("not a status: \(code)") }
        response.status = Status(code)
        return response
    }
}
