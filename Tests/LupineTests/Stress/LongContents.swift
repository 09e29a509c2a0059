// SPDX-License-Identifier: MIT

import Foundation
import LupineHTTP
import LupineOrigin

@testable import Lupine

/// Long content that an origin sends as fast as the client takes it: a part of the same octets for each transfer. The octets are
/// different at each position.
final class LongContents: Sendable {
    /// The content of one transfer, and how much of it the origin has produced.
    final class Content: Sendable {
        /// The path of the transfer's URL.
        let path: String
        let count: Int
        /// Opens when the origin has received the request.
        let asked = Gate()
        private let counts = Protected((requests: 0, sent: 0))

        fileprivate init(path: String, count: Int) {
            self.path = path
            self.count = count
        }

        /// The number of requests for the content.
        var requests: Int { counts.read { $0.requests } }
        /// The number of octets that the origin has produced. It produces some of them before the kernel, or the peer's window,
        /// has space for them.
        var sent: Int { counts.read { $0.sent } }

        fileprivate func begin() {
            counts.write { $0.requests += 1 }
            asked.open()
        }

        fileprivate func add(_ count: Int) { counts.write { $0.sent += count } }
    }

    /// The maximum length of the content of a transfer.
    static let maximumCount = 4 << 20

    private let all = octets(LongContents.maximumCount)
    private let data: Data
    private let contents = Protected((added: 0, byPath: [String: Content]()))

    init() { data = Data(all) }

    /// Adds the route of the contents to an origin.
    func serve(on origin: LupineOrigin.Origin) {
        origin.route("GET", "/long/{number}") { [self] request throws(Refusal) in
            guard let content = contents.read({ $0.byPath[request.path] }) else {
                throw Refusal(404, request.path)
            }
            content.begin()
            var position = 0
            return OriginResponse(
                body: .stream(length: Int64(content.count)) { [self] piece, room in
                    let end = min(position + room, content.count)
                    piece += all[position..<end]
                    content.add(end - position)
                    position = end
                    return end == content.count ? .end(trailers: Fields()) : .more
                })
        }
    }

    /// Adds the content of a new transfer.
    func add(count: Int) -> Content {
        contents.write { contents in
            contents.added += 1
            let content = Content(path: "/long/\(contents.added)", count: count)
            contents.byPath[content.path] = content
            return content
        }
    }

    /// Removes the content of a transfer that has ended.
    func remove(_ content: Content) { contents.write { $0.byPath[content.path] = nil } }

    /// Returns whether `piece` is the content at `position`.
    func matches(_ piece: Data, at position: Int) -> Bool {
        position + piece.count <= data.count && data[position..<position + piece.count] == piece
    }
}
