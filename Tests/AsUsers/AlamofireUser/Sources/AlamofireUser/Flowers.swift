// SPDX-License-Identifier: MIT

import Alamofire
import Foundation

/// A request with its type of answer. The library's names are qualified with the module's, as in code that declares its own
/// `Session`.
protocol Endpoint<Answer>: Sendable {
    associatedtype Answer: Decodable & Sendable

    var path: String { get }
    var method: Alamofire.HTTPMethod { get }
    var parameters: Alamofire.Parameters { get }
}

/// A type with the same name as one of the library's.
struct Session: Sendable {
    let user: String
}

/// Requests endpoints for a user.
struct Client<Interceptor: Alamofire.RequestInterceptor>: Sendable {
    let base: String
    let session: Session
    let network: Alamofire.Session
    let interceptor: Interceptor

    func load<Asked: Endpoint>(_ endpoint: Asked) async throws -> Asked.Answer {
        let response: Alamofire.DataResponse<Asked.Answer, Alamofire.AFError> = await network.request(
            base + endpoint.path, method: endpoint.method, parameters: endpoint.parameters,
            headers: ["X-User": session.user], interceptor: interceptor
        )
        .validate()
        .serializingDecodable(Asked.Answer.self)
        .response
        return try response.result.get()
    }
}

/// Retries once.
struct Again: Alamofire.RequestInterceptor {
    func retry(
        _ request: Alamofire.Request, for session: Alamofire.Session, dueTo error: any Error,
        completion: @escaping @Sendable (Alamofire.RetryResult) -> Void
    ) { completion(request.retryCount == 0 ? .retry : .doNotRetry) }
}

struct Flower: Codable, Sendable {
    let name: String
}

struct Flowers: Endpoint {
    typealias Answer = [Flower]

    let colour: String
    var path: String { "/flowers" }
    var method: Alamofire.HTTPMethod { .get }
    var parameters: Alamofire.Parameters { ["colour": colour] }
}

extension Alamofire.AFError {
    /// The status code of the refusal.
    var status: Int? { responseCode }
}
