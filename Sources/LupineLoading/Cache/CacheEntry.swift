// SPDX-License-Identifier: MIT

package import Foundation
internal import LupineHTTP

/// A stored response with what its use later depends on: the moments of its exchange, what of the request it answers, and
/// where it came from.
///
/// Immutable. The loader makes one when a response is complete and gets one from a look-up; the store keeps it.
package final class CacheEntry: Sendable {
    /// The response with its content.
    package let response: CachedURLResponse
    /// The HTTP response, if it is one, as its class said at once: one of the program's is not asked where requests are decided.
    package let httpResponse: HTTPURLResponse?
    /// When its request was sent.
    package let requestTime: Date
    /// When its head arrived.
    package let responseTime: Date
    /// When it was stored, or last updated.
    let storedTime: Date
    /// What of the request it depends on. In memory secrets are concealed by the process' own hash, in a file by the hash of
    /// the user's key.
    let vary: VaryKey
    /// By what the users were told apart of whom it is one's; nil where it is everybody's, and when it was just read from a
    /// disk.
    let identifying: IdentifyingFields?
    /// Where it came from, as far as that decides who may have it.
    let provenance: CacheProvenance
    /// The response's `userInfo` as far as it can be written: taken at once, because a program may change what is in it.
    let writtenInfo: StorableValue?
    /// What the entry counts for in memory: its content and the text of its head. Taken at once: the response may be of a class
    /// of the program's, which is not asked under the store's lock, and may say something else each time.
    package let size: Int

    private static let hash = KeyedHash(key: SecretKeyFile.random())

    /// Hides the secrets of what is kept in memory; no other process can tell what they were.
    static let conceal: @Sendable (String) -> String = { hash.text(for: $0) }

    /// The entry of a response that a program stores: nothing is known about who else may have it, so everybody may, unless
    /// the request names a user in one of the usual fields. Which others a session tells users apart by is not known here.
    ///
    /// - Parameters:
    ///   - response: The response with its whole content.
    ///   - request: The request as it went out, all its fields merged.
    ///   - requestTime: When it was sent.
    ///   - responseTime: When the head of the response arrived.
    package convenience init(
        response: CachedURLResponse, for request: URLRequest, requestTime: Date, responseTime: Date
    ) {
        let namesUser = IdentifyingFields.usual.text(of: request) != nil
        self.init(
            response: response, for: request, requestTime: requestTime, responseTime: responseTime,
            provenance: .program, identifying: namesUser ? .usual : nil,
            writtenInfo: response.userInfo.flatMap { StorableValue($0) })
    }

    /// The entry of a response that was loaded.
    ///
    /// - Parameters:
    ///   - provenance: Where it came from.
    ///   - identifying: The fields that tell users apart; nil where none does. They do not count for what the server says is
    ///     everybody's.
    ///   - writtenInfo: The response's `userInfo`, as far as it can be written.
    ///   - now: When it is stored.
    convenience init(
        response: CachedURLResponse, for request: URLRequest, requestTime: Date, responseTime: Date,
        provenance: CacheProvenance, identifying: IdentifyingFields?, writtenInfo: StorableValue?,
        at now: Date = Date()
    ) {
        let http = (response.response as? HTTPURLResponse)?.plain
        let identifying = http.map(CacheRule.isForEverybody) ?? false ? nil : identifying
        let vary = VaryKey(
            vary: http?.value(of: .vary), identifying: identifying, request: request,
            conceal: Self.conceal)
        self.init(
            response: response, http: http, requestTime: requestTime, responseTime: responseTime,
            storedTime: now, vary: vary, identifying: identifying, provenance: provenance,
            writtenInfo: writtenInfo)
    }

    /// The entry of these values.
    ///
    /// - Parameters:
    ///   - response: The response with its whole content.
    ///   - http: The same, if it is HTTP's, in the library's own class.
    ///   - requestTime: When it was asked for.
    ///   - responseTime: When its head arrived.
    ///   - storedTime: When it was stored, or last updated.
    ///   - vary: What of the request it depends on.
    ///   - identifying: By what users were told apart; nil where nothing did.
    ///   - provenance: Where it came from.
    ///   - writtenInfo: Its `userInfo`, as far as it can be written.
    init(
        response: CachedURLResponse, http: HTTPURLResponse?, requestTime: Date, responseTime: Date,
        storedTime: Date, vary: VaryKey, identifying: IdentifyingFields? = nil, provenance: CacheProvenance,
        writtenInfo: StorableValue?
    ) {
        self.response = response
        httpResponse = http
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.storedTime = storedTime
        self.vary = vary
        self.identifying = identifying
        self.provenance = provenance
        self.writtenInfo = writtenInfo
        size = Self.size(of: response, http)
    }

    /// The same with its secrets concealed in another way. The request has to be one that the entry answers, its users told
    /// apart as the entry's were.
    func concealed(
        by conceal: (String) -> String, for request: URLRequest, identifying: IdentifyingFields?
    ) -> CacheEntry {
        if !vary.holdsSecrets { return self }
        return CacheEntry(
            response: response, http: httpResponse, requestTime: requestTime, responseTime: responseTime,
            storedTime: storedTime,
            vary: VaryKey(
                vary: httpResponse?.value(of: .vary),
                identifying: vary.audience == nil ? nil : identifying, request: request, conceal: conceal),
            identifying: identifying, provenance: provenance, writtenInfo: writtenInfo)
    }

    /// Whether the entry answers a request, as far as that depends on who asks and on the request's fields (U-12.2, U-12.5,
    /// U-12.11).
    func answers(
        _ request: URLRequest, of reader: CacheReader, conceal: (String) -> String = CacheEntry.conceal
    ) -> Bool {
        CacheAdmission.admits(reader, to: provenance)
            && vary.matches(request, identifying: reader.identifyingFields, conceal: conceal)
    }

    /// Whether the answer makes whoever gets it somebody, by a cookie, although nothing in its request said who that is: the next
    /// one who says nothing is another.
    var namesItsReader: Bool {
        guard let audience = vary.audience, audience.user == nil, vary.values["authorization"] == .absent
        else { return false }
        return httpResponse?.value(of: .setCookie) != nil
    }

    /// How fresh the response is; nil for one that is not HTTP's and says nothing about it.
    var freshness: Freshness? {
        httpResponse.map { Freshness($0, asked: requestTime, arrival: responseTime) }
    }

    private static func size(of response: CachedURLResponse, _ http: HTTPURLResponse?) -> Int {
        // One of the program's class that is not HTTP's is not asked.
        let url = http?.url ?? (response.response.isOfTheLibrary ? response.response.url : nil)
        return response.data.count + (url?.absoluteString.utf8.count ?? 0) + headSize(of: http)
    }

    private static func headSize(of response: HTTPURLResponse?) -> Int {
        guard let response else { return 0 }
        if let fields = response.fields { return fields.textCount }
        return response.allHeaderFields.reduce(0) { sum, field in
            sum + String(describing: field.key).utf8.count + String(describing: field.value).utf8.count
        }
    }
}
