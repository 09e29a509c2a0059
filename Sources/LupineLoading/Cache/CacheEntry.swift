// SPDX-License-Identifier: MIT

package import Foundation
internal import LupineHTTP
internal import LupineTransport

/// A stored response with everything on which its later use depends: the times of its request and response, the relevant part of
/// the request, and its provenance.
///
/// Immutable. The loader creates an entry when a response is complete, and gets an entry as the result of a look-up. The store
/// retains the entries.
package final class CacheEntry: Sendable {
    /// The response with its content.
    package let response: CachedURLResponse
    /// The response as an `HTTPURLResponse`, if it is HTTP. Copied once from a program's subclass, so that its overrides are not
    /// called again.
    package let httpResponse: HTTPURLResponse?
    /// When the request was sent.
    package let requestTime: Date
    /// When the head of the response arrived.
    package let responseTime: Date
    /// When the entry was stored, or last updated.
    let storedTime: Date
    /// The part of the request that the response depends on. Concealed in an entry that was just read from the disk.
    let vary: VaryKey
    /// Where the response came from, which decides who may receive the entry.
    let provenance: CacheProvenance
    /// The part of the response's `userInfo` that can be written to disk. Copied when the entry is created, because the program
    /// may change its objects later.
    let writtenInfo: StorableValue?
    /// The entry's cost in memory, in bytes: its content, and the text of its head and of its `vary`. Computed once, because the
    /// response may be of a program's subclass, which must not be called under the store's lock and may return other values later.
    package let size: Int
    /// What `freshness` has computed.
    private let computedFreshness = Lock<Freshness?>(nil)

    /// Creates the entry of a response that the program stores. All users may receive it, unless the request has one of the
    /// default identifying fields. The identifying fields that sessions configure are not known here.
    ///
    /// - Parameters:
    ///   - response: The response with its whole content.
    ///   - request: The request as it was sent, with all its fields merged.
    ///   - requestTime: When the request was sent.
    ///   - responseTime: When the head of the response arrived.
    package convenience init(
        response: CachedURLResponse, for request: URLRequest, requestTime: Date, responseTime: Date
    ) {
        let identifiesUser = IdentifyingFields.defaultFields.text(of: request) != nil
        self.init(
            response: response, for: request, requestTime: requestTime, responseTime: responseTime,
            provenance: .program, identifying: identifiesUser ? .defaultFields : nil,
            writtenInfo: response.userInfo.flatMap { StorableValue($0) })
    }

    /// Creates the entry of a loaded response.
    ///
    /// - Parameters:
    ///   - response: The response with its whole content.
    ///   - request: The request as it was sent, with all its fields merged.
    ///   - requestTime: When the request was sent.
    ///   - responseTime: When the head of the response arrived.
    ///   - provenance: The connection or protocol that the response came from.
    ///   - identifying: The fields that identify users; nil if all users may receive the response. Ignored for a response that
    ///     the server declares public.
    ///   - writtenInfo: The part of the response's `userInfo` that can be written to disk.
    ///   - now: When the entry is stored.
    convenience init(
        response: CachedURLResponse, for request: URLRequest, requestTime: Date, responseTime: Date,
        provenance: CacheProvenance, identifying: IdentifyingFields?, writtenInfo: StorableValue?,
        at now: Date = Date()
    ) {
        let http = (response.response as? HTTPURLResponse)?.withoutSubclass
        let isPublic = http.map(CacheRule.isDeclaredPublic) ?? false
        self.init(
            response: response, http: http, requestTime: requestTime, responseTime: responseTime,
            storedTime: now,
            vary: VaryKey(
                vary: http?.value(of: .vary), identifying: isPublic ? nil : identifying, request: request),
            provenance: provenance, writtenInfo: writtenInfo)
    }

    /// Creates an entry from its values.
    ///
    /// - Parameters:
    ///   - response: The response with its whole content.
    ///   - http: The response as an `HTTPURLResponse`, if it is HTTP.
    ///   - requestTime: When the request was sent.
    ///   - responseTime: When the head of the response arrived.
    ///   - storedTime: When the entry was stored, or last updated.
    ///   - vary: The part of the request that the response depends on.
    ///   - provenance: The connection or protocol that the response came from.
    ///   - writtenInfo: The part of the response's `userInfo` that can be written to disk.
    init(
        response: CachedURLResponse, http: HTTPURLResponse?, requestTime: Date, responseTime: Date,
        storedTime: Date, vary: VaryKey, provenance: CacheProvenance, writtenInfo: StorableValue?
    ) {
        self.response = response
        httpResponse = http
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.storedTime = storedTime
        self.vary = vary
        self.provenance = provenance
        self.writtenInfo = writtenInfo
        size = Self.size(of: response, http) + vary.size
    }

    /// Returns the entry for memory, of one that was read from the disk and answers `request`: the values of its `vary` are not
    /// concealed.
    func revealed(by request: URLRequest, of requester: CacheRequester) -> CacheEntry {
        if !vary.isConcealed { return self }
        return CacheEntry(
            response: response, http: httpResponse, requestTime: requestTime, responseTime: responseTime,
            storedTime: storedTime,
            vary: vary.revealed(by: request, identifying: requester.identifyingFields),
            provenance: provenance, writtenInfo: writtenInfo)
    }

    /// Whether the entry answers a request, according to its provenance and to the request's fields (U-12.2, U-12.5, U-12.11).
    /// `hash` is the hash of the folder that the entry was read from.
    func answers(_ request: URLRequest, of requester: CacheRequester, hash: KeyedHash? = nil) -> Bool {
        CacheAdmission.admits(requester, to: provenance)
            && vary.matches(request, identifying: requester.identifyingFields, hash: hash)
    }

    /// Whether the response sets a cookie, by which the server may identify the user, although the request has identified no
    /// user. Such an entry must not be stored, because the next request without identification may come from another user.
    var setsCookieForUnknownUser: Bool {
        guard httpResponse?.value(of: .setCookie) != nil, vary.audience?.user == .absent
        else { return false }
        // Absent `authorization` means that the request had neither the field nor a user in its URL.
        return vary.values["authorization"] == .absent
    }

    /// The freshness of the response; nil for one that is not HTTP. Computed when it is first needed, since many entries are never
    /// used.
    var freshness: Freshness? {
        guard let httpResponse else { return nil }
        if let freshness = computedFreshness.withLock({ $0 }) { return freshness }
        let freshness = Freshness(httpResponse, requestTime: requestTime, arrival: responseTime)
        computedFreshness.withLock { $0 = freshness }
        return freshness
    }

    /// Returns the entry's cost in memory, in bytes.
    private static func size(of response: CachedURLResponse, _ http: HTTPURLResponse?) -> Int {
        // Does not read the URL of a program's subclass, because that calls the program's code.
        let url = http?.url ?? (response.response.isLibraryClass ? response.response.url : nil)
        return response.data.count + (url?.absoluteString.utf8.count ?? 0) + headSize(of: http)
    }

    /// Returns the length of a response's fields as text.
    private static func headSize(of response: HTTPURLResponse?) -> Int {
        guard let response else { return 0 }
        if let fields = response.fields { return fields.textCount }
        return response.allHeaderFields.reduce(0) { sum, field in
            sum + String(describing: field.key).utf8.count + String(describing: field.value).utf8.count
        }
    }
}
