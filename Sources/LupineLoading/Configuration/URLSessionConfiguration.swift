// SPDX-License-Identifier: MIT

public import Foundation

/// The configuration of a session: defaults for requests, time-outs, stores, limits.
///
/// A session copies its configuration when it is created (U-3.2), so later changes do not affect it. Options that Apple's type
/// does not have are in `lupine`. Any thread may use a configuration; each property is read and written atomically. The class is
/// open, so the compiler cannot verify that it is `Sendable`. It is, because its only stored property is a constant whose values
/// a lock protects.
open class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
    /// The network paths that a connection may use.
    public enum MultipathServiceType: Int, Sendable {
        /// Use one path.
        case none = 0
        /// Use another path if the first one fails.
        case handover = 1
        /// Use the faster path.
        case interactive = 2
        /// Use all paths together.
        case aggregate = 3
    }

    private let core: ConfigurationCore

    /// Creates a configuration with the same values as `default`.
    public override init() {
        core = ConfigurationCore(.standard())
        super.init()
    }

    /// Creates a configuration with these values.
    init(_ values: ConfigurationValues) {
        core = ConfigurationCore(values)
        super.init()
    }

    /// The current values.
    var values: ConfigurationValues { core.values }

    /// A new configuration with the defaults and the shared stores of the process.
    public class var `default`: URLSessionConfiguration { URLSessionConfiguration(.standard()) }

    /// A new configuration with the defaults and new stores that keep everything in memory.
    public class var ephemeral: URLSessionConfiguration { URLSessionConfiguration(.ephemeral()) }

    /// Returns a configuration with the defaults and an identifier.
    ///
    /// Sessions with this configuration behave like those of `default`: no service continues transfers when the program has
    /// ended.
    public class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        var values = ConfigurationValues.standard()
        values.identifier = identifier
        values.sessionSendsLaunchEvents = true
        return URLSessionConfiguration(values)
    }

    /// Returns a configuration with the same values and the same stores.
    open override func copy() -> Any { copy(with: nil) }

    /// Returns a configuration with the same values and the same stores.
    open func copy(with zone: NSZone? = nil) -> Any { URLSessionConfiguration(values) }

    // MARK: defaults of requests

    /// The identifier that was passed to `background(withIdentifier:)`; nil for other configurations.
    open var identifier: String? { core[\.identifier] }

    /// The cache policy of requests that do not set one.
    open var requestCachePolicy: URLRequest.CachePolicy {
        get { core[\.requestCachePolicy] }
        set { core[\.requestCachePolicy] = newValue }
    }

    /// The number of seconds that may pass without progress, for requests that do not set a time-out. 60 by default; zero and
    /// negative numbers mean 60, infinity disables the time-out.
    open var timeoutIntervalForRequest: TimeInterval {
        get { core[\.timeoutIntervalForRequest] }
        set { core[\.timeoutIntervalForRequest] = newValue }
    }

    /// The number of seconds that may pass from the first `resume` to the end of a task. Seven days by default; zero and negative
    /// numbers mean seven days, infinity disables the time-out.
    open var timeoutIntervalForResource: TimeInterval {
        get { core[\.timeoutIntervalForResource] }
        set { core[\.timeoutIntervalForResource] = newValue }
    }

    /// The kind of traffic, for requests that do not set one (`URLRequest.networkServiceType`).
    open var networkServiceType: URLRequest.NetworkServiceType {
        get { core[\.networkServiceType] }
        set { core[\.networkServiceType] = newValue }
    }

    /// Header fields that are added to requests that lack them. Names are case-insensitive. A value that is not a string is
    /// replaced by its description.
    open var httpAdditionalHeaders: [AnyHashable: Any]? {
        get { core[\.httpAdditionalHeaders].value }
        set { core[\.httpAdditionalHeaders] = UncheckedSendable(newValue) }
    }

    /// The maximum number of connections to one host at the same time; less than 1 means 1.
    open var httpMaximumConnectionsPerHost: Int {
        get { core[\.httpMaximumConnectionsPerHost] }
        set { core[\.httpMaximumConnectionsPerHost] = newValue }
    }

    /// Stored; requests are never pipelined.
    open var httpShouldUsePipelining: Bool {
        get { core[\.httpShouldUsePipelining] }
        set { core[\.httpShouldUsePipelining] = newValue }
    }

    // MARK: networks

    /// Whether requests may use a cellular interface. If true, a request can still forbid it; if false, no request can allow it.
    open var allowsCellularAccess: Bool {
        get { core[\.allowsCellularAccess] }
        set { core[\.allowsCellularAccess] = newValue }
    }

    /// Whether requests may use an expensive interface. If true, a request can still forbid it; if false, no request can allow
    /// it.
    open var allowsExpensiveNetworkAccess: Bool {
        get { core[\.allowsExpensiveNetworkAccess] }
        set { core[\.allowsExpensiveNetworkAccess] = newValue }
    }

    /// Whether requests may use an interface in low data mode. If true, a request can still forbid it; if false, no request can
    /// allow it.
    open var allowsConstrainedNetworkAccess: Bool {
        get { core[\.allowsConstrainedNetworkAccess] }
        set { core[\.allowsConstrainedNetworkAccess] = newValue }
    }

    /// Whether tasks wait for connectivity instead of failing at once.
    open var waitsForConnectivity: Bool {
        get { core[\.waitsForConnectivity] }
        set { core[\.waitsForConnectivity] = newValue }
    }

    /// The proxies, under the keys of Apple's system configuration such as `HTTPEnable`, `HTTPProxy` and `HTTPPort`.
    ///
    /// With nil, a session reads them from the environment when it is created; an empty dictionary means no proxy. Keys for
    /// automatic configuration are ignored.
    open var connectionProxyDictionary: [AnyHashable: Any]? {
        get { core[\.connectionProxyDictionary].value }
        set { core[\.connectionProxyDictionary] = UncheckedSendable(newValue) }
    }

    /// The lowest version of TLS that is allowed.
    open var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
        get { core[\.tlsMinimumSupportedProtocolVersion] }
        set { core[\.tlsMinimumSupportedProtocolVersion] = newValue }
    }

    /// The highest version of TLS that is allowed.
    open var tlsMaximumSupportedProtocolVersion: tls_protocol_version_t {
        get { core[\.tlsMaximumSupportedProtocolVersion] }
        set { core[\.tlsMaximumSupportedProtocolVersion] = newValue }
    }

    // MARK: stores

    /// Whether stored cookies are sent. Received cookies are stored in both cases.
    open var httpShouldSetCookies: Bool {
        get { core[\.httpShouldSetCookies] }
        set { core[\.httpShouldSetCookies] = newValue }
    }

    /// The policy for storing the cookies of responses. The session ignores the `cookieAcceptPolicy` of the storage.
    open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { core[\.httpCookieAcceptPolicy] }
        set { core[\.httpCookieAcceptPolicy] = newValue }
    }

    /// The storage of cookies; with nil cookies are neither sent nor stored.
    open var httpCookieStorage: HTTPCookieStorage? {
        get { core[\.httpCookieStorage] }
        set { core[\.httpCookieStorage] = newValue }
    }

    /// The storage of credentials; nil for none.
    open var urlCredentialStorage: URLCredentialStorage? {
        get { core[\.urlCredentialStorage] }
        set { core[\.urlCredentialStorage] = newValue }
    }

    /// The cache of responses; nil for no caching.
    open var urlCache: URLCache? {
        get { core[\.urlCache] }
        set { core[\.urlCache] = newValue }
    }

    /// The program's `URLProtocol` classes. Their `canInit(with:)` is called in this order, before a built-in loader is used.
    open var protocolClasses: [AnyClass]? {
        get { core[\.protocolClasses] }
        set { core[\.protocolClasses] = newValue }
    }

    // MARK: additions to Apple's configuration

    /// The options that Apple's configuration does not have: addresses, limits, TLS, decoding, WebSockets.
    open var lupine: LupineOptions {
        get { core[\.lupine] }
        set { core[\.lupine] = newValue }
    }

    // MARK: properties without effect on Linux

    /// Stored; the system's resolver decides whether it validates DNSSEC.
    open var requiresDNSSECValidation: Bool {
        get { core[\.requiresDNSSECValidation] }
        set { core[\.requiresDNSSECValidation] = newValue }
    }

    /// Stored; transfers are never postponed.
    open var isDiscretionary: Bool {
        get { core[\.isDiscretionary] }
        set { core[\.isDiscretionary] = newValue }
    }

    /// Stored; nothing launches a program because of a transfer. True by default for `background(withIdentifier:)`.
    open var sessionSendsLaunchEvents: Bool {
        get { core[\.sessionSendsLaunchEvents] }
        set { core[\.sessionSendsLaunchEvents] = newValue }
    }

    /// Stored; programs have no containers on Linux.
    open var sharedContainerIdentifier: String? {
        get { core[\.sharedContainerIdentifier] }
        set { core[\.sharedContainerIdentifier] = newValue }
    }

    /// Stored; programs are not suspended in the background on Linux.
    open var shouldUseExtendedBackgroundIdleMode: Bool {
        get { core[\.shouldUseExtendedBackgroundIdleMode] }
        set { core[\.shouldUseExtendedBackgroundIdleMode] = newValue }
    }

    /// Stored; a connection uses one network path.
    open var multipathServiceType: MultipathServiceType {
        get { core[\.multipathServiceType] }
        set { core[\.multipathServiceType] = newValue }
    }

    /// Stored; there is one loader.
    open var usesClassicLoadingMode: Bool {
        get { core[\.usesClassicLoadingMode] }
        set { core[\.usesClassicLoadingMode] = newValue }
    }
}
