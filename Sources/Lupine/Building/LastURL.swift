// SPDX-License-Identifier: MIT

internal import LupineLoading

/// The address that a session was last given as text, as a request for it: programs ask for the same one again and again, and
/// reading it takes longer than comparing it. Any thread.
final class LastURL: Sendable {
    /// Longer text, that of a `data:` address for instance, is not kept.
    private static let longest = 4_096

    private let last = Protected<(text: String, request: URLRequest)?>(nil)

    /// A GET request for the convertible; throws what its conversion throws.
    func request(for convertible: any URLConvertible) throws -> URLRequest {
        guard let text = convertible as? String else { return URLRequest(url: try convertible.asURL()) }
        // Byte by byte: strings that only look the same are equal, and spell different addresses.
        let known: URLRequest? = last.read { last in
            guard let last, last.text.utf8.span.hasOctets(of: text.utf8.span) else { return nil }
            return last.request
        }
        if let known { return known }
        let request = URLRequest(url: try text.asURL())
        if text.utf8.count <= Self.longest { last.write((text, request)) }
        return request
    }
}
