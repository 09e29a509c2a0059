// SPDX-License-Identifier: MIT

import Dispatch
public import Foundation
internal import LupineTransport

/// A cached response with its content. Immutable; any thread may use it.
public final class CachedURLResponse: NSObject, NSCopying, Sendable {
    /// The values of a response that may contain a program's objects.
    private struct Contents: Sendable {
        let response: URLResponse
        let data: Data
        let userInfo: UncheckedSendable<[AnyHashable: Any]?>

        static let nothing = Contents(
            response: URLResponse(
                url: URL(fileURLWithPath: "/"), mimeType: nil, expectedContentLength: 0,
                textEncodingName: nil),
            data: Data(), userInfo: UncheckedSendable(nil))
    }

    /// Retains the contents, so that `deinit` can release them on another thread, by a call of `empty()` there.
    private final class Box: Sendable {
        private let lock: Lock<Contents>

        init(_ contents: Contents) { lock = Lock(contents) }

        var contents: Contents { lock.withLock { $0 } }

        func empty() {
            // Swaps, so that the contents are released outside of the lock.
            var removed = Contents.nothing
            lock.withLock { swap(&$0, &removed) }
        }
    }

    /// Where the values are.
    private enum Storage: Sendable {
        /// Here, without `userInfo`. The response is of one of the library's classes.
        case direct(URLResponse, Data)
        /// In a box, because they may contain a program's objects.
        case boxed(Box)
    }

    private let storage: Storage

    /// The response.
    public var response: URLResponse {
        switch storage {
        case .direct(let response, _): response
        case .boxed(let box): box.contents.response
        }
    }

    /// The content of the response.
    public var data: Data {
        switch storage {
        case .direct(_, let data): data
        case .boxed(let box): box.contents.data
        }
    }

    /// Where the response may be stored.
    public let storagePolicy: URLCache.StoragePolicy

    /// Creates a cached response that may be stored anywhere.
    public convenience init(response: URLResponse, data: Data) {
        self.init(response: response, data: data, userInfo: nil, storagePolicy: .allowed)
    }

    /// Creates a cached response with additional values of the program.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - data: Its content.
    ///   - userInfo: Values kept with the response; only values that a property list can hold are written to disk.
    ///   - storagePolicy: Where the response may be stored.
    public init(
        response: URLResponse, data: Data, userInfo: [AnyHashable: Any]? = nil,
        storagePolicy: URLCache.StoragePolicy
    ) {
        storage =
            userInfo == nil && response.isLibraryClass
            ? .direct(response, data)
            : .boxed(Box(Contents(response: response, data: data, userInfo: UncheckedSendable(userInfo))))
        self.storagePolicy = storagePolicy
    }

    deinit {
        // The `deinit` of a program's objects can run any code, so it must not block an event loop or the storage queue, which
        // other sessions use too (O-7).
        guard case .boxed(let box) = storage, EventLoop.current != nil || StorageQueue.isCurrent
        else { return }
        DispatchQueue.global().async { box.empty() }
    }

    /// The program's values kept with the response.
    public var userInfo: [AnyHashable: Any]? {
        switch storage {
        case .direct: nil
        case .boxed(let box): box.contents.userInfo.value
        }
    }

    /// The object itself: it is immutable.
    public override func copy() -> Any { self }

    /// The object itself: it is immutable.
    public func copy(with zone: NSZone? = nil) -> Any { self }

    /// Whether the other object has the same response, content, policy and `userInfo`.
    public override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? CachedURLResponse else { return false }
        return response == other.response && data == other.data && storagePolicy == other.storagePolicy
            && userInfo.map(NSDictionary.init) == other.userInfo.map(NSDictionary.init)
    }

    /// Consistent with `isEqual(_:)`.
    public override var hash: Int {
        var hasher = Hasher()
        hasher.combine(response)
        hasher.combine(data)
        hasher.combine(storagePolicy)
        return hasher.finalize()
    }

    /// The response and the size of its content.
    public override var description: String { "<CachedURLResponse \(response), \(data.count) bytes>" }
}
