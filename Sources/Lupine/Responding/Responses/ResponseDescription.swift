// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineLoading

/// Builds the description of a response for a developer: titles in brackets, followed by values or by indented lines.
///
/// The description contains all header fields, with the values of credentials redacted, and short text bodies. It is meant for
/// debuggers, not for logs, because bodies and other fields may be secret too.
struct ResponseDescription {
    /// The maximum size in bytes of a body that is shown.
    static let maximumBodySize = 100_000
    private static let indentationUnit = "    "
    /// A body is shown as text if its media type contains one of these strings.
    private static let textualTypes = ["json", "xml", "text"]

    private var lines: [String] = []

    /// The whole description.
    var text: String { lines.joined(separator: "\n") }

    /// Adds a line with a title and a value, or `None` for nil. `depth` is the number of indentation units before the line.
    mutating func add(_ name: String, _ value: String?, depth: Int = 0) {
        lines.append(Self.indentation(depth) + "[\(name)]: \(value ?? "None")")
    }

    /// Adds a request: its method, URL, header fields and body.
    mutating func add(_ request: URLRequest) {
        add("Request", "\(request.method?.rawValue ?? "None") \(request)")
        let headers = request.headers
        add(headers)
        add(body: request.httpBody, type: headers["Content-Type"])
    }

    /// Adds a response: its status and header fields.
    mutating func add(_ response: HTTPURLResponse) {
        addTitle("Response", depth: 0)
        add("Status Code", "\(response.statusCode)", depth: 1)
        add(response.headers)
    }

    /// Adds a body: as text if its media type `type` is textual and it is short enough, otherwise only its size.
    mutating func add(body: Data?, type: String?) {
        guard let body, !body.isEmpty else { return add("Body", nil, depth: 1) }
        guard body.count <= Self.maximumBodySize, let type, Self.textualTypes.contains(where: type.contains)
        else { return add("Body", Self.sizeText(of: body), depth: 1) }
        addTitle("Body", depth: 1)
        let text = String(decoding: body, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        // Split by octets at line feeds (0x0A), because a single character of a body may be very long. A carriage return (0x0D)
        // before a line feed is dropped.
        for line in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false) {
            lines.append(Self.indentation(2) + Substring(line.last == 0x0D ? line.dropLast() : line))
        }
    }

    /// Adds the durations of loading and serializing.
    mutating func addDurations(metrics: URLSessionTaskMetrics?, serialization: TimeInterval) {
        add("Network Duration", metrics.map { "\($0.taskInterval.duration)s" })
        add("Serialization Duration", "\(serialization)s")
    }

    /// Returns the size of data as text.
    static func sizeText(of data: Data) -> String { "\(data.count) bytes" }

    /// Adds the header fields sorted by name, with the values of credentials redacted.
    private mutating func add(_ headers: HTTPHeaders) {
        if headers.isEmpty { return add("Headers", nil, depth: 1) }
        addTitle("Headers", depth: 1)
        for header in headers.sorted() {
            let isSecret = LogRedaction.fields.contains(header.name.lowercased())
            let value = isSecret ? LogRedaction.mark : header.value
            lines.append(Self.indentation(2) + "\(header.name): \(value)")
        }
    }

    /// Adds a title on a line of its own.
    private mutating func addTitle(_ name: String, depth: Int) {
        lines.append(Self.indentation(depth) + "[\(name)]:")
    }

    private static func indentation(_ depth: Int) -> String {
        String(repeating: indentationUnit, count: depth)
    }
}
