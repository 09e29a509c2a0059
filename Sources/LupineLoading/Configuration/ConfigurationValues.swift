// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// The values of a `URLSessionConfiguration`.
struct ConfigurationValues: Sendable {
    /// The default of `timeoutIntervalForRequest`: 60 seconds.
    static let defaultRequestTimeout: TimeInterval = 60
    /// The default of `timeoutIntervalForResource`: seven days, in seconds.
    static let defaultResourceTimeout: TimeInterval = 604_800
    /// The memory capacity of an ephemeral configuration's cache: 4 MiB, as much as that of the shared cache.
    private static let ephemeralCacheBytes = 4 << 20

    var identifier: String?
    var requestCachePolicy = URLRequest.CachePolicy.useProtocolCachePolicy
    var timeoutIntervalForRequest = Self.defaultRequestTimeout
    var timeoutIntervalForResource = Self.defaultResourceTimeout
    var networkServiceType = URLRequest.NetworkServiceType.default
    var allowsCellularAccess = true
    var allowsExpensiveNetworkAccess = true
    var allowsConstrainedNetworkAccess = true
    var requiresDNSSECValidation = false
    var waitsForConnectivity = false
    var isDiscretionary = false
    var sessionSendsLaunchEvents = false
    var sharedContainerIdentifier: String?
    var shouldUseExtendedBackgroundIdleMode = false
    var connectionProxyDictionary = UncheckedSendable<[AnyHashable: Any]?>(nil)
    var tlsMinimumSupportedProtocolVersion = tls_protocol_version_t.TLSv12
    var tlsMaximumSupportedProtocolVersion = tls_protocol_version_t.TLSv13
    var httpShouldUsePipelining = false
    var httpShouldSetCookies = true
    var httpCookieAcceptPolicy = HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain
    var httpAdditionalHeaders = UncheckedSendable<[AnyHashable: Any]?>(nil)
    var httpMaximumConnectionsPerHost = 6
    var httpCookieStorage: HTTPCookieStorage?
    var urlCredentialStorage: URLCredentialStorage?
    var urlCache: URLCache?
    /// By default the classes that are registered when the configuration is created (U-17.1).
    var protocolClasses: [AnyClass]? = ProtocolRegistry.defaultClasses
    var multipathServiceType = URLSessionConfiguration.MultipathServiceType.none
    var usesClassicLoadingMode = true
    var lupine = URLSessionConfiguration.LupineOptions()

    /// Returns the defaults, with the shared stores of the process.
    static func standard() -> ConfigurationValues {
        var values = ConfigurationValues()
        values.httpCookieStorage = .shared
        values.urlCredentialStorage = .shared
        values.urlCache = .shared
        return values
    }

    /// Returns the defaults, with new stores that keep everything in memory.
    static func ephemeral() -> ConfigurationValues {
        var values = ConfigurationValues()
        values.httpCookieStorage = HTTPCookieStorage(file: nil)
        values.urlCredentialStorage = URLCredentialStorage()
        values.urlCache = URLCache(memoryCapacity: ephemeralCacheBytes, diskCapacity: 0)
        return values
    }
}

/// The values of a `URLSessionConfiguration`, protected by a lock.
final class ConfigurationCore: Sendable {
    private let state: Lock<ConfigurationValues>

    init(_ values: ConfigurationValues) { state = Lock(values) }

    /// A copy of all values.
    var values: ConfigurationValues { state.withLock { $0 } }

    /// Accesses the value of one property.
    subscript<Value: Sendable>(property: WritableKeyPath<ConfigurationValues, Value>) -> Value {
        get { state.withLock { $0[keyPath: property] } }
        set {
            // Swaps the values, so that the old one is released outside of the lock: it may be an object of the program, whose
            // `deinit` may access this configuration.
            var value = newValue
            state.withLock { swap(&$0[keyPath: property], &value) }
        }
    }
}
