// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineLoading

/// Which requests a stub takes: `.post("/users").json(["name": "lupin"])`.
///
/// An address may be whole (`https://api.example.com/users`), or a path, which then may be any server's. `{name}` stands for
/// one segment of the path and becomes `TestRequest.parameters["name"]`, `{*}` at the end for any rest. Without `?` any query
/// will do, with it the query has these items and no others, in any order. A value.
public struct RequestPattern: Sendable, CustomStringConvertible {
    private struct Condition: Sendable {
        let text: String
        let holds: @Sendable (TestRequest) -> Bool
    }

    private enum Address: Sendable {
        case template(String)
        /// As it was recorded.
        case exact(String)

        var text: String {
            switch self {
            case .template(let text), .exact(let text): text
            }
        }
    }

    private let method: String?
    private let address: Address
    private var headers: [TestHeaders.Field] = []
    private var body: BodyPattern?
    private var conditions: [Condition] = []
    /// What is left out of a request before it is compared.
    private var redaction: RecordingRedaction?

    /// A pattern of a method (nil: any) and an address.
    public init(_ method: String?, _ address: String) {
        self.method = method?.uppercased()
        self.address = .template(address)
    }

    /// A pattern of a request that was recorded.
    init(_ recorded: RecordedExchange.Request, _ redaction: RecordingRedaction) {
        method = recorded.method
        address = .exact(recorded.url)
        body = .data(recorded.body)
        self.redaction = redaction
    }

    /// Requests of any method.
    public static func any(_ address: String) -> RequestPattern { RequestPattern(nil, address) }
    /// GET requests.
    public static func get(_ address: String) -> RequestPattern { RequestPattern("GET", address) }
    /// HEAD requests.
    public static func head(_ address: String) -> RequestPattern { RequestPattern("HEAD", address) }
    /// POST requests.
    public static func post(_ address: String) -> RequestPattern { RequestPattern("POST", address) }
    /// PUT requests.
    public static func put(_ address: String) -> RequestPattern { RequestPattern("PUT", address) }
    /// PATCH requests.
    public static func patch(_ address: String) -> RequestPattern { RequestPattern("PATCH", address) }
    /// DELETE requests.
    public static func delete(_ address: String) -> RequestPattern { RequestPattern("DELETE", address) }

    // MARK: what else is wanted

    /// The pattern, of requests that have a field of this name and value as well.
    public func header(_ name: String, _ value: String) -> RequestPattern {
        var pattern = self
        pattern.headers.append(TestHeaders.Field(name, value))
        return pattern
    }

    /// The pattern, of requests with this body.
    public func body(_ data: Data) -> RequestPattern {
        var pattern = self
        pattern.body = .data(data)
        return pattern
    }

    /// The pattern, of requests with this text as their body.
    public func body(_ text: String) -> RequestPattern { body(Data(text.utf8)) }

    /// The pattern, of requests whose body is this value in JSON; neither the order of members nor blanks matter. A value that
    /// cannot be encoded is matched by nothing.
    public func json(_ value: some Encodable, encoder: JSONEncoder = JSONEncoder()) -> RequestPattern {
        do {
            var pattern = self
            pattern.body = .json(try encoder.encode(value))
            return pattern
        } catch {
            return matching("a value that cannot be encoded: \(error)") { _ in false }
        }
    }

    /// The pattern, of requests for which `condition` holds as well.
    ///
    /// - Parameters:
    ///   - text: The condition in words, for the errors.
    ///   - condition: Called for requests that are compared, perhaps several times, on any thread.
    public func matching(
        _ text: String, _ condition: @escaping @Sendable (_ request: TestRequest) -> Bool
    ) -> RequestPattern {
        var pattern = self
        pattern.conditions.append(Condition(text: text, holds: condition))
        return pattern
    }

    /// Method and address.
    public var description: String { "\(method ?? "any method") \(address.text)" }

    // MARK: comparing

    /// What the braces stand for in a request that matches.
    func parameters(of request: TestRequest) -> [String: String] {
        guard case .template(let text) = address else { return [:] }
        return PathPattern(AddressParts(text).path).parameters(in: request.url.path(percentEncoded: true))
            ?? [:]
    }

    /// In which respects a request is not wanted; none where it matches. Calls the program's conditions.
    func differences(from request: TestRequest) -> [StubDifference] {
        var found: [StubDifference] = []
        if let method, method != request.method {
            found.append(
                StubDifference(label: "method", expected: method, actual: request.method, weight: 2))
        }
        if let difference = addressDifference(from: request) { found.append(difference) }
        for field in headers where !request.headers.values(of: field.name).contains(field.value) {
            found.append(
                StubDifference(
                    label: "header \(field.name)", expected: field.value,
                    actual: request.headers[field.name]))
        }
        let content = redaction?.body(request.body, type: request.headers["Content-Type"]) ?? request.body
        if let difference = body?.difference(from: content) { found.append(difference) }
        assertNoLockIsHeld()
        for condition in conditions where !condition.holds(request) {
            found.append(StubDifference(label: "condition", expected: condition.text, actual: nil))
        }
        return found
    }

    private func addressDifference(from request: TestRequest) -> StubDifference? {
        let whole = request.url.absoluteString
        switch address {
        case .exact(let text):
            let actual = redaction?.url(request.url) ?? whole
            if actual == text { return nil }
            let isNear = AddressParts(actual).path == AddressParts(text).path
            return StubDifference(label: "url", expected: text, actual: actual, weight: isNear ? 1 : 4)
        case .template(let text):
            let (wanted, given) = (AddressParts(text), AddressParts(whole))
            let isServer = wanted.server == nil || wanted.server?.lowercased() == given.server?.lowercased()
            let isPath = PathPattern(wanted.path).parameters(in: given.path) != nil
            let isQuery = wanted.query == nil || wanted.items == given.items
            if isServer, isPath, isQuery { return nil }
            let shown = wanted.server == nil ? given.target : whole
            return StubDifference(
                label: "url", expected: text, actual: shown, weight: isServer && isPath ? 1 : 4)
        }
    }
}

/// An address in the parts that patterns compare. A value.
private struct AddressParts {
    /// Scheme, host and port; nil where there is only a path.
    let server: String?
    let path: String
    /// Nil without a question mark.
    let query: String?

    init(_ text: String) {
        var rest = Substring(text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0])
        if let scheme = rest.firstRange(of: "://") {
            let end = rest[scheme.upperBound...].firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
            server = String(rest[..<end])
            rest = rest[end...]
        } else {
            server = nil
        }
        let mark = rest.firstIndex(of: "?")
        let path = rest[..<(mark ?? rest.endIndex)]
        self.path = path.isEmpty ? "/" : String(path)
        query = mark.map { String(rest[rest.index(after: $0)...]) }
    }

    /// Path and query.
    var target: String { path + (query.map { "?" + $0 } ?? "") }

    /// The items of the query, decoded, in one order.
    var items: [String] {
        (query ?? "").split(separator: "&").map { $0.removingPercentEncoding ?? String($0) }.sorted()
    }
}
