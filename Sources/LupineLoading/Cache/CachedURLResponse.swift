// SPDX-License-Identifier: MIT

import Dispatch
public import Foundation
internal import LupineTransport

/// A response with its content, as a cache has it. Immutable, and any thread's.
public final class CachedURLResponse: NSObject, NSCopying, Sendable {
    /// What may be the program's.
    private struct Contents: Sendable {
        let response: URLResponse
        let data: Data
        let info: CallerValue<[AnyHashable: Any]?>

        static let nothing = Contents(
            response: URLResponse(
                url: URL(fileURLWithPath: "/"), mimeType: nil, expectedContentLength: 0,
                textEncodingName: nil),
            data: Data(), info: CallerValue(nil))
    }

    /// Holds that, until whoever ends it has taken it out: then it does not matter who lets go of the box last.
    private final class Box: Sendable {
        private let lock: Lock<Contents>

        init(_ contents: Contents) { lock = Lock(contents) }

        var contents: Contents { lock.withLock { $0 } }

        func empty() {
            var gone = Contents.nothing
            lock.withLock { swap(&$0, &gone) }
        }
    }

    private let box: Box
    /// The response.
    public var response: URLResponse { box.contents.response }
    /// Its content.
    public var data: Data { box.contents.data }
    /// Where it may be stored.
    public let storagePolicy: URLCache.StoragePolicy

    /// A response that may be stored anywhere.
    public convenience init(response: URLResponse, data: Data) {
        self.init(response: response, data: data, userInfo: nil, storagePolicy: .allowed)
    }

    /// A response with what a program wants to find again beside it.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - data: Its content.
    ///   - userInfo: What is kept with it; on the disk only what a property list can hold.
    ///   - storagePolicy: Where it may be stored.
    public init(
        response: URLResponse, data: Data, userInfo: [AnyHashable: Any]? = nil,
        storagePolicy: URLCache.StoragePolicy
    ) {
        box = Box(Contents(response: response, data: data, info: CallerValue(userInfo)))
        self.storagePolicy = storagePolicy
    }

    deinit {
        // What is the program's in it may do anything when it ends, and waits for nobody there who serves all (O-7).
        guard EventLoop.current != nil || StorageQueue.isCurrent else { return }
        let isOfTheLibrary = userInfo == nil && response.isOfTheLibrary
        if !isOfTheLibrary { DispatchQueue.global().async { [box] in box.empty() } }
    }

    /// What is kept with the response.
    public var userInfo: [AnyHashable: Any]? { box.contents.info.value }

    /// The object itself: it is immutable.
    public override func copy() -> Any { self }

    /// The object itself: it is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the other has the same response, content, policy and further values.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CachedURLResponse else { return false }
        return response == other.response && data == other.data && storagePolicy == other.storagePolicy
            && userInfo.map(NSDictionary.init) == other.userInfo.map(NSDictionary.init)
    }

    /// Goes with `isEqual(_:)`.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(response)
        hasher.combine(data)
        hasher.combine(storagePolicy)
        return hasher.finalize()
    }

    /// The response and how much content there is.
    public override var description: String { "<CachedURLResponse \(response), \(data.count) bytes>" }
}
