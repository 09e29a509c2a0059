// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTLS
import LupineTransport

/// The configuration of a session when the session was created, in the form that the loader needs.
///
/// Immutable, so that tasks read it without locks. The stores are shared by reference. A setting that cannot be applied is not
/// reported here, but by the tasks that need it.
final class SessionSettings: Sendable {
    /// The policy for requests that do not set one.
    let requestCachePolicy: URLRequest.CachePolicy
    /// How long a request that sets no time-out may make no progress; nil for no limit.
    let idleTimeout: Interval?
    /// The time limit from the first `resume` to the end of a task; nil for none.
    let resourceTimeout: Interval?
    let networkServiceType: URLRequest.NetworkServiceType
    let allowsCellularAccess: Bool
    let allowsExpensiveNetworkAccess: Bool
    let allowsConstrainedNetworkAccess: Bool
    let waitsForConnectivity: Bool
    /// The proxies; nil for those of the environment.
    let proxyDictionary: UncheckedSendable<[AnyHashable: Any]>?
    /// The TLS configuration for origins.
    let tls: TLSConfiguration
    let shouldSetCookies: Bool
    let cookieAcceptPolicy: HTTPCookie.AcceptPolicy
    let cookieStorage: HTTPCookieStorage?
    let credentialStorage: URLCredentialStorage?
    let cache: URLCache?
    /// The fields that are added to requests without them, sorted by name.
    let additionalHeaders: HeaderList
    /// Whether all of the additional fields are valid in HTTP.
    let additionalHeadersAreValid: Bool
    /// Whether one of the additional fields affects the use of the cache.
    let additionalHeadersAffectCaching: Bool
    /// The maximum number of connections to one host; at least 1.
    let maximumConnectionsPerHost: Int
    /// The program's `URLProtocol` classes; nil for the built-in protocols only.
    let protocolClasses: [AnyClass]?
    let lupine: URLSessionConfiguration.LupineOptions
    /// The clock of the session.
    let clock: SessionClock
    /// The default fields that are not added to requests.
    private let omittedFields: Set<FieldName>
    /// The fields that identify the program's users.
    let identifyingFields: IdentifyingFields

    /// The folder for files that are moved or removed later.
    var temporaryDirectory: URL { lupine.temporaryDirectory ?? FileManager.default.temporaryDirectory }

    /// Whether a default field is not added to requests.
    func omits(_ name: FieldName) -> Bool { !omittedFields.isEmpty && omittedFields.contains(name) }

    /// Reads the current values of a configuration.
    init(_ configuration: URLSessionConfiguration) {
        let values = configuration.values
        requestCachePolicy = values.requestCachePolicy
        idleTimeout = Self.interval(
            values.timeoutIntervalForRequest, default: ConfigurationValues.defaultRequestTimeout)
        resourceTimeout = Self.interval(
            values.timeoutIntervalForResource, default: ConfigurationValues.defaultResourceTimeout)
        networkServiceType = values.networkServiceType
        allowsCellularAccess = values.allowsCellularAccess
        allowsExpensiveNetworkAccess = values.allowsExpensiveNetworkAccess
        allowsConstrainedNetworkAccess = values.allowsConstrainedNetworkAccess
        waitsForConnectivity = values.waitsForConnectivity
        proxyDictionary = values.connectionProxyDictionary.value.map(UncheckedSendable.init)
        tls = Self.tls(values)
        shouldSetCookies = values.httpShouldSetCookies
        cookieAcceptPolicy = values.httpCookieAcceptPolicy
        cookieStorage = values.httpCookieStorage
        credentialStorage = values.urlCredentialStorage
        cache = values.urlCache
        additionalHeaders = Self.headers(values.httpAdditionalHeaders.value ?? [:])
        additionalHeadersAreValid = (try? additionalHeaders.check()) != nil
        additionalHeadersAffectCaching = CachePlan.isAffected(by: additionalHeaders)
        maximumConnectionsPerHost = max(1, values.httpMaximumConnectionsPerHost)
        protocolClasses = values.protocolClasses
        lupine = values.lupine
        clock = values.lupine.clock
        omittedFields = Set(values.lupine.omittedFields.compactMap { try? FieldName($0) })
        let identifyingNames = values.lupine.identifyingFields
        identifyingFields =
            identifyingNames == RedirectMove.sensitiveByDefault
            ? .defaultFields : IdentifyingFields(identifyingNames)
    }

    // MARK: for one request

    /// Returns how long a request may make no progress: its own time-out if it has one, otherwise the configuration's; nil for no
    /// limit.
    func idleTimeout(for request: URLRequest) -> Interval? {
        guard let timeout = request.explicitTimeoutInterval else { return idleTimeout }
        return Self.interval(timeout, default: URLRequest.defaultTimeout)
    }

    /// Returns the cache policy that applies to a request.
    func cachePolicy(for request: URLRequest) -> URLRequest.CachePolicy {
        request.cachePolicy == .useProtocolCachePolicy ? requestCachePolicy : request.cachePolicy
    }

    /// Returns the request with the additional fields that it lacks.
    func addingHeaders(to request: URLRequest) -> URLRequest {
        let present = request.headerList
        var request = request
        if present.isEmpty {
            request.headerList = additionalHeaders
            return request
        }
        let missing = additionalHeaders.fields.filter { present[$0.name] == nil }
        if missing.isEmpty { return request }
        request.headerList = HeaderList(present.fields + missing)
        return request
    }

    /// Whether the session's client certificate may be sent to a server that asks for one.
    ///
    /// - Parameters:
    ///   - url: The URL of the server.
    ///   - move: How far redirects have led away from the origin of the task's request.
    func mayIdentify(to url: URL?, after move: RedirectMove) -> Bool {
        if lupine.tls.identityOrigins == nil { return move == .withinOrigin }
        guard let origin = WebOrigin(url), let port = UInt16(exactly: origin.port) else { return false }
        return HTTPClient.HostAndPort.mayPresentIdentity(
            to: origin.host, port, of: lupine.tls.identityOrigins, after: move)
    }

    // MARK: reading the configuration

    /// Converts a time-out in seconds: nil for infinity and for a number that is too large, the default for zero, negative
    /// numbers and NaN.
    static func interval(_ seconds: TimeInterval, default defaultSeconds: TimeInterval) -> Interval? {
        if seconds == .infinity { return nil }
        let seconds = seconds > 0 ? seconds : defaultSeconds
        guard let nanoseconds = Int64(exactly: (seconds * 1e9).rounded(.up)) else { return nil }
        return Interval(nanoseconds: nanoseconds)
    }

    /// Returns the fields sorted by name; of several names that differ only in case, the first one.
    private static func headers(_ dictionary: [AnyHashable: Any]) -> HeaderList {
        let named = dictionary.map { ("\($0.key.base)", "\($0.value)") }.sorted { $0.0 < $1.0 }
        var fields: [HeaderList.Field] = []
        for (name, value) in named where !fields.contains(where: { HeaderList.isSame($0.name, name) }) {
            fields.append(HeaderList.Field(name: name, value: value))
        }
        return HeaderList(fields)
    }

    private static func tls(_ values: ConfigurationValues) -> TLSConfiguration {
        let options = values.lupine.tls
        return TLSConfiguration(
            minimumVersion: options.minimumVersion
                ?? values.tlsMinimumSupportedProtocolVersion.version ?? .v1_2,
            maximumVersion: options.maximumVersion
                ?? values.tlsMaximumSupportedProtocolVersion.version ?? .v1_3,
            cipherList: options.cipherList, cipherSuites: options.cipherSuites, groups: options.groups,
            applicationProtocols: values.lupine.httpVersions.offered(of: ["h2", "http/1.1"]),
            roots: options.roots, intermediates: options.intermediates, identity: options.identity,
            resumesSessions: options.resumesSessions, keyLogPath: options.keyLogPath)
    }
}
