// SPDX-License-Identifier: MIT

import Foundation
import Lupine

// Uses of the library in Swift 6 mode: the file has to compile without a warning, and `StrictUseTests` runs it.

struct Item: Codable, Sendable, Equatable {
    var url: String
}

/// Performs two requests at once, and returns both values.
func together(_ first: String, _ second: String) async throws -> [Item] {
    async let one = AF.request(first).serializingDecodable(Item.self).value
    async let two = AF.request(second).serializingDecodable(Item.self).value
    return try await [one, two]
}

/// Performs any number of requests at once.
func all(_ urls: [String]) async -> [String: Result<Item, AFError>] {
    await withTaskGroup(of: (String, Result<Item, AFError>).self) { group in
        for url in urls {
            group.addTask { (url, await AF.request(url).validate().serializingDecodable(Item.self).result) }
        }
        var results: [String: Result<Item, AFError>] = [:]
        for await (url, result) in group { results[url] = result }
        return results
    }
}

/// An actor that requests each item once.
actor ItemCache {
    private var items: [String: Item] = [:]
    private let session: Session

    init(session: Session = .default) { self.session = session }

    func item(at url: String) async throws -> Item {
        if let item = items[url] { return item }
        let request = session.request(url).validate()
        let item = try await withTaskCancellationHandler {
            try await request.serializingDecodable(Item.self).value
        } onCancel: {
            request.cancel()
        }
        items[url] = item
        return item
    }
}

/// A class of the main actor, whose handlers run on the main queue.
@MainActor
final class ItemModel {
    private(set) var item: Item?
    private(set) var error: AFError?
    private(set) var fractions: [Double] = []
    private(set) var statuses: [Int] = []

    /// Adds a handler on the main queue, which is the main actor's.
    func load(_ url: String, done: @escaping @MainActor () -> Void) {
        AF.request(url)
            .downloadProgress { progress in
                let fraction = progress.fractionCompleted
                MainActor.assumeIsolated { self.fractions.append(fraction) }
            }
            .onHTTPResponse { response in
                let status = response.statusCode
                Task { @MainActor in self.statuses.append(status) }
            }
            .responseDecodable(of: Item.self) { [weak self] response in
                MainActor.assumeIsolated {
                    self?.item = response.value
                    self?.error = response.error
                    done()
                }
            }
    }

    /// Awaits the value.
    func load(_ url: String) async {
        switch await AF.request(url).serializingDecodable(Item.self).result {
        case .success(let item): self.item = item
        case .failure(let error): self.error = error
        }
    }

    /// Reads the progress as a sequence.
    func progress(of url: String) async -> Double {
        let request = AF.request(url)
        let fractions = request.downloadProgress()
        async let response = request.serializingData().response
        var last = 0.0
        for await progress in fractions { last = progress.fractionCompleted }
        return await response.error == nil ? last : 0
    }
}

/// Values that are stored globally and used elsewhere.
enum StrictUse {
    static let session = Session(interceptor: interceptor, eventMonitors: [monitor])
    static let interceptor = Interceptor(adapters: [adapter], retriers: [retrier])
    static let adapter = Adapter { urlRequest, _, completion in
        var urlRequest = urlRequest
        urlRequest.headers.add(name: "X-Kept", value: "yes")
        completion(.success(urlRequest))
    }
    static let retrier = Retrier { request, _, _, completion in
        completion(request.retryCount < 1 ? .retry : .doNotRetry)
    }
    static let monitor = ClosureEventMonitor()
    static let encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default
    static let encoding: any ParameterEncoding = JSONEncoding.default
    static let headers: HTTPHeaders = [.accept("application/json")]
    static let method: HTTPMethod = .get

    static func request(_ url: String) -> DataRequest {
        session.request(url, method: method, parameters: ["a": 1], encoder: encoder, headers: headers)
    }
}
