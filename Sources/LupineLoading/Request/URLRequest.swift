// SPDX-License-Identifier: MIT

public import Foundation

/// What to load and how: address, method, header fields, body and policies. Not how it goes: that is a task's.
///
/// A value; a copy is one retain and never sees what is done to another copy (U-1.1). Nothing is judged here that
/// the loader can judge later: an address, method or field that cannot be sent makes the task fail, with an error that
/// names it, and never the program. Any thread may use a copy of its own.
public struct URLRequest: Sendable {
    /// How the cache takes part.
    public typealias CachePolicy = NSURLRequest.CachePolicy
    /// What kind of traffic the request is. A task that is given no priority has a high one for what a person is waiting for,
    /// and a low one for `.background`.
    public typealias NetworkServiceType = NSURLRequest.NetworkServiceType
    /// Who caused the request; stored only.
    public typealias Attribution = NSURLRequest.Attribution

    /// What a request holds.
    struct Contents: Sendable {
        var url: URL? {
            didSet {
                scheme = LoadingScheme(of: url)
                isRelative = url?.baseURL != nil
            }
        }
        /// That of the address, which several steps of the way ask for.
        private(set) var scheme: LoadingScheme
        /// Whether the address has a base. Only one that was set has: the initializer makes it absolute.
        private(set) var isRelative: Bool
        var cachePolicy: CachePolicy
        /// As it was set; nil leaves it to the session's configuration (U-14.1).
        var timeout: TimeInterval?
        var mainDocumentURL: URL?
        var networkServiceType = NetworkServiceType.default
        var allowsCellularAccess = true
        var allowsExpensiveNetworkAccess = true
        var allowsConstrainedNetworkAccess = true
        var assumesHTTP3Capable = false
        var requiresDNSSECValidation = false
        var attribution = Attribution.developer
        var httpMethod = "GET"
        var headers = HeaderList()
        var body = Body.none
        var httpShouldHandleCookies = true
        var httpShouldUsePipelining = false
        var protocolProperties: [String: CallerValue<Any>] = [:]

        init(url: URL?, cachePolicy: CachePolicy, timeout: TimeInterval?) {
            self.url = url
            scheme = LoadingScheme(of: url)
            isRelative = url?.baseURL != nil
            self.cachePolicy = cachePolicy
            self.timeout = timeout
        }
    }

    /// The body in one of its forms.
    enum Body: Sendable {
        case none
        case data(Data)
        case stream(CallerValue<InputStream>)
    }

    /// The idle time-out of a request that was given none, in seconds.
    static let defaultTimeout: TimeInterval = 60

    var contents: Shared<Contents>

    /// A GET request for `url`.
    ///
    /// - Parameters:
    ///   - url: Where to load from; made absolute.
    ///   - cachePolicy: How the cache takes part; by default as the session's configuration says.
    ///   - timeoutInterval: The idle time-out in seconds; the default leaves it to the session's configuration.
    public init(
        url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0
    ) {
        contents = Shared(
            Contents(
                url: url.absoluteURL, cachePolicy: cachePolicy,
                timeout: timeoutInterval == Self.defaultTimeout ? nil : timeoutInterval))
    }

    /// A request of these contents.
    init(_ contents: Contents) { self.contents = Shared(contents) }

    // MARK: where, and under which policy

    /// Where to load from. A request without an address fails when it is loaded. One that is set keeps its base and its
    /// relative string; what is loaded is the absolute address.
    public var url: URL? {
        get { contents.value.url }
        set { contents.value.url = newValue }
    }

    /// Takes the base out of the address, as it is loaded.
    mutating func makeAbsolute() {
        if contents.value.isRelative { url = url?.absoluteURL }
    }

    /// How the cache takes part.
    public var cachePolicy: CachePolicy {
        get { contents.value.cachePolicy }
        set { contents.value.cachePolicy = newValue }
    }

    /// The idle time-out in seconds: 60 unless it was set.
    public var timeoutInterval: TimeInterval {
        get { contents.value.timeout ?? Self.defaultTimeout }
        set { contents.value.timeout = newValue }
    }

    /// The idle time-out if it was set, also to its default; nil leaves it to the configuration.
    package var explicitTimeoutInterval: TimeInterval? { contents.value.timeout }

    /// The document that the request belongs to: the first party, by which cookies are judged.
    public var mainDocumentURL: URL? {
        get { contents.value.mainDocumentURL }
        set { contents.value.mainDocumentURL = newValue }
    }

    /// What kind of traffic the request is. A task that is given no priority has a high one for what a person is waiting for,
    /// and a low one for `.background`.
    public var networkServiceType: NetworkServiceType {
        get { contents.value.networkServiceType }
        set { contents.value.networkServiceType = newValue }
    }

    /// Whether a modem's interface may carry the request.
    public var allowsCellularAccess: Bool {
        get { contents.value.allowsCellularAccess }
        set { contents.value.allowsCellularAccess = newValue }
    }

    /// Whether an interface that costs money may carry the request.
    public var allowsExpensiveNetworkAccess: Bool {
        get { contents.value.allowsExpensiveNetworkAccess }
        set { contents.value.allowsExpensiveNetworkAccess = newValue }
    }

    /// Whether an interface in low data mode may carry the request.
    public var allowsConstrainedNetworkAccess: Bool {
        get { contents.value.allowsConstrainedNetworkAccess }
        set { contents.value.allowsConstrainedNetworkAccess = newValue }
    }

    /// Stored; has no effect here.
    public var assumesHTTP3Capable: Bool {
        get { contents.value.assumesHTTP3Capable }
        set { contents.value.assumesHTTP3Capable = newValue }
    }

    /// Stored; has no effect here.
    public var requiresDNSSECValidation: Bool {
        get { contents.value.requiresDNSSECValidation }
        set { contents.value.requiresDNSSECValidation = newValue }
    }

    /// Who caused the request. Stored; has no effect here.
    public var attribution: Attribution {
        get { contents.value.attribution }
        set { contents.value.attribution = newValue }
    }

    /// Whether cookies are sent with the request and taken from its response.
    public var httpShouldHandleCookies: Bool {
        get { contents.value.httpShouldHandleCookies }
        set { contents.value.httpShouldHandleCookies = newValue }
    }

    /// Stored; requests are never pipelined.
    public var httpShouldUsePipelining: Bool {
        get { contents.value.httpShouldUsePipelining }
        set { contents.value.httpShouldUsePipelining = newValue }
    }

    // MARK: method

    /// The method. Setting nil restores GET; GET, HEAD, POST, PUT, DELETE and CONNECT are known in any spelling, others
    /// are sent as they are.
    public var httpMethod: String? {
        get { contents.value.httpMethod }
        set { contents.value.httpMethod = newValue.map(Self.canonicalMethod) ?? "GET" }
    }

    private static func canonicalMethod(_ method: String) -> String {
        let capitals = method.uppercased()
        return ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT"].contains(capitals) ? capitals : method
    }

    // MARK: header fields

    /// The header fields by name, nil when there are none. Assigning keeps the names as they are given.
    public var allHTTPHeaderFields: [String: String]? {
        get { contents.value.headers.dictionary }
        set { contents.value.headers.assign(newValue) }
    }

    /// The header fields in their order.
    package var headerList: HeaderList {
        get { contents.value.headers }
        set { contents.value.headers = newValue }
    }

    /// The value of a header field, its name in any mix of cases.
    public func value(forHTTPHeaderField field: String) -> String? { contents.value.headers[field] }

    /// Sets a header field, replacing the one of that name in any mix of cases; nil removes it. A value with NUL, CR
    /// or LF is refused: the call then does nothing.
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
        if let value, Self.breaksLine(value) { return }
        contents.value.headers.set(field, value)
    }

    /// Adds to a header field, after a comma if there is one of that name in any mix of cases. A value with NUL, CR or LF
    /// is refused: the call then does nothing.
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
        if Self.breaksLine(value) { return }
        contents.value.headers.add(field, value)
    }

    private static func breaksLine(_ value: String) -> Bool {
        value.utf8.contains { $0 == 0x00 || $0 == 0x0A || $0 == 0x0D }
    }

    // MARK: body

    /// The body in its form.
    var body: Body { contents.value.body }

    /// The body as data. Setting it removes the stream.
    public var httpBody: Data? {
        get {
            if case .data(let data) = contents.value.body { return data }
            return nil
        }
        set { contents.value.body = newValue.map(Body.data) ?? .none }
    }

    /// The body as a stream, which can be sent once. Setting it removes the data.
    public var httpBodyStream: InputStream? {
        get {
            if case .stream(let stream) = contents.value.body { return stream.value }
            return nil
        }
        set { contents.value.body = newValue.map { .stream(CallerValue($0)) } ?? .none }
    }

    /// The same without its body and without what protocols attached.
    var head: URLRequest {
        var head = self
        head.contents.value.body = .none
        head.contents.value.protocolProperties = [:]
        return head
    }

    // MARK: what protocols attach

    /// What a protocol attached under that key.
    package func protocolProperty(forKey key: String) -> Any? {
        contents.value.protocolProperties[key]?.value
    }

    /// Attaches a value for protocols to find; it goes with every copy. Nil takes it off.
    package mutating func setProtocolProperty(_ value: Any?, forKey key: String) {
        contents.value.protocolProperties[key] = value.map(CallerValue.init)
    }
}

/// By what tells two requests apart for a cache: header fields, body data, time-out and kind of service do not count
/// (U-1.5).
extension URLRequest: Hashable {
    public static func == (left: URLRequest, right: URLRequest) -> Bool {
        let (left, right) = (left.contents.value, right.contents.value)
        return left.url == right.url && left.mainDocumentURL == right.mainDocumentURL
            && left.httpMethod == right.httpMethod && left.cachePolicy == right.cachePolicy
            && left.body.streamIdentity == right.body.streamIdentity
            && left.allowsCellularAccess == right.allowsCellularAccess
            && left.httpShouldHandleCookies == right.httpShouldHandleCookies
    }

    public func hash(into hasher: inout Hasher) {
        let contents = contents.value
        hasher.combine(contents.url)
        hasher.combine(contents.mainDocumentURL)
        hasher.combine(contents.httpMethod)
        hasher.combine(contents.cachePolicy)
        hasher.combine(contents.body.streamIdentity)
        hasher.combine(contents.allowsCellularAccess)
        hasher.combine(contents.httpShouldHandleCookies)
    }
}

extension URLRequest.Body {
    fileprivate var streamIdentity: ObjectIdentifier? {
        if case .stream(let stream) = self { return ObjectIdentifier(stream.value) }
        return nil
    }
}

extension URLRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// The address, without name and password.
    public var description: String { url?.withoutUserInfo.description ?? "url: nil" }

    /// The address, without name and password.
    public var debugDescription: String { description }
}

extension URLRequest: CustomReflectable {
    /// The members that a caller can set, without the body's content.
    public var customMirror: Mirror {
        let members: [(label: String?, value: Any)] = [
            ("url", url as Any),
            ("cachePolicy", cachePolicy.rawValue),
            ("timeoutInterval", timeoutInterval),
            ("mainDocumentURL", mainDocumentURL as Any),
            ("networkServiceType", networkServiceType.rawValue),
            ("allowsCellularAccess", allowsCellularAccess),
            ("httpMethod", httpMethod as Any),
            ("allHTTPHeaderFields", allHTTPHeaderFields as Any),
            ("httpBody", httpBody as Any),
            ("httpBodyStream", httpBodyStream as Any),
            ("httpShouldHandleCookies", httpShouldHandleCookies),
            ("httpShouldUsePipelining", httpShouldUsePipelining),
        ]
        return Mirror(self, children: members, displayStyle: .struct)
    }
}
