// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineHTTP

extension CacheEntry {
    /// Returns the entry after a 304 has confirmed it (RFC 9111 §4.3.4; U-12.13): with the stored status and content, the fields
    /// updated by the 304, and a new age. Returns the entry unchanged if no server can have sent the stored response.
    ///
    /// - Parameters:
    ///   - answer: The 304 response.
    ///   - request: The request that the 304 answers, with all its fields merged.
    ///   - requestTime: When `request` was sent.
    ///   - responseTime: When the head of the 304 arrived.
    ///   - provenance: The provenance of the new entry: `CacheProvenance.joined(by:)` of the entry's and the 304's.
    ///   - identifying: The fields that identify users.
    func refreshed(
        by answer: HTTPURLResponse, for request: URLRequest, requestTime: Date, responseTime: Date,
        provenance: CacheProvenance, identifying: IdentifyingFields?
    ) -> CacheEntry {
        guard let stored = httpResponse, HTTPURLResponse.isPossible(stored.statusCode), let url = stored.url
        else {
            return self
        }
        let fields = CacheRule.refreshed(Self.fields(of: stored), by: Self.fields(of: answer))
        let head = ResponseHead(status: Status(stored.statusCode), fields: fields)
        // The expected length is negative if a content coding was removed. The new response must not get the length in
        // `Content-Length`, which counts the encoded octets.
        let refreshed = HTTPURLResponse(url: url, head: head, isDecoded: stored.expectedContentLength < 0)
        return CacheEntry(
            response: CachedURLResponse(
                response: refreshed, data: response.data, userInfo: response.userInfo,
                storagePolicy: response.storagePolicy),
            for: request, requestTime: requestTime, responseTime: responseTime, provenance: provenance,
            identifying: identifying, writtenInfo: writtenInfo, at: responseTime)
    }

    /// Returns the fields as received; for a response that the program has made, its fields that are valid in HTTP.
    private static func fields(of response: HTTPURLResponse) -> Fields {
        if let fields = response.fields { return fields }
        var fields = Fields()
        let named = response.allHeaderFields.map {
            (String(describing: $0.key), String(describing: $0.value))
        }
        for (name, value) in named.sorted(by: { $0.0 < $1.0 }) {
            guard let name = try? FieldName(name) else { continue }
            try? fields.append(name, value)
        }
        return fields
    }
}
