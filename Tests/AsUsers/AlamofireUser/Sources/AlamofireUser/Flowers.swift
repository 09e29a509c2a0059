// SPDX-License-Identifier: MIT

import Alamofire
import Foundation

/// Something that is asked for; names of the library are spelled with the module's, as code does that has a `Session` of its own.
protocol Endpoint<Answer>: Sendable {
    associatedtype Answer: Decodable & Sendable

    var path: String { get }
    var method: Alamofire.HTTPMethod { get }
    var parameters: Alamofire.Parameters { get }
}

/// The name that the library's type has, too.
struct Session: Sendable {
    let user: String
}

/// Asks for endpoints on behalf of somebody.
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

/// Tries once more.
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
    /// What was refused.
    var status: Int? { responseCode }
}
