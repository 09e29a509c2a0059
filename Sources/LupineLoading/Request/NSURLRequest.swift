// SPDX-License-Identifier: MIT

public import Foundation

/// A `URLRequest` behind a reference, for code that wants one: `URLProtocol` attaches its properties to the mutable form.
///
/// `request as NSURLRequest` and back keep everything, also what protocols attached (U-1.6). This class is immutable;
/// `NSMutableURLRequest` is for one thread at a time.
public class NSURLRequest: NSObject, NSSecureCoding, NSCopying, NSMutableCopying {
    /// How the cache takes part in a load.
    public enum CachePolicy: UInt, Sendable {
        /// As the rules of HTTP and the configuration say.
        case useProtocolCachePolicy = 0
        /// Load, whatever is stored.
        case reloadIgnoringLocalCacheData = 1
        /// Load, and ask every cache on the way to load too.
        case reloadIgnoringLocalAndRemoteCacheData = 4
        /// What is stored, however old; else load.
        case returnCacheDataElseLoad = 2
        /// What is stored, however old; else fail.
        case returnCacheDataDontLoad = 3
        /// What is stored, once the server has confirmed it; else load.
        case reloadRevalidatingCacheData = 5

        /// The older name of `reloadIgnoringLocalCacheData`.
        public static var reloadIgnoringCacheData: CachePolicy { .reloadIgnoringLocalCacheData }
    }

    /// What kind of traffic a request is; a hint.
    public enum NetworkServiceType: UInt, Sendable {
        /// Ordinary traffic.
        case `default` = 0
        /// Control of calls.
        case voip = 1
        /// Video.
        case video = 2
        /// Traffic that nobody waits for.
        case background = 3
        /// Voice.
        case voice = 4
        /// Data that somebody waits for.
        case responsiveData = 6
        /// Streamed sound and video.
        case avStreaming = 8
        /// Sound and video of a conversation.
        case responsiveAV = 9
        /// Signals of calls.
        case callSignaling = 11
    }

    /// Who caused a request.
    public enum Attribution: UInt, Sendable {
        /// The program.
        case developer = 0
        /// Its user.
        case user = 1
    }

    fileprivate var request: URLRequest

    /// A GET request for `url`.
    public init(
        url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60.0
    ) {
        request = URLRequest(url: url, cachePolicy: cachePolicy, timeoutInterval: timeoutInterval)
    }

    /// The same request behind a reference.
    package required init(_ request: URLRequest) { self.request = request }

    /// Reads a request that was archived; nil when the archive holds something else.
    public required init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding,
            let octets = coder.decodeObject(of: NSData.self, forKey: "request"),
            let request = RequestArchive.request(Array(octets as Data))
        else { return nil }
        self.request = request
    }

    /// Archives all of the request, secrets in its header fields and its body too, but for a body stream and for properties of
    /// protocols that no property list can hold.
    public func encode(with coder: NSCoder) {
        coder.encode(Data(RequestArchive.octets(of: request)) as NSData, forKey: "request")
    }

    /// Whether archives are checked as they are read: yes.
    public static var supportsSecureCoding: Bool { true }

    /// The request as a value.
    package var asURLRequest: URLRequest { request }

    /// Where to load from.
    public var url: URL? { request.url }
    /// How the cache takes part.
    public var cachePolicy: CachePolicy { request.cachePolicy }
    /// The idle time-out in seconds.
    public var timeoutInterval: TimeInterval { request.timeoutInterval }
    /// The document that the request belongs to.
    public var mainDocumentURL: URL? { request.mainDocumentURL }
    /// What kind of traffic the request is; a hint.
    public var networkServiceType: NetworkServiceType { request.networkServiceType }
    /// Whether a modem's interface may carry the request.
    public var allowsCellularAccess: Bool { request.allowsCellularAccess }
    /// Whether an interface that costs money may carry the request.
    public var allowsExpensiveNetworkAccess: Bool { request.allowsExpensiveNetworkAccess }
    /// Whether an interface in low data mode may carry the request.
    public var allowsConstrainedNetworkAccess: Bool { request.allowsConstrainedNetworkAccess }
    /// Stored; has no effect here.
    public var assumesHTTP3Capable: Bool { request.assumesHTTP3Capable }
    /// Stored; has no effect here.
    public var requiresDNSSECValidation: Bool { request.requiresDNSSECValidation }
    /// Who caused the request.
    public var attribution: Attribution { request.attribution }
    /// The method.
    public var httpMethod: String? { request.httpMethod }
    /// The header fields by name.
    public var allHTTPHeaderFields: [String: String]? { request.allHTTPHeaderFields }
    /// The body as data.
    public var httpBody: Data? { request.httpBody }
    /// The body as a stream.
    public var httpBodyStream: InputStream? { request.httpBodyStream }
    /// Whether cookies are sent with the request and taken from its response.
    public var httpShouldHandleCookies: Bool { request.httpShouldHandleCookies }
    /// Stored; requests are never pipelined.
    public var httpShouldUsePipelining: Bool { request.httpShouldUsePipelining }

    /// The value of a header field, its name in any mix of cases.
    public func value(forHTTPHeaderField field: String) -> String? {
        request.value(forHTTPHeaderField: field)
    }

    /// What a protocol attached under that key.
    package func protocolProperty(forKey key: String) -> Any? { request.protocolProperty(forKey: key) }

    /// An immutable request of the same content.
    public override func copy() -> Any { copy(with: nil) }

    /// An immutable request of the same content.
    public func copy(with zone: NSZone? = nil) -> Any { NSURLRequest(request) }

    /// A mutable request of the same content.
    public override func mutableCopy() -> Any { mutableCopy(with: nil) }

    /// A mutable request of the same content.
    public func mutableCopy(with zone: NSZone? = nil) -> Any { NSMutableURLRequest(request) }

    /// Whether the other is a request that is equal as a value.
    public override func isEqual(_ object: Any?) -> Bool {
        if let other = object as? NSURLRequest { return request == other.request }
        return false
    }

    /// The hash of the value.
    public override var hash: Int { request.hashValue }

    /// The address.
    public override var description: String { request.description }
}

/// A request that can be changed, behind a reference; for one thread at a time.
public final class NSMutableURLRequest: NSURLRequest {
    /// Where to load from.
    public override var url: URL? {
        get { request.url }
        set { request.url = newValue }
    }

    /// How the cache takes part.
    public override var cachePolicy: CachePolicy {
        get { request.cachePolicy }
        set { request.cachePolicy = newValue }
    }

    /// The idle time-out in seconds.
    public override var timeoutInterval: TimeInterval {
        get { request.timeoutInterval }
        set { request.timeoutInterval = newValue }
    }

    /// The document that the request belongs to.
    public override var mainDocumentURL: URL? {
        get { request.mainDocumentURL }
        set { request.mainDocumentURL = newValue }
    }

    /// What kind of traffic the request is; a hint.
    public override var networkServiceType: NetworkServiceType {
        get { request.networkServiceType }
        set { request.networkServiceType = newValue }
    }

    /// Whether a modem's interface may carry the request.
    public override var allowsCellularAccess: Bool {
        get { request.allowsCellularAccess }
        set { request.allowsCellularAccess = newValue }
    }

    /// Whether an interface that costs money may carry the request.
    public override var allowsExpensiveNetworkAccess: Bool {
        get { request.allowsExpensiveNetworkAccess }
        set { request.allowsExpensiveNetworkAccess = newValue }
    }

    /// Whether an interface in low data mode may carry the request.
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

    /// Who caused the request.
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

    /// Whether cookies are sent with the request and taken from its response.
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

    /// Adds to a header field, after a comma if there is one.
    public func addValue(_ value: String, forHTTPHeaderField field: String) {
        request.addValue(value, forHTTPHeaderField: field)
    }

    /// Attaches a value for protocols to find; nil takes it off.
    package func setProtocolProperty(_ value: Any?, forKey key: String) {
        request.setProtocolProperty(value, forKey: key)
    }
}

/// `as NSURLRequest` and back.
extension URLRequest: ReferenceConvertible, _ObjectiveCBridgeable {
    /// The request behind a reference.
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
