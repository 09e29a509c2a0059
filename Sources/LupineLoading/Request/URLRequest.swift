// SPDX-License-Identifier: MIT

public import Foundation

/// A request: URL, method, header fields, body and policies.
///
/// A value type: copying it retains one object, and changing a copy does not change the original (U-1.1). A request is validated
/// only when it is loaded: a task whose URL, method or field cannot be sent fails with an error that names it.
public struct URLRequest: Sendable {
    /// How the cache is used.
    public typealias CachePolicy = NSURLRequest.CachePolicy
    /// The kind of traffic of the request. A task without an explicit priority gets a high one for traffic that a user waits for,
    /// and a low one for `.background`.
    public typealias NetworkServiceType = NSURLRequest.NetworkServiceType
    /// The cause of the request. Stored; has no effect here.
    public typealias Attribution = NSURLRequest.Attribution

    /// The values of a request.
    struct Contents: Sendable {
        fileprivate(set) var url: URL?
        /// The URL's scheme, cached because a load needs it several times.
        fileprivate(set) var scheme: LoadingScheme
        /// Whether the URL is relative to a base URL. False after the initializer, which makes its URL absolute; a URL that is
        /// set later may be relative.
        fileprivate(set) var isRelative: Bool
        var cachePolicy: CachePolicy
        /// The idle timeout in seconds, if the program has set it; nil for that of the session's configuration (U-14.1).
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
        var protocolProperties: [String: UncheckedSendable<Any>] = [:]

        /// Sets the URL, and the properties that depend on it.
        mutating func setURL(_ url: URL?) {
            self.url = url
            scheme = LoadingScheme(of: url)
            isRelative = url?.baseURL != nil
        }
    }

    /// The body of a request.
    enum Body: Sendable {
        case none
        case data(Data)
        case stream(UncheckedSendable<InputStream>)
    }

    /// The idle timeout in seconds of a request without an explicit one.
    static let defaultTimeout: TimeInterval = 60

    /// The values, in a box that copies of the request share until one of them changes.
    var contents: CopyOnWriteBox<Contents>

    /// Creates a GET request for `url`.
    ///
    /// - Parameters:
    ///   - url: The URL to load, which is made absolute.
    ///   - cachePolicy: How the cache is used; by default according to the session's configuration.
    ///   - timeoutInterval: The idle timeout in seconds: how long the task may make no progress. With 60, the default, the
    ///     timeout of the session's configuration applies.
    public init(
        url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0
    ) {
        contents = CopyOnWriteBox(
            Contents(
                url: url.absoluteURL, cachePolicy: cachePolicy,
                timeout: timeoutInterval == Self.defaultTimeout ? nil : timeoutInterval))
    }

    /// Creates a request with these contents.
    init(_ contents: Contents) { self.contents = CopyOnWriteBox(contents) }

    // MARK: URL and policies

    /// The URL to load. A task whose request has no URL fails. If the URL is relative to a base URL, its absolute URL is loaded.
    public var url: URL? {
        get { contents.value.url }
        set { contents.value.setURL(newValue) }
    }

    /// Makes the URL absolute.
    mutating func makeAbsolute() {
        if contents.value.isRelative { url = url?.absoluteURL }
    }

    /// How the cache is used.
    public var cachePolicy: CachePolicy {
        get { contents.value.cachePolicy }
        set { contents.value.cachePolicy = newValue }
    }

    /// The idle timeout in seconds: how long the task may make no progress. 60 if the program has not set it.
    public var timeoutInterval: TimeInterval {
        get { contents.value.timeout ?? Self.defaultTimeout }
        set { contents.value.timeout = newValue }
    }

    /// The idle timeout in seconds, if the program has set it, even to 60; nil if that of the session's configuration applies.
    package var explicitTimeoutInterval: TimeInterval? { contents.value.timeout }

    /// The URL of the main document that the request belongs to. Its site is the first party when cookies are accepted and sent.
    public var mainDocumentURL: URL? {
        get { contents.value.mainDocumentURL }
        set { contents.value.mainDocumentURL = newValue }
    }

    /// The kind of traffic of the request. A task without an explicit priority gets a high one for traffic that a user waits for,
    /// and a low one for `.background`.
    public var networkServiceType: NetworkServiceType {
        get { contents.value.networkServiceType }
        set { contents.value.networkServiceType = newValue }
    }

    /// Whether the request may use a cellular interface.
    public var allowsCellularAccess: Bool {
        get { contents.value.allowsCellularAccess }
        set { contents.value.allowsCellularAccess = newValue }
    }

    /// Whether the request may use an expensive interface.
    public var allowsExpensiveNetworkAccess: Bool {
        get { contents.value.allowsExpensiveNetworkAccess }
        set { contents.value.allowsExpensiveNetworkAccess = newValue }
    }

    /// Whether the request may use an interface in low data mode.
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

    /// The cause of the request. Stored; has no effect here.
    public var attribution: Attribution {
        get { contents.value.attribution }
        set { contents.value.attribution = newValue }
    }

    /// Whether stored cookies are sent with the request, and the cookies of its response are stored.
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

    /// The method; GET after it is set to nil. The names GET, HEAD, POST, PUT, DELETE and CONNECT are converted to capitals; all
    /// other methods are sent unchanged.
    public var httpMethod: String? {
        get { contents.value.httpMethod }
        set { contents.value.httpMethod = newValue.map(Self.canonicalMethod) ?? "GET" }
    }

    /// Returns a well-known method in capitals; any other method unchanged, because methods are case-sensitive.
    private static func canonicalMethod(_ method: String) -> String {
        let capitals = method.uppercased()
        return ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT"].contains(capitals) ? capitals : method
    }

    // MARK: header fields

    /// The header fields by name; nil if there are none. Setting this property does not change the spelling of the names.
    public var allHTTPHeaderFields: [String: String]? {
        get { contents.value.headers.dictionary }
        set { contents.value.headers.assign(newValue) }
    }

    /// The header fields in their order.
    package var headerList: HeaderList {
        get { contents.value.headers }
        set { contents.value.headers = newValue }
    }

    /// Returns the value of a header field, whose name is compared without case; nil if there is no such field.
    public func value(forHTTPHeaderField field: String) -> String? { contents.value.headers[field] }

    /// Sets a header field, and replaces an existing field with the same name, which is compared without case. If the value is
    /// nil, removes the field. Does nothing if the value contains NUL, CR or LF.
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
        if let value, Self.breaksLine(value) { return }
        contents.value.headers.set(field, value)
    }

    /// Appends a comma and a value to the header field with this name, which is compared without case. Adds a field if there is
    /// none. Does nothing if the value contains NUL, CR or LF.
    public mutating func addValue(_ value: String, forHTTPHeaderField field: String) {
        if Self.breaksLine(value) { return }
        contents.value.headers.add(field, value)
    }

    /// Returns whether the value contains NUL, LF or CR (0x00, 0x0A, 0x0D), with which a recipient could end the field line.
    private static func breaksLine(_ value: String) -> Bool {
        value.utf8.contains { $0 == 0x00 || $0 == 0x0A || $0 == 0x0D }
    }

    // MARK: body

    /// The body.
    var body: Body { contents.value.body }

    /// The body as data; nil if there is none or it is a stream. Setting it removes the stream.
    public var httpBody: Data? {
        get {
            if case .data(let data) = contents.value.body { return data }
            return nil
        }
        set { contents.value.body = newValue.map(Body.data) ?? .none }
    }

    /// The body as a stream, which can be sent once; nil if there is none or it is data. Setting it removes the data.
    public var httpBodyStream: InputStream? {
        get {
            if case .stream(let stream) = contents.value.body { return stream.value }
            return nil
        }
        set { contents.value.body = newValue.map { .stream(UncheckedSendable($0)) } ?? .none }
    }

    /// Whether the request may contain objects of the program: a body, or `URLProtocol` properties.
    package var mayContainProgramObjects: Bool {
        if case .none = contents.value.body { return !contents.value.protocolProperties.isEmpty }
        return true
    }

    // MARK: URLProtocol properties

    /// Returns the `URLProtocol` property with this key; nil if there is none.
    package func protocolProperty(forKey key: String) -> Any? {
        contents.value.protocolProperties[key]?.value
    }

    /// Sets a `URLProtocol` property, which later copies of the request have, too; nil removes it.
    package mutating func setProtocolProperty(_ value: Any?, forKey key: String) {
        contents.value.protocolProperties[key] = value.map(UncheckedSendable.init)
    }
}

/// Compares requests as Foundation does: differences in header fields, body data, timeout and service type are ignored (U-1.5).
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
    /// The identity of a body stream, by which requests are compared; nil for other bodies.
    fileprivate var streamIdentity: ObjectIdentifier? {
        if case .stream(let stream) = self { return ObjectIdentifier(stream.value) }
        return nil
    }
}

extension URLRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// The URL, without user and password.
    public var description: String { url?.withoutUserInfo.description ?? "url: nil" }

    /// The URL, without user and password.
    public var debugDescription: String { description }
}

extension URLRequest: CustomReflectable {
    /// The properties that debuggers and `dump(_:)` show.
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

extension URLRequest.Contents {
    /// Creates the contents of a GET request.
    init(url: URL?, cachePolicy: URLRequest.CachePolicy, timeout: TimeInterval?) {
        self.init(
            url: url, scheme: LoadingScheme(of: url), isRelative: url?.baseURL != nil,
            cachePolicy: cachePolicy, timeout: timeout)
    }
}
