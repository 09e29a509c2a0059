// SPDX-License-Identifier: MIT

import Foundation
import Lupine

/// The programs in README.md that use the pipeline, compiled without changes.
enum PipelineSnippets {
    static func first() async throws {
        struct Flower: Decodable, Sendable {
            let name: String
        }

        let flowers = try await AF.request("http://127.0.0.1:8080/flowers", parameters: ["colour": "blue"])
            .validate()
            .serializingDecodable([Flower].self)
            .value
        print(flowers.map(\.name))
    }

    struct Flower: Codable, Sendable {
        let name: String
    }

    static func policies(_ token: String, _ flower: Flower) {
        // swift-format-ignore
        let session = Session(
            interceptor: Interceptor(
                adapters: [Adapter { request, _, completion in
                    var request = request
                    request.headers.add(.authorization(bearerToken: token))
                    completion(.success(request))
                }],
                retriers: [Retrier { request, _, _, completion in
                    completion(request.retryCount < 2 ? .retryWithDelay(1) : .doNotRetry)
                }]),
            eventMonitors: [LoggingEventMonitor()])
        session.request("http://127.0.0.1:8080/flowers", method: .post, parameters: flower, encoder: .json)
            .validate(statusCode: 200..<300)
            .responseDecodable(of: Flower.self) { response in
                debugPrint(response)
            }
    }
}
