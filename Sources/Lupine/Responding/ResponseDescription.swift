// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

/// A response as text for a developer: blocks of a name in brackets and what belongs to it, below it and indented.
///
/// It shows all header fields, those that are credentials by name alone, and short bodies that are text: for a debugger, not
/// for a log that others read, since bodies and fields of any other name may be secret too.
struct ResponseDescription {
    /// Longer bodies are not shown.
    static let longestBody = 100_000
    private static let step = "    "
    /// What the type of a body has in it that is worth showing.
    private static let textualTypes = ["json", "xml", "text"]

    private var lines: [String] = []

    /// The blocks in their order.
    var text: String { lines.joined(separator: "\n") }

    /// A line with a value.
    mutating func add(_ name: String, _ value: String?, depth: Int = 0) {
        lines.append(Self.indentation(depth) + "[\(name)]: \(value ?? "None")")
    }

    /// A request: its method, address, header fields and body.
    mutating func add(_ request: URLRequest) {
        add("Request", "\(request.method?.rawValue ?? "None") \(request)")
        let headers = request.headers
        add(headers)
        add(body: request.httpBody, type: headers["Content-Type"])
    }

    /// A response: its status and header fields.
    mutating func add(_ response: HTTPURLResponse) {
        addTitle("Response", depth: 0)
        add("Status Code", "\(response.statusCode)", depth: 1)
        add(response.headers)
    }

    /// A body, by the type that its message says it has.
    mutating func add(body: Data?, type: String?) {
        guard let body, !body.isEmpty else { return add("Body", nil, depth: 1) }
        guard body.count <= Self.longestBody, let type, Self.textualTypes.contains(where: type.contains)
        else { return add("Body", Self.count(of: body), depth: 1) }
        addTitle("Body", depth: 1)
        let text = String(decoding: body, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        // By octets: characters of a body may be long.
        for line in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false) {
            lines.append(Self.indentation(2) + Substring(line.last == 0x0D ? line.dropLast() : line))
        }
    }

    /// How long loading and serializing took.
    mutating func addDurations(metrics: URLSessionTaskMetrics?, serialization: TimeInterval) {
        add("Network Duration", metrics.map { "\($0.taskInterval.duration)s" })
        add("Serialization Duration", "\(serialization)s")
    }

    /// The size of data in words.
    static func count(of data: Data) -> String { "\(data.count) bytes" }

    private mutating func add(_ headers: HTTPHeaders) {
        if headers.isEmpty { return add("Headers", nil, depth: 1) }
        addTitle("Headers", depth: 1)
        for header in headers.sorted() {
            let value =
                LogRedaction.fields.contains(header.name.lowercased()) ? LogRedaction.mark : header.value
            lines.append(Self.indentation(2) + "\(header.name): \(value)")
        }
    }

    private mutating func addTitle(_ name: String, depth: Int) {
        lines.append(Self.indentation(depth) + "[\(name)]:")
    }

    private static func indentation(_ depth: Int) -> String { String(repeating: step, count: depth) }
}
