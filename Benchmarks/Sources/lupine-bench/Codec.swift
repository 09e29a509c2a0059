// SPDX-License-Identifier: MIT
internal import BenchmarkHarness
internal import LupineHTTP

/// Entries for the library's codec, through `ClientCodec` as a connection uses it.
enum Codec {
    /// Parses heads with one parser, as a connection does: it finds and validates names and values, and records framing fields,
    /// but stores nothing, like llhttp with its callbacks. Goal: half of llhttp's time, no allocation.
    static func heads(_ head: [UInt8]) -> Entry {
        let name = "LupineHTTP (found)"
        return Entry(
            name, isOurs: true, goals: Goals(ratio: 0.5, allocations: 0),
            .loop { times in
                var parser = HeadParser(.response, limits: ParserLimits(), leniency: .client)
                var sum: UInt64 = 0
                for _ in 0..<times {
                    sum &+= UInt64(try parser.scan(head.span) ?? 0)
                }
                try WrongResult.check(name, sum, each: UInt64(head.count), times: times)
            })
    }

    /// Parses heads like `heads`, and copies each into fields that outlive the bytes. Goal: two allocations.
    static func keptHeads(_ head: [UInt8], fields: Int) -> Entry {
        let name = "LupineHTTP (copied out)"
        return Entry(
            name, isOurs: true, goals: Goals(allocations: 2),
            .loop { times in
                var parser = HeadParser(.response, limits: ParserLimits(), leniency: .client)
                var sum: UInt64 = 0
                for _ in 0..<times {
                    guard try parser.scan(head.span) == head.count else { continue }
                    sum &+= UInt64(parser.extractHead(from: head.span).fields.count)
                }
                try WrongResult.check(name, sum, each: UInt64(fields), times: times)
            })
    }

    /// Performs whole exchanges on one codec: writes a HEAD request, parses the head, reaches the end.
    static func exchanges(_ head: [UInt8], fields: Int) -> Entry {
        let name = "LupineHTTP (exchange)"
        return Entry(
            name, isOurs: true,
            .loop { times in
                var codec = ClientCodec()
                let request = try request(.head)
                var output: [UInt8] = []
                var sum: UInt64 = 0
                for _ in 0..<times {
                    output.removeAll(keepingCapacity: true)
                    try codec.send(request, body: .none, into: &output)
                    sum &+= try parse(head, &codec)
                    guard case (.end, 0) = try codec.next([UInt8]().span) else {
                        throw WrongResult(entry: name, expected: 1, actual: 0)
                    }
                }
                try WrongResult.check(name, sum, each: UInt64(200 + 1000 * fields), times: times)
            })
    }

    /// Performs whole exchanges on one codec: writes a GET request, reads the response's head, content and end.
    static func response(_ response: [UInt8], body: Int) throws -> Entry {
        let name = "LupineHTTP (exchange)"
        return Entry(
            name, isOurs: true,
            .loop { times in
                var codec = ClientCodec()
                let request = try request(.get)
                var output: [UInt8] = []
                var sum: UInt64 = 0
                for _ in 0..<times {
                    output.removeAll(keepingCapacity: true)
                    try codec.send(request, body: .none, into: &output)
                    sum &+= try content(response, &codec)
                }
                try WrongResult.check(name, sum, each: UInt64(body), times: times)
            })
    }

    /// Looks up names. They are `FieldName` values, which with `fromStrings` are created from strings for every look-up.
    static func find(in head: [UInt8], _ names: [String], found: UInt64, fromStrings: Bool) throws -> Entry {
        var codec = try codecAwaitingResponse(to: .head)
        guard case (.head(let response, _, _), _) = try codec.next(head.span) else {
            throw WrongResult(entry: "find", expected: 1, actual: 0)
        }
        let fields = response.fields
        let known = try names.map { name throws(HTTPError) in try FieldName(name) }
        let name = fromStrings ? "LupineHTTP (strings)" : "LupineHTTP (known names)"
        return Entry(
            name, isOurs: true,
            .loop { times in
                var sum: UInt64 = 0
                for _ in 0..<times {
                    for index in 0..<names.count {
                        let wanted = fromStrings ? try FieldName(names[index]) : known[index]
                        sum &+= UInt64(fields.withFirstValue(of: wanted) { $0.count } ?? 0)
                    }
                }
                try WrongResult.check(name, sum, each: found, times: times)
            })
    }

    /// Writes a request's head through a new codec.
    static func encode(_ sample: SampleRequest) throws -> Entry {
        var fields = Fields()
        for (name, value) in sample.fields { try fields.append(FieldName(name), value) }
        let head = RequestHead(
            method: .get, target: .origin(sample.target),
            authority: try Authority(host: sample.host, port: 443, defaultPort: 443), fields: fields)
        let initialCodec = ClientCodec()
        var first: [UInt8] = []
        var codec = initialCodec
        try codec.send(head, body: .none, into: &first)
        let wire = Array(sample.wire.utf8)
        guard first == wire else {
            throw WrongResult(entry: "LupineHTTP", expected: UInt64(wire.count), actual: UInt64(first.count))
        }
        return Entry(
            "LupineHTTP", isOurs: true,
            .loop { times in
                var output: [UInt8] = []
                var sum: UInt64 = 0
                for _ in 0..<times {
                    var codec = initialCodec
                    output.removeAll(keepingCapacity: true)
                    try codec.send(head, body: .none, into: &output)
                    sum &+= UInt64(output.count)
                }
                try WrongResult.check("LupineHTTP", sum, each: UInt64(wire.count), times: times)
            })
    }

    private static func request(_ method: Method) throws -> RequestHead {
        RequestHead(
            method: method, target: .origin("/"),
            authority: try Authority(host: "localhost", port: 80, defaultPort: 80))
    }

    /// Returns a codec that waits for the response to a request.
    private static func codecAwaitingResponse(to method: Method) throws -> ClientCodec {
        var codec = ClientCodec()
        var output: [UInt8] = []
        try codec.send(try request(method), body: .none, into: &output)
        return codec
    }

    /// Returns the checksum of a head: the status plus 1000 times the number of fields.
    private static func parse(_ head: [UInt8], _ codec: inout ClientCodec) throws(HTTPError) -> UInt64 {
        guard case (.head(let response, _, _), head.count) = try codec.next(head.span) else { return 0 }
        return UInt64(response.status.code) &+ 1000 &* UInt64(response.fields.count)
    }

    /// Reads a response to its end, and returns the number of octets of content.
    private static func content(_ response: [UInt8], _ codec: inout ClientCodec) throws(HTTPError) -> UInt64 {
        var position = 0
        var sum: UInt64 = 0
        while true {
            let (event, consumed) = try codec.next(response.span.extracting(position...))
            position += consumed
            switch event {
            case .head, .interim: break
            case .content(let range): sum &+= UInt64(range.count)
            case .end, .needMore, .handover: return sum
            }
        }
    }
}
