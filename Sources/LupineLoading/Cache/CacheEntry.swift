// SPDX-License-Identifier: MIT

package import Foundation
internal import LupineHTTP

/// A stored response with what its use later depends on: the moments of its exchange and what of the request it answers.
///
/// Immutable. The loader makes one when a response is complete and gets one from a look-up; the store keeps it.
package struct CacheEntry: Sendable {
    /// The response with its content.
    package let response: CachedURLResponse
    /// When its request was sent.
    package let requestTime: Date
    /// When its head arrived.
    package let responseTime: Date
    /// When it was stored, or last updated.
    let storedTime: Date
    /// What of the request it depends on. In memory secrets are concealed by the process' own hash, in a file by the hash of
    /// the user's key.
    let vary: VaryKey
    /// The response's `userInfo` as far as it can be written: taken at once, because a program may change what is in it.
    let writtenInfo: StorableValue?

    private static let hash = KeyedHash(key: SecretKeyFile.random())

    /// Hides the secrets of what is kept in memory; no other process can tell what they were.
    static let conceal: @Sendable (String) -> String = { hash.text(for: $0) }

    /// The entry of a response to a request.
    ///
    /// - Parameters:
    ///   - response: The response with its whole content.
    ///   - request: The request as it went out, all its fields merged.
    ///   - requestTime: When it was sent.
    ///   - responseTime: When the head of the response arrived.
    package init(
        response: CachedURLResponse, for request: URLRequest, requestTime: Date, responseTime: Date
    ) {
        self.init(
            response: response, requestTime: requestTime, responseTime: responseTime,
            storedTime: Date(),
            vary: Self.vary(of: response.response, for: request, conceal: Self.conceal),
            writtenInfo: response.userInfo.flatMap { StorableValue($0) })
    }

    /// The entry of these values.
    init(
        response: CachedURLResponse, requestTime: Date, responseTime: Date, storedTime: Date, vary: VaryKey,
        writtenInfo: StorableValue?
    ) {
        self.response = response
        self.requestTime = requestTime
        self.responseTime = responseTime
        self.storedTime = storedTime
        self.vary = vary
        self.writtenInfo = writtenInfo
    }

    /// The same with its secrets concealed in another way. The request has to be one that the entry answers.
    func concealed(by conceal: (String) -> String, for request: URLRequest) -> CacheEntry {
        CacheEntry(
            response: response, requestTime: requestTime, responseTime: responseTime, storedTime: storedTime,
            vary: Self.vary(of: response.response, for: request, conceal: conceal), writtenInfo: writtenInfo)
    }

    private static func vary(
        of response: URLResponse, for request: URLRequest, conceal: (String) -> String
    ) -> VaryKey {
        let vary = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Vary")
        return VaryKey(vary: vary, request: request, conceal: conceal)
    }

    /// Whether the entry answers a request, as far as that depends on the request's fields (U-12.5, U-12.11).
    func answers(_ request: URLRequest, conceal: (String) -> String = CacheEntry.conceal) -> Bool {
        vary.matches(request, conceal: conceal)
    }

    /// The HTTP response, if it is one.
    package var httpResponse: HTTPURLResponse? { response.response as? HTTPURLResponse }

    /// How fresh the response is; nil for one that is not HTTP's and says nothing about it.
    var freshness: Freshness? {
        httpResponse.map { Freshness($0, asked: requestTime, arrival: responseTime) }
    }

    /// What the entry counts for in memory: its content and the text of its head.
    package var size: Int {
        let address = response.response.url?.absoluteString.utf8.count ?? 0
        return response.data.count + address + headSize
    }

    private var headSize: Int {
        guard let httpResponse else { return 0 }
        if let fields = httpResponse.fields {
            return (0..<fields.count).reduce(0) { sum, index in
                sum + fields.name(at: index).utf8.count + fields.withValue(at: index) { $0.count }
            }
        }
        return httpResponse.allHeaderFields.reduce(0) { sum, field in
            sum + String(describing: field.key).utf8.count + String(describing: field.value).utf8.count
        }
    }
}
