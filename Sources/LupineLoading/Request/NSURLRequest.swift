// SPDX-License-Identifier: MIT

public import Foundation

/// The class that corresponds to the value type `URLRequest`. `URLProtocol.setProperty` takes its mutable subclass.
///
/// `as` converts between the two types in both directions, with all values, including the properties that a `URLProtocol` has set
/// (U-1.6). This class is immutable; `NSMutableURLRequest` may be used by one thread at a time.
public class NSURLRequest: NSObject, NSSecureCoding, NSCopying, NSMutableCopying {
    /// How the cache is used by a load.
    public enum CachePolicy: UInt, Sendable {
        /// Use the policy of the session's configuration. If that is `useProtocolCachePolicy` too, apply the rules of HTTP
        /// (RFC 9111).
        case useProtocolCachePolicy = 0
        /// Load from the server, and do not use a cached response.
        case reloadIgnoringLocalCacheData = 1
        /// Load from the server, and ask proxies not to use their caches.
        case reloadIgnoringLocalAndRemoteCacheData = 4
        /// Use a cached response of any age; load only if there is none.
        case returnCacheDataElseLoad = 2
        /// Use a cached response of any age; fail if there is none.
        case returnCacheDataDontLoad = 3
        /// Ask the server whether the cached response is still valid; load if the response is not valid, or if there is none.
        case reloadRevalidatingCacheData = 5

        /// The older name of `reloadIgnoringLocalCacheData`.
        public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
    }

    /// The kind of traffic of a request; a hint.
    public enum NetworkServiceType: UInt, Sendable {
        /// Ordinary traffic.
        case `default` = 0
        /// Call control.
        case voip = 1
        /// Video.
        case video = 2
        /// Traffic that no user waits for.
        case background = 3
        /// Voice.
        case voice = 4
        /// Data that a user waits for.
        case responsiveData = 6
        /// Streamed audio and video.
        case avStreaming = 8
        /// Audio and video of a conversation.
        case responsiveAV = 9
        /// Call signaling.
        case callSignaling = 11
    }

    /// The cause of a request.
    public enum Attribution: UInt, Sendable {
        /// The program.
        case developer = 0
        /// Its user.
        case user = 1
    }

    /// The values of the request.
    fileprivate var request: URLRequest

    /// Creates a GET request for `url`.
    public init(
        url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0
    ) {
        request = URLRequest(url: url, cachePolicy: cachePolicy, timeoutInterval: timeoutInterval)
    }

    /// Creates a request with the values of `request`.
    package required init(_ request: URLRequest) { self.request = request }

    /// Decodes an archived request; returns nil if the archive contains something else.
    public required init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding,
            let octets = coder.decodeObject(of: NSData.self, forKey: "request"),
            let request = RequestArchive.request(Array(octets as Data))
        else { return nil }
        self.request = request
    }

    /// Archives the request, including header fields and body data, which may contain secrets. Omits a body stream, and
    /// `URLProtocol` properties that a property list cannot contain.
    public func encode(with coder: NSCoder) {
        coder.encode(Data(RequestArchive.octets(of: request)) as NSData, forKey: "request")
    }

    /// Always true.
    public static var supportsSecureCoding: Bool { true }

    /// The request as a value.
    package var asURLRequest: URLRequest { request }

    /// The URL to load.
    public var url: URL? { request.url }
    /// How the cache is used.
    public var cachePolicy: CachePolicy { request.cachePolicy }
    /// The idle timeout in seconds.
    public var timeoutInterval: TimeInterval { request.timeoutInterval }
    /// The URL of the main document that the request belongs to.
    public var mainDocumentURL: URL? { request.mainDocumentURL }
    /// The kind of traffic of the request; a hint.
    public var networkServiceType: NetworkServiceType { request.networkServiceType }
    /// Whether the request may use a cellular interface.
    public var allowsCellularAccess: Bool { request.allowsCellularAccess }
    /// Whether the request may use an expensive interface.
    public var allowsExpensiveNetworkAccess: Bool { request.allowsExpensiveNetworkAccess }
    /// Whether the request may use an interface in low data mode.
    public var allowsConstrainedNetworkAccess: Bool { request.allowsConstrainedNetworkAccess }
    /// Stored; has no effect here.
    public var assumesHTTP3Capable: Bool { request.assumesHTTP3Capable }
    /// Stored; has no effect here.
    public var requiresDNSSECValidation: Bool { request.requiresDNSSECValidation }
    /// The cause of the request.
    public var attribution: Attribution { request.attribution }
    /// The method.
    public var httpMethod: String? { request.httpMethod }
    /// The header fields by name.
    public var allHTTPHeaderFields: [String: String]? { request.allHTTPHeaderFields }
    /// The body as data.
    public var httpBody: Data? { request.httpBody }
    /// The body as a stream.
    public var httpBodyStream: InputStream? { request.httpBodyStream }
    /// Whether stored cookies are sent with the request, and the cookies of its response are stored.
    public var httpShouldHandleCookies: Bool { request.httpShouldHandleCookies }
    /// Stored; requests are never pipelined.
    public var httpShouldUsePipelining: Bool { request.httpShouldUsePipelining }

    /// Returns the value of a header field, whose name is compared without case; nil if there is no such field.
    public func value(forHTTPHeaderField field: String) -> String? {
        request.value(forHTTPHeaderField: field)
    }

    /// Returns the `URLProtocol` property with this key; nil if there is none.
    package func protocolProperty(forKey key: String) -> Any? { request.protocolProperty(forKey: key) }

    /// An immutable copy of the request.
    public override func copy() -> Any { copy(with: nil) }

    /// An immutable copy of the request.
    public func copy(with zone: NSZone? = nil) -> Any { NSURLRequest(request) }

    /// A mutable copy of the request.
    public override func mutableCopy() -> Any { mutableCopy(with: nil) }

    /// A mutable copy of the request.
    public func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableURLRequest(request) }

    /// Whether the other object is a request with an equal value.
    public override func isEqual(_ object: Any?) -> Bool {
        if let other = object as? NSURLRequest { return request == other.request }
        return false
    }

    /// The hash of the value.
    public override var hash: Int { request.hashValue }

    /// The URL.
    public override var description: String { request.description }
}

/// A mutable request as a class. May be used by one thread at a time.
public final class NSMutableURLRequest: NSURLRequest {
    /// The URL to load.
    public override var url: URL? {
        get { request.url }
        set { request.url = newValue }
    }

    /// How the cache is used.
    public override var cachePolicy: CachePolicy {
        get { request.cachePolicy }
        set { request.cachePolicy = newValue }
    }

    /// The idle timeout in seconds.
    public override var timeoutInterval: TimeInterval {
        get { request.timeoutInterval }
        set { request.timeoutInterval = newValue }
    }

    /// The URL of the main document that the request belongs to.
    public override var mainDocumentURL: URL? {
        get { request.mainDocumentURL }
        set { request.mainDocumentURL = newValue }
    }

    /// The kind of traffic of the request; a hint.
    public override var networkServiceType: NetworkServiceType {
        get { request.networkServiceType }
        set { request.networkServiceType = newValue }
    }

    /// Whether the request may use a cellular interface.
    public override var allowsCellularAccess: Bool {
        get { request.allowsCellularAccess }
        set { request.allowsCellularAccess = newValue }
    }

    /// Whether the request may use an expensive interface.
    public override var allowsExpensiveNetworkAccess: Bool {
        get { request.allowsExpensiveNetworkAccess }
        set { request.allowsExpensiveNetworkAccess = newValue }
    }

    /// Whether the request may use an interface in low data mode.
    public override var allowsConstrainedNetworkAccess: Bool {
        get { request.allowsConstrainedNetworkAccess }
        set { request.allowsConstrainedNetworkAccess = newValue }
    }

    /// Stored; has no effect here.
    public override var assumesHTTP3Capable: Bool {
        get { request.assumesHTTP3Capable }
        set { request.assumesHTTP3Capable = newValue }
    }

    /// Stored; has no effect here.
    public override var requiresDNSSECValidation: Bool {
        get { request.requiresDNSSECValidation }
        set { request.requiresDNSSECValidation = newValue }
    }

    /// The cause of the request.
    public override var attribution: Attribution {
        get { request.attribution }
        set { request.attribution = newValue }
    }

    /// The method; nil restores GET.
    public override var httpMethod: String? {
        get { request.httpMethod }
        set { request.httpMethod = newValue }
    }

    /// The header fields by name.
    public override var allHTTPHeaderFields: [String: String]? {
        get { request.allHTTPHeaderFields }
        set { request.allHTTPHeaderFields = newValue }
    }

    /// The body as data. Setting it removes the stream.
    public override var httpBody: Data? {
        get { request.httpBody }
        set { request.httpBody = newValue }
    }

    /// The body as a stream. Setting it removes the data.
    public override var httpBodyStream: InputStream? {
        get { request.httpBodyStream }
        set { request.httpBodyStream = newValue }
    }

    /// Whether stored cookies are sent with the request, and the cookies of its response are stored.
    public override var httpShouldHandleCookies: Bool {
        get { request.httpShouldHandleCookies }
        set { request.httpShouldHandleCookies = newValue }
    }

    /// Stored; requests are never pipelined.
    public override var httpShouldUsePipelining: Bool {
        get { request.httpShouldUsePipelining }
        set { request.httpShouldUsePipelining = newValue }
    }

    /// Sets a header field; nil removes it.
    public func setValue(_ value: String?, forHTTPHeaderField field: String) {
        request.setValue(value, forHTTPHeaderField: field)
    }

    /// Appends a comma and a value to a header field; adds a field if there is none.
    public func addValue(_ value: String, forHTTPHeaderField field: String) {
        request.addValue(value, forHTTPHeaderField: field)
    }

    /// Sets a `URLProtocol` property; nil removes it.
    package func setProtocolProperty(_ value: Any?, forKey key: String) {
        request.setProtocolProperty(value, forKey: key)
    }
}

/// Supports `as NSURLRequest` and `as URLRequest`. The compiler calls the methods with an underscore for these casts.
extension URLRequest: ReferenceConvertible, _ObjectiveCBridgeable {
    /// The reference type of a request.
    public typealias ReferenceType = NSURLRequest

    public func _bridgeToObjectiveC() -> NSURLRequest { NSURLRequest(self) }

    public static func _forceBridgeFromObjectiveC(_ source: NSURLRequest, result: inout URLRequest?) {
        result = source.asURLRequest
    }

    public static func _conditionallyBridgeFromObjectiveC(
        _ source: NSURLRequest, result: inout URLRequest?
    ) -> Bool {
        result = source.asURLRequest
        return true
    }

    public static func _unconditionallyBridgeFromObjectiveC(_ source: NSURLRequest?) -> URLRequest {
        guard let source else { preconditionFailure("no request is bridged from nil") }
        return source.asURLRequest
    }
}
