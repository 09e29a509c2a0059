// SPDX-License-Identifier: MIT

public import Foundation

/// How a session behaves: what its requests are given, which stores it uses, how long things may take.
///
/// A session copies its configuration when it is made (U-3.2): what is changed afterwards has no effect on it. What Apple's
/// type has no word for stands in `lupine`. Any thread may use a configuration; each property is read and written as a
/// whole. Its state lies in one locked core, since a class that can be subclassed cannot be checked for `Sendable`.
open class URLSessionConfiguration: NSObject, NSCopying, @unchecked Sendable {
    /// Which routes a request may use at the same time.
    public enum MultipathServiceType: Int, Sendable {
        /// One.
        case none = 0
        /// Another one when the first is lost.
        case handover = 1
        /// Whichever is faster.
        case interactive = 2
        /// All of them together.
        case aggregate = 3
    }

    private let core: ConfigurationCore

    /// A configuration with the defaults, as `default` gives it.
    public override init() {
        core = ConfigurationCore(.standard())
        super.init()
    }

    /// A configuration with these values.
    init(_ values: ConfigurationValues) {
        core = ConfigurationCore(values)
        super.init()
    }

    /// What a configuration holds now.
    var values: ConfigurationValues { core.values }

    /// A new configuration with the defaults: it shares the stores of the process.
    public class var `default`: URLSessionConfiguration { URLSessionConfiguration(.standard()) }

    /// A new configuration with stores of its own, which are in memory only.
    public class var ephemeral: URLSessionConfiguration { URLSessionConfiguration(.ephemeral()) }

    /// A configuration with the defaults and an identifier.
    ///
    /// There is no service here that would go on loading when the program has ended: sessions made of it behave like those
    /// of `default`.
    public class func background(withIdentifier identifier: String) -> URLSessionConfiguration {
        var values = ConfigurationValues.standard()
        values.identifier = identifier
        values.sessionSendsLaunchEvents = true
        return URLSessionConfiguration(values)
    }

    /// A configuration with the same values; the stores are shared.
    open override func copy() -> Any { copy(with: nil) }

    /// A configuration with the same values; the stores are shared.
    open func copy(with zone: NSZone? = nil) -> Any { URLSessionConfiguration(values) }

    // MARK: what requests are given

    /// The name that `background(withIdentifier:)` was given; nil for other configurations.
    open var identifier: String? { core[\.identifier] }

    /// How the cache takes part in requests that leave it open.
    open var requestCachePolicy: URLRequest.CachePolicy {
        get { core[\.requestCachePolicy] }
        set { core[\.requestCachePolicy] = newValue }
    }

    /// So many seconds may pass without progress, for requests that were given no time-out of their own. 60 at first; zero
    /// and less mean 60, infinity switches the time-out off.
    open var timeoutIntervalForRequest: TimeInterval {
        get { core[\.timeoutIntervalForRequest] }
        set { core[\.timeoutIntervalForRequest] = newValue }
    }

    /// So many seconds may pass from the first `resume` to the end of a task. Seven days at first; zero and less mean that,
    /// infinity switches the time-out off.
    open var timeoutIntervalForResource: TimeInterval {
        get { core[\.timeoutIntervalForResource] }
        set { core[\.timeoutIntervalForResource] = newValue }
    }

    /// What kind of traffic the requests are that say nothing of it themselves (`URLRequest.networkServiceType`).
    open var networkServiceType: URLRequest.NetworkServiceType {
        get { core[\.networkServiceType] }
        set { core[\.networkServiceType] = newValue }
    }

    /// Header fields for requests that lack them; names are compared in any mix of cases, values are taken by their
    /// description.
    open var httpAdditionalHeaders: [AnyHashable: Any]? {
        get { core[\.httpAdditionalHeaders].value }
        set { core[\.httpAdditionalHeaders] = CallerValue(newValue) }
    }

    /// The most connections to one host at the same time; less than 1 means 1.
    open var httpMaximumConnectionsPerHost: Int {
        get { core[\.httpMaximumConnectionsPerHost] }
        set { core[\.httpMaximumConnectionsPerHost] = newValue }
    }

    /// Stored; requests are never pipelined.
    open var httpShouldUsePipelining: Bool {
        get { core[\.httpShouldUsePipelining] }
        set { core[\.httpShouldUsePipelining] = newValue }
    }

    // MARK: which ways may be taken

    /// Whether a modem's interface may carry the requests; a request may only forbid more.
    open var allowsCellularAccess: Bool {
        get { core[\.allowsCellularAccess] }
        set { core[\.allowsCellularAccess] = newValue }
    }

    /// Whether an interface that costs money may carry the requests; a request may only forbid more.
    open var allowsExpensiveNetworkAccess: Bool {
        get { core[\.allowsExpensiveNetworkAccess] }
        set { core[\.allowsExpensiveNetworkAccess] = newValue }
    }

    /// Whether an interface in low data mode may carry the requests; a request may only forbid more.
    open var allowsConstrainedNetworkAccess: Bool {
        get { core[\.allowsConstrainedNetworkAccess] }
        set { core[\.allowsConstrainedNetworkAccess] = newValue }
    }

    /// Whether tasks wait for a way to the network instead of failing at once.
    open var waitsForConnectivity: Bool {
        get { core[\.waitsForConnectivity] }
        set { core[\.waitsForConnectivity] = newValue }
    }

    /// The proxies, under the keys of Apple's system configuration such as `HTTPEnable`, `HTTPProxy` and `HTTPPort`.
    ///
    /// Nil takes them from the environment, once for each session; an empty dictionary means no proxy. Automatic
    /// configuration is not supported: its keys are ignored.
    open var connectionProxyDictionary: [AnyHashable: Any]? {
        get { core[\.connectionProxyDictionary].value }
        set { core[\.connectionProxyDictionary] = CallerValue(newValue) }
    }

    /// The lowest version of TLS that is spoken.
    open var tlsMinimumSupportedProtocolVersion: tls_protocol_version_t {
        get { core[\.tlsMinimumSupportedProtocolVersion] }
        set { core[\.tlsMinimumSupportedProtocolVersion] = newValue }
    }

    /// The highest version of TLS that is spoken.
    open var tlsMaximumSupportedProtocolVersion: tls_protocol_version_t {
        get { core[\.tlsMaximumSupportedProtocolVersion] }
        set { core[\.tlsMaximumSupportedProtocolVersion] = newValue }
    }

    // MARK: stores

    /// Whether stored cookies are sent. They are stored either way.
    open var httpShouldSetCookies: Bool {
        get { core[\.httpShouldSetCookies] }
        set { core[\.httpShouldSetCookies] = newValue }
    }

    /// Which cookies of responses are stored; the storage's own policy does not count.
    open var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy {
        get { core[\.httpCookieAcceptPolicy] }
        set { core[\.httpCookieAcceptPolicy] = newValue }
    }

    /// Where cookies are kept; nil for no cookies.
    open var httpCookieStorage: HTTPCookieStorage? {
        get { core[\.httpCookieStorage] }
        set { core[\.httpCookieStorage] = newValue }
    }

    /// Where credentials are kept; nil for nowhere.
    open var urlCredentialStorage: URLCredentialStorage? {
        get { core[\.urlCredentialStorage] }
        set { core[\.urlCredentialStorage] = newValue }
    }

    /// Where responses are kept; nil for no caching.
    open var urlCache: URLCache? {
        get { core[\.urlCache] }
        set { core[\.urlCache] = newValue }
    }

    /// Classes of protocols of the program's, which are asked in this order before the built-in ones.
    open var protocolClasses: [AnyClass]? {
        get { core[\.protocolClasses] }
        set { core[\.protocolClasses] = newValue }
    }

    // MARK: what Apple's configuration does not have

    /// Everything beyond Apple's configuration: addresses, limits, TLS, decoding, web sockets.
    open var lupine: LupineOptions {
        get { core[\.lupine] }
        set { core[\.lupine] = newValue }
    }

    // MARK: without a meaning on Linux

    /// Stored; the resolver of the system decides what it validates.
    open var requiresDNSSECValidation: Bool {
        get { core[\.requiresDNSSECValidation] }
        set { core[\.requiresDNSSECValidation] = newValue }
    }

    /// Stored; nothing here would choose a better time for a transfer.
    open var isDiscretionary: Bool {
        get { core[\.isDiscretionary] }
        set { core[\.isDiscretionary] = newValue }
    }

    /// Stored; nothing here launches a program because of a transfer. True at first for `background(withIdentifier:)`.
    open var sessionSendsLaunchEvents: Bool {
        get { core[\.sessionSendsLaunchEvents] }
        set { core[\.sessionSendsLaunchEvents] = newValue }
    }

    /// Stored; programs here have no containers.
    open var sharedContainerIdentifier: String? {
        get { core[\.sharedContainerIdentifier] }
        set { core[\.sharedContainerIdentifier] = newValue }
    }

    /// Stored; programs here are not suspended in the background.
    open var shouldUseExtendedBackgroundIdleMode: Bool {
        get { core[\.shouldUseExtendedBackgroundIdleMode] }
        set { core[\.shouldUseExtendedBackgroundIdleMode] = newValue }
    }

    /// Stored; a connection uses one route.
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
