// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTLS
import LupineTransport

/// What a session works with: its configuration as it was when the session was made, in the form that the loader needs.
///
/// Nothing of it changes: every task reads it, without locks. The stores are shared by reference. Nothing fails here: what cannot be
/// carried out is reported by the first task that needs it.
final class SessionSettings: Sendable {
    /// The policy for requests that leave it open.
    let requestCachePolicy: URLRequest.CachePolicy
    /// For requests that were given no time-out; nil for none.
    let idleTimeout: Interval?
    /// From the first `resume` to the end of a task; nil for none.
    let resourceTimeout: Interval?
    let networkServiceType: URLRequest.NetworkServiceType
    let allowsCellularAccess: Bool
    let allowsExpensiveNetworkAccess: Bool
    let allowsConstrainedNetworkAccess: Bool
    let waitsForConnectivity: Bool
    /// Nil takes the proxies from the environment.
    let proxyDictionary: CallerValue<[AnyHashable: Any]>?
    /// How origins are spoken to.
    let tls: TLSConfiguration
    let shouldSetCookies: Bool
    let cookieAcceptPolicy: HTTPCookie.AcceptPolicy
    let cookieStorage: HTTPCookieStorage?
    let credentialStorage: URLCredentialStorage?
    let cache: URLCache?
    /// Fields for requests that lack them, by name in alphabetical order.
    let additionalHeaders: HeaderList
    /// Whether all of them may be sent.
    let additionalHeadersAreSound: Bool
    /// Whether one of them says something about caches.
    let additionalHeadersConcernCaches: Bool
    /// At least 1.
    let maximumConnectionsPerHost: Int
    /// Protocols of the program's; nil leaves it to the built-in ones.
    let protocolClasses: [AnyClass]?
    let lupine: URLSessionConfiguration.LupineOptions
    /// What the session goes by.
    let clock: SessionClock
    /// What is not sent unless a request sets it.
    private let omittedFields: Set<FieldName>
    /// What tells users apart in requests.
    let identifyingFields: IdentifyingFields

    /// Where files are written that are moved or removed later.
    var temporaryDirectory: URL { lupine.temporaryDirectory ?? FileManager.default.temporaryDirectory }

    /// Whether a field that requests are given by default is left out.
    func omits(_ name: FieldName) -> Bool { !omittedFields.isEmpty && omittedFields.contains(name) }

    /// The configuration as it is now.
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
        proxyDictionary = values.connectionProxyDictionary.value.map(CallerValue.init)
        tls = Self.tls(values)
        shouldSetCookies = values.httpShouldSetCookies
        cookieAcceptPolicy = values.httpCookieAcceptPolicy
        cookieStorage = values.httpCookieStorage
        credentialStorage = values.urlCredentialStorage
        cache = values.urlCache
        additionalHeaders = Self.headers(values.httpAdditionalHeaders.value ?? [:])
        additionalHeadersAreSound = (try? additionalHeaders.check()) != nil
        additionalHeadersConcernCaches = CachePlan.isConcerned(additionalHeaders)
        maximumConnectionsPerHost = max(1, values.httpMaximumConnectionsPerHost)
        protocolClasses = values.protocolClasses
        lupine = values.lupine
        clock = values.lupine.clock
        omittedFields = Set(values.lupine.omittedFields.compactMap { try? FieldName($0) })
        let named = values.lupine.identifyingFields
        identifyingFields =
            named == RedirectMove.sensitiveByDefault ? .usual : IdentifyingFields(named)
    }

    // MARK: for one request

    /// How long a request may go without progress: its own time-out if it was given one, else the configuration's; nil
    /// for as long as it takes.
    func idleTimeout(for request: URLRequest) -> Interval? {
        guard let own = request.explicitTimeoutInterval else { return idleTimeout }
        return Self.interval(own, default: URLRequest.defaultTimeout)
    }

    /// The policy that counts for a request.
    func cachePolicy(for request: URLRequest) -> URLRequest.CachePolicy {
        request.cachePolicy == .useProtocolCachePolicy ? requestCachePolicy : request.cachePolicy
    }

    /// The request with the additional fields that it lacks.
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

    /// Whether a server that asks may learn who the session is.
    ///
    /// - Parameter move: How far redirects have led away from the origin that the program named.
    func mayIdentify(to url: URL?, after move: RedirectMove) -> Bool {
        if lupine.tls.identityOrigins == nil { return move == .withinOrigin }
        guard let origin = WebOrigin(url), let port = UInt16(exactly: origin.port) else { return false }
        return HTTPClient.HostAndPort.mayIdentify(
            to: origin.host, port, of: lupine.tls.identityOrigins, after: move)
    }

    // MARK: reading the configuration

    /// A time-out in seconds: nil for infinity, the default for what is no length of time.
    static func interval(_ seconds: TimeInterval, default defaultSeconds: TimeInterval) -> Interval? {
        if seconds == .infinity { return nil }
        let seconds = seconds > 0 ? seconds : defaultSeconds
        guard let nanoseconds = Int64(exactly: (seconds * 1e9).rounded(.up)) else { return nil }
        return Interval(nanoseconds: nanoseconds)
    }

    private static func headers(_ dictionary: [AnyHashable: Any]) -> HeaderList {
        let given = dictionary.map { ("\($0.key.base)", "\($0.value)") }.sorted { $0.0 < $1.0 }
        var fields: [HeaderList.Field] = []
        for (name, value) in given where !fields.contains(where: { HeaderList.isSame($0.name, name) }) {
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
