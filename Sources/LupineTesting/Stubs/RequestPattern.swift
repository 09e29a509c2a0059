// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineLoading

/// The requests that a stub answers: `.post("/users").json(["name": "lupin"])`.
///
/// An address is absolute (`https://api.example.com/users`), or a path, which matches any server. `{name}` matches one
/// segment of the path, available as `TestRequest.parameters["name"]`; `{*}` at the end matches all further segments. Without
/// `?` any query matches; with it, the query must have exactly these items, in any order.
public struct RequestPattern: Sendable, CustomStringConvertible {
    /// A condition that the program has added.
    private struct Condition: Sendable {
        /// The program's description of the condition.
        let text: String
        /// Returns whether a request meets the condition.
        let holds: @Sendable (TestRequest) -> Bool
    }

    private enum Address: Sendable {
        /// A URL or a path, with names in braces.
        case template(String)
        /// The URL of a recorded request.
        case exact(String)

        var text: String {
            switch self {
            case .template(let text), .exact(let text): text
            }
        }
    }

    /// The weights of the differences that count for more than 1 when the nearest stub is searched.
    private enum Weight {
        static let method = 2
        /// Another path; for a template, also another server.
        static let path = 4
    }

    /// The method; nil for any.
    private let method: String?
    private let address: Address
    private var headers: [TestHeaders.Field] = []
    /// The body; nil for any.
    private var body: BodyPattern?
    private var conditions: [Condition] = []
    /// The redaction that is applied to a request before it is compared.
    private var redaction: RecordingRedaction?

    /// Creates a pattern for a method (nil matches any method) and an address.
    public init(_ method: String?, _ address: String) {
        self.method = method?.uppercased()
        self.address = .template(address)
    }

    /// Creates a pattern for a recorded request.
    init(_ recorded: RecordedExchange.Request, _ redaction: RecordingRedaction) {
        method = recorded.method
        address = .exact(recorded.url)
        body = .data(recorded.body)
        self.redaction = redaction
    }

    /// Matches requests of any method.
    public static func any(_ address: String) -> RequestPattern { RequestPattern(nil, address) }
    /// Matches GET requests.
    public static func get(_ address: String) -> RequestPattern { RequestPattern("GET", address) }
    /// Matches HEAD requests.
    public static func head(_ address: String) -> RequestPattern { RequestPattern("HEAD", address) }
    /// Matches POST requests.
    public static func post(_ address: String) -> RequestPattern { RequestPattern("POST", address) }
    /// Matches PUT requests.
    public static func put(_ address: String) -> RequestPattern { RequestPattern("PUT", address) }
    /// Matches PATCH requests.
    public static func patch(_ address: String) -> RequestPattern { RequestPattern("PATCH", address) }
    /// Matches DELETE requests.
    public static func delete(_ address: String) -> RequestPattern { RequestPattern("DELETE", address) }

    // MARK: further conditions

    /// Returns the pattern, restricted to requests that also have a field of this name and value.
    public func header(_ name: String, _ value: String) -> RequestPattern {
        var pattern = self
        pattern.headers.append(TestHeaders.Field(name, value))
        return pattern
    }

    /// Returns the pattern, restricted to requests with this body.
    public func body(_ data: Data) -> RequestPattern {
        var pattern = self
        pattern.body = .data(data)
        return pattern
    }

    /// Returns the pattern, restricted to requests with this text as their body.
    public func body(_ text: String) -> RequestPattern { body(Data(text.utf8)) }

    /// Returns the pattern, restricted to requests whose body is this value in JSON, in any member order and formatting.
    /// With a value that cannot be encoded, the pattern matches nothing.
    public func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) -> RequestPattern {
        do {
            var pattern = self
            pattern.body = .json(try encoder.encode(value))
            return pattern
        } catch {
            return matching("a value that cannot be encoded: \(error)") { _ in false }
        }
    }

    /// Returns the pattern, restricted to requests that also meet `condition`.
    ///
    /// - Parameters:
    ///   - text: A description of the condition, for error messages.
    ///   - condition: Called for each compared request, possibly several times, on any thread.
    public func matching(
        _ text: String, _ condition: @escaping @Sendable (_ request: TestRequest) -> Bool
    ) -> RequestPattern {
        var pattern = self
        pattern.conditions.append(Condition(text: text, holds: condition))
        return pattern
    }

    /// The method and the address.
    public var description: String { "\(method ?? "any method") \(address.text)" }

    // MARK: comparison

    /// Returns the values that a matching request has for the names in braces.
    func parameters(of request: TestRequest) -> [String: String] {
        guard case .template(let text) = address else { return [:] }
        let pattern = PathPattern(AddressComponents(text).path)
        return pattern.parameters(in: request.url.path(percentEncoded: true)) ?? [:]
    }

    /// Returns the differences between a request and the pattern; empty when it matches. Calls the program's conditions.
    func differences(from request: TestRequest) -> [StubDifference] {
        var differences: [StubDifference] = []
        if let method, method != request.method {
            differences.append(
                StubDifference(
                    label: "method", expected: method, actual: request.method, weight: Weight.method))
        }
        if let difference = addressDifference(from: request) { differences.append(difference) }
        for field in headers where !request.headers.values(of: field.name).contains(field.value) {
            differences.append(
                StubDifference(
                    label: "header \(field.name)", expected: field.value,
                    actual: request.headers[field.name]))
        }
        let content = redaction?.body(request.body, type: request.headers["Content-Type"]) ?? request.body
        if let difference = body?.difference(from: content) { differences.append(difference) }
        // The conditions are the program's code, and may use this library: under one of its locks, they could deadlock. Only the
        // builds for the sanitizers check this.
        assertNoLockIsHeld()
        for condition in conditions where !condition.holds(request) {
            differences.append(StubDifference(label: "condition", expected: condition.text, actual: nil))
        }
        return differences
    }

    /// Returns how a request's address differs from that of the pattern; nil when it matches.
    private func addressDifference(from request: TestRequest) -> StubDifference? {
        let url = request.url.absoluteString
        switch address {
        case .exact(let text):
            let actual = redaction?.url(request.url) ?? url
            if actual == text { return nil }
            // For a recorded URL, another server or query counts less than another path.
            let hasSamePath = AddressComponents(actual).path == AddressComponents(text).path
            return StubDifference(
                label: "url", expected: text, actual: actual, weight: hasSamePath ? 1 : Weight.path)
        case .template(let text):
            let (expected, actual) = (AddressComponents(text), AddressComponents(url))
            // A pattern without a server matches any server, and one without a query any query.
            let matchesServer =
                expected.server == nil || expected.server?.lowercased() == actual.server?.lowercased()
            let matchesPath = PathPattern(expected.path).parameters(in: actual.path) != nil
            let matchesQuery = expected.query == nil || expected.queryItems == actual.queryItems
            if matchesServer, matchesPath, matchesQuery { return nil }
            let shownAddress = expected.server == nil ? actual.target : url
            return StubDifference(
                label: "url", expected: text, actual: shownAddress,
                weight: matchesServer && matchesPath ? 1 : Weight.path)
        }
    }
}

/// An address, split into the components that patterns compare. The address may be no valid URL: it may have names in braces.
private struct AddressComponents {
    /// Scheme, host and port; nil when there is only a path.
    let server: String?
    let path: String
    /// The query; nil without a question mark.
    let query: String?

    init(_ text: String) {
        // The fragment is not sent, and so is not compared.
        let withoutFragment = text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
        var remaining = Substring(withoutFragment)
        if let scheme = remaining.firstRange(of: "://") {
            let afterScheme = remaining[scheme.upperBound...]
            let end = afterScheme.firstIndex { $0 == "/" || $0 == "?" } ?? remaining.endIndex
            server = String(remaining[..<end])
            remaining = remaining[end...]
        } else {
            server = nil
        }
        let questionMark = remaining.firstIndex(of: "?")
        let path = remaining[..<(questionMark ?? remaining.endIndex)]
        self.path = path.isEmpty ? "/" : String(path)
        query = questionMark.map { String(remaining[remaining.index(after: $0)...]) }
    }

    /// The path and the query.
    var target: String { path + (query.map { "?" + $0 } ?? "") }

    /// The items of the query, decoded and sorted.
    var queryItems: [String] {
        (query ?? "").split(separator: "&").map { $0.removingPercentEncoding ?? String($0) }.sorted()
    }
}
