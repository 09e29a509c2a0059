// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineTLS
import LupineTransport

/// The values of a session's configuration at the time when the session was created, converted for the loader.
///
/// Immutable, so that tasks read it without locks. It refers to the program's stores of cookies, credentials and responses, and
/// does not copy them. Creating it cannot fail: a value that cannot be applied fails the tasks that need it.
final class SessionSettings: Sendable {
    /// The policy for requests that do not set one.
    let requestCachePolicy: URLRequest.CachePolicy
    /// How long a request may make no progress, if it does not set a time-out itself; nil for no limit.
    let idleTimeout: Interval?
    /// The time limit from the first `resume` to the end of a task; nil for no limit.
    let resourceTimeout: Interval?
    let networkServiceType: URLRequest.NetworkServiceType
    let allowsCellularAccess: Bool
    let allowsExpensiveNetworkAccess: Bool
    let allowsConstrainedNetworkAccess: Bool
    let waitsForConnectivity: Bool
    /// The `connectionProxyDictionary`; nil for the proxies of the environment.
    let proxyDictionary: UncheckedSendable<[AnyHashable: Any]>?
    /// The TLS configuration for https servers; that for proxies is derived from it.
    let tls: TLSConfiguration
    let shouldSetCookies: Bool
    let cookieAcceptPolicy: HTTPCookie.AcceptPolicy
    let cookieStorage: HTTPCookieStorage?
    let credentialStorage: URLCredentialStorage?
    let cache: URLCache?
    /// The `httpAdditionalHeaders`, sorted by name: fields that are added to requests that lack them.
    let additionalHeaders: HeaderList
    /// Whether all of the additional fields are valid in HTTP.
    let additionalHeadersAreValid: Bool
    /// Whether one of the additional fields affects the use of the cache.
    let additionalHeadersAffectCaching: Bool
    /// The maximum number of connections to one host; at least 1.
    let maximumConnectionsPerHost: Int
    /// The program's `URLProtocol` classes; nil for the built-in protocols only.
    let protocolClasses: [AnyClass]?
    /// The options that Apple's configuration does not have.
    let lupine: URLSessionConfiguration.LupineOptions
    /// The clock of the session.
    let clock: SessionClock
    /// The default fields, such as `User-Agent`, that are not added to requests.
    private let omittedFields: Set<FieldName>
    /// The fields that identify the program's users to a server.
    let identifyingFields: IdentifyingFields

    /// The folder for temporary files, such as downloads before they are moved.
    var temporaryDirectory: URL { lupine.temporaryDirectory ?? FileManager.default.temporaryDirectory }

    /// Returns whether the default field with this name, such as `User-Agent`, is not added to requests.
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
        // `check` throws if a field is not valid.
        additionalHeadersAreValid = (try? additionalHeaders.check()) != nil
        additionalHeadersAffectCaching = CachePlan.isAffected(by: additionalHeaders)
        maximumConnectionsPerHost = max(1, values.httpMaximumConnectionsPerHost)
        protocolClasses = values.protocolClasses
        lupine = values.lupine
        clock = values.lupine.clock
        omittedFields = Set(values.lupine.omittedFields.compactMap { try? FieldName($0) })
        let identifyingNames = values.lupine.identifyingFields
        // For the default names, the value that is computed once for the process is used.
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
        let ownHeaders = request.headerList
        var request = request
        if ownHeaders.isEmpty {
            request.headerList = additionalHeaders
            return request
        }
        let missing = additionalHeaders.fields.filter { ownHeaders[$0.name] == nil }
        if missing.isEmpty { return request }
        request.headerList = HeaderList(ownHeaders.fields + missing)
        return request
    }

    /// Returns whether the session's client certificate may be sent to a server that asks for one.
    ///
    /// - Parameters:
    ///   - url: The URL of the server.
    ///   - move: How far redirects have led away from the origin of the task's original request.
    func mayIdentify(to url: URL?, after move: RedirectMove) -> Bool {
        // Without configured origins, only the origin of the task's original request may receive the certificate.
        if lupine.tls.identityOrigins == nil { return move == .withinOrigin }
        guard let origin = WebOrigin(url), let port = UInt16(exactly: origin.port) else { return false }
        return HTTPClient.HostAndPort.mayPresentIdentity(
            to: origin.host, port, of: lupine.tls.identityOrigins, after: move)
    }

    // MARK: reading the configuration

    /// Converts a time-out in seconds. Returns nil, which means no limit, for infinity and for a number that is too large. Uses
    /// the default for zero, negative numbers and NaN.
    static func interval(_ seconds: TimeInterval, default defaultSeconds: TimeInterval) -> Interval? {
        if seconds == .infinity { return nil }
        // Comparing NaN with 0 is false, too.
        let seconds = seconds > 0 ? seconds : defaultSeconds
        guard let nanoseconds = Int64(exactly: (seconds * 1e9).rounded(.up)) else { return nil }
        return Interval(nanoseconds: nanoseconds)
    }

    /// Returns the fields sorted by name. Of several names that differ only in case, only the first in that order remains.
    private static func headers(_ dictionary: [AnyHashable: Any]) -> HeaderList {
        let sorted = dictionary.map { (name: "\($0.key.base)", value: "\($0.value)") }
            .sorted { $0.name < $1.name }
        var fields: [HeaderList.Field] = []
        for (name, value) in sorted where !fields.contains(where: { HeaderList.isSame($0.name, name) }) {
            fields.append(HeaderList.Field(name: name, value: value))
        }
        return HeaderList(fields)
    }

    /// Returns the TLS configuration. A version in `lupine.tls` takes precedence over the version in the configuration.
    private static func tls(_ values: ConfigurationValues) -> TLSConfiguration {
        let options = values.lupine.tls
        // The `version` of a `tls_protocol_version_t` is nil for DTLS, which is not supported. `offered` returns the protocols of
        // the allowed HTTP versions.
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
