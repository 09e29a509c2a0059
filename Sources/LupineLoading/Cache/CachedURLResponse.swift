// SPDX-License-Identifier: MIT

import Dispatch
public import Foundation
internal import LupineTransport

/// A response with its content, as a cache has it. Immutable, and any thread's.
public final class CachedURLResponse: NSObject, NSCopying, Sendable {
    /// The response.
    public let response: URLResponse
    /// Its content.
    public let data: Data
    /// Where it may be stored.
    public let storagePolicy: URLCache.StoragePolicy
    private let keptInfo: CallerValue<[AnyHashable: Any]?>

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
        self.response = response
        self.data = data
        self.storagePolicy = storagePolicy
        keptInfo = CallerValue(userInfo)
    }

    deinit {
        // What is the program's in it may do anything when it ends, and waits for nobody there who serves all (O-7).
        guard EventLoop.current != nil || StorageQueue.isCurrent else { return }
        guard keptInfo.value != nil || !response.isOfTheLibrary else { return }
        DispatchQueue.global().async { [response, data, keptInfo] in
            withExtendedLifetime((response, data, keptInfo)) {}
        }
    }

    /// What is kept with the response.
    public var userInfo: [AnyHashable: Any]? { keptInfo.value }

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
