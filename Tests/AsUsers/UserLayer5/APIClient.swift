// SPDX-License-Identifier: MIT

// The layout is a user's.
// swift-format-ignore-file

import Foundation
import Lupine

// A networking layer of an app, written for Alamofire 5: only its import names Lupine. It is compiled in Swift 5 and in Swift 6
// mode.

// MARK: - Configuration

struct APIEnvironment: Sendable {
    var baseURL: String
    var clientVersion = "1.4.2"
    var requestTimeout: TimeInterval = 15
}

// MARK: - Errors

enum APIError: Error {
    case offline
    case timedOut
    case cancelled
    case unauthorized
    case notFound
    case server(status: Int)
    case decoding(any Error)
    case rejected(code: String, message: String)
    case unknown(any Error)

    init(_ error: AFError) {
        if error.isExplicitlyCancelledError {
            self = .cancelled
        } else if let rejection = error.underlyingError as? EnvelopeRejection {
            self = .rejected(code: rejection.code, message: rejection.message)
        } else if case let .responseValidationFailed(reason: .unacceptableStatusCode(code: status)) = error {
            switch status {
            case 401: self = .unauthorized
            case 404: self = .notFound
            default: self = .server(status: status)
            }
        } else if case let .sessionTaskFailed(error: underlying) = error, let urlError = underlying as? URLError {
            switch urlError.code {
            case .notConnectedToInternet, .cannotConnectToHost, .networkConnectionLost: self = .offline
            case .timedOut: self = .timedOut
            default: self = .unknown(urlError)
            }
        } else if case let .responseSerializationFailed(reason: .decodingFailed(error: underlying)) = error {
            self = .decoding(underlying)
        } else {
            self = .unknown(error)
        }
    }
}

// MARK: - Credentials

final class TokenStore: @unchecked Sendable {
    private let lock = NSLock()
    private var current: String?
    private var refreshes = 0

    init(token: String? = nil) { current = token }

    var token: String? {
        get { lock.lock(); defer { lock.unlock() }; return current }
        set { lock.lock(); defer { lock.unlock() }; current = newValue }
    }

    var refreshCount: Int {
        lock.lock()
        defer { lock.unlock() }
        return refreshes
    }

    func refresh(completion: @escaping @Sendable (String) -> Void) {
        DispatchQueue.global().async {
            self.lock.lock()
            self.refreshes += 1
            let token = "token-\(self.refreshes)"
            self.current = token
            self.lock.unlock()
            completion(token)
        }
    }
}

// MARK: - Adapters and retriers

struct ClientVersionAdapter: RequestAdapter {
    let version: String

    func adapt(_ urlRequest: URLRequest, for session: Session, completion: @escaping (Result<URLRequest, Error>) -> Void) {
        var urlRequest = urlRequest
        urlRequest.headers.update(name: "X-Client-Version", value: version)
        urlRequest.headers.add(.accept("application/json"))
        completion(.success(urlRequest))
    }
}

final class AuthenticationHandler: RequestInterceptor {
    private let store: TokenStore

    init(store: TokenStore) { self.store = store }

    func adapt(_ urlRequest: URLRequest, for session: Session, completion: @escaping (Result<URLRequest, Error>) -> Void) {
        guard let token = store.token else {
            completion(.success(urlRequest))
            return
        }
        var urlRequest = urlRequest
        urlRequest.headers.update(.authorization(bearerToken: token))
        completion(.success(urlRequest))
    }

    func retry(_ request: Request, for session: Session, dueTo error: Error, completion: @escaping @Sendable (RetryResult) -> Void) {
        guard let response = request.task?.response as? HTTPURLResponse, response.statusCode == 401, request.retryCount == 0 else {
            return completion(.doNotRetry)
        }
        store.refresh { _ in completion(.retry) }
    }
}

final class FlakyServerRetrier: RequestRetrier {
    let limit: Int
    let retryableStatusCodes: Set<Int> = [502, 503, 504]

    init(limit: Int = 2) { self.limit = limit }

    func retry(_ request: Request, for session: Session, dueTo error: Error, completion: @escaping (RetryResult) -> Void) {
        guard request.retryCount < limit,
              request.request?.method == .get,
              let status = error.asAFError?.responseCode,
              retryableStatusCodes.contains(status)
        else {
            completion(.doNotRetry)
            return
        }
        completion(.retryWithDelay(pow(2, Double(request.retryCount)) * 0.001))
    }
}

// MARK: - Router

struct User: Codable, Sendable, Equatable {
    var id: Int
    var name: String
}

enum Router: URLRequestConvertible {
    case user(id: Int, APIEnvironment)
    case search(query: String, page: Int, APIEnvironment)
    case create(User, APIEnvironment)
    case update(User, APIEnvironment)
    case delete(id: Int, APIEnvironment)

    private var environment: APIEnvironment {
        switch self {
        case let .user(_, environment), let .search(_, _, environment), let .create(_, environment),
             let .update(_, environment), let .delete(_, environment):
            return environment
        }
    }

    private var method: HTTPMethod {
        switch self {
        case .user, .search: return .get
        case .create: return .post
        case .update: return .patch
        case .delete: return .delete
        }
    }

    private var path: String {
        switch self {
        case let .user(id, _), let .delete(id, _): return "anything/users/\(id)"
        case .search: return "anything/search"
        case .create: return "anything/users"
        case let .update(user, _): return "anything/users/\(user.id)"
        }
    }

    func asURLRequest() throws -> URLRequest {
        let url = try environment.baseURL.asURL().appendingPathComponent(path)
        var request = try URLRequest(url: url, method: method)
        request.timeoutInterval = environment.requestTimeout

        switch self {
        case let .search(query, page, _):
            let parameters: Parameters = ["q": query, "page": page, "exact": true]
            return try URLEncoding(boolEncoding: .literal).encode(request, with: parameters)
        case let .create(user, _):
            return try JSONParameterEncoder.default.encode(user, into: request)
        case let .update(user, _):
            return try URLEncodedFormParameterEncoder(destination: .httpBody).encode(["name": user.name], into: request)
        case .user, .delete:
            return request
        }
    }
}

// MARK: - Serialization

struct EnvelopeRejection: Error {
    let code: String
    let message: String
}

struct EnvelopeSerializer<Payload: Decodable & Sendable>: ResponseSerializer {
    private struct Envelope: Decodable {
        struct Problem: Decodable {
            let code: String
            let message: String
        }
        let payload: Payload?
        let problem: Problem?
    }

    let decoder: JSONDecoder
    let emptyResponseCodes: Set<Int> = [204, 205]

    init(decoder: JSONDecoder = JSONDecoder()) { self.decoder = decoder }

    func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: Error?) throws -> Payload {
        if let error = error { throw error }
        guard let data = data, !data.isEmpty else {
            throw AFError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
        }
        let envelope: Envelope
        do {
            envelope = try decoder.decode(Envelope.self, from: try dataPreprocessor.preprocess(data))
        } catch {
            throw AFError.responseSerializationFailed(reason: .decodingFailed(error: error))
        }
        if let problem = envelope.problem {
            throw EnvelopeRejection(code: problem.code, message: problem.message)
        }
        guard let payload = envelope.payload else {
            throw AFError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
        }
        return payload
    }
}

struct LineCountSerializer: DataResponseSerializerProtocol {
    func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: Error?) throws -> Int {
        let text = try StringResponseSerializer(encoding: .utf8)
            .serialize(request: request, response: response, data: data, error: error)
        return text.split(separator: "\n").count
    }
}

extension DataRequest {
    @discardableResult
    func responseEnvelope<Payload: Decodable & Sendable>(
        of type: Payload.Type = Payload.self,
        queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (AFDataResponse<Payload>) -> Void
    ) -> Self {
        response(queue: queue, responseSerializer: EnvelopeSerializer<Payload>(), completionHandler: completionHandler)
    }
}

// MARK: - Logging

final class NetworkLogger: EventMonitor, @unchecked Sendable {
    let queue = DispatchQueue(label: "com.example.network.logger")
    private let lock = NSLock()
    private var entries: [String] = []

    var lines: [String] { queue.sync { lock.lock(); defer { lock.unlock() }; return entries } }

    private func log(_ line: String) {
        lock.lock()
        entries.append(line)
        lock.unlock()
    }

    func requestDidResume(_ request: Request) { log("resume") }

    func requestIsRetrying(_ request: Request) { log("retry \(request.retryCount)") }

    func request(_ request: Request, didCompleteTask task: URLSessionTask, with error: AFError?) {
        log("complete \((task.response as? HTTPURLResponse)?.statusCode ?? 0)")
    }

    func request<Value>(_ request: DataRequest, didParseResponse response: DataResponse<Value, AFError>) {
        switch response.result {
        case .success: log("parsed")
        case let .failure(error): log("failed: \(error.localizedDescription)")
        }
    }
}

// MARK: - Client

protocol APIClientProtocol: AnyObject, Sendable {
    @discardableResult
    func perform<Value: Decodable & Sendable>(
        _ route: URLRequestConvertible, as type: Value.Type,
        completion: @escaping @Sendable (Result<Value, APIError>) -> Void
    ) -> Request

    func value<Value: Decodable & Sendable>(of route: URLRequestConvertible, as type: Value.Type) async throws -> Value
}

final class APIClient: APIClientProtocol {
    let environment: APIEnvironment
    let logger = NetworkLogger()
    private let session: Session

    init(environment: APIEnvironment, store: TokenStore) {
        self.environment = environment
        let configuration = URLSessionConfiguration.af.default
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = environment.requestTimeout
        let interceptor = Interceptor(
            adapters: [ClientVersionAdapter(version: environment.clientVersion)],
            retriers: [FlakyServerRetrier()],
            interceptors: [AuthenticationHandler(store: store)])
        session = Session(configuration: configuration, interceptor: interceptor, eventMonitors: [logger])
    }

    @discardableResult
    func perform<Value: Decodable & Sendable>(
        _ route: URLRequestConvertible, as type: Value.Type = Value.self,
        completion: @escaping @Sendable (Result<Value, APIError>) -> Void
    ) -> Request {
        session.request(route)
            .validate()
            .responseDecodable(of: Value.self, queue: .main) { response in
                completion(response.result.mapError(APIError.init))
            }
    }

    func value<Value: Decodable & Sendable>(of route: URLRequestConvertible, as type: Value.Type = Value.self) async throws -> Value {
        let response = await session.request(route).validate().serializingDecodable(Value.self).response
        switch response.result {
        case let .success(value): return value
        case let .failure(error): throw APIError(error)
        }
    }

    func payload<Value: Decodable & Sendable>(at path: String, as type: Value.Type = Value.self) async throws -> Value {
        let task = session.request("\(environment.baseURL)/\(path)")
            .validate(statusCode: 200..<300)
            .serializingResponse(using: EnvelopeSerializer<Value>())
        do {
            return try await task.value
        } catch let error as AFError {
            throw APIError(error)
        }
    }

    func values<Value: Decodable & Sendable>(of routes: [Router], as type: Value.Type = Value.self) async throws -> [Value] {
        try await withThrowingTaskGroup(of: (Int, Value).self) { group in
            for (index, route) in routes.enumerated() {
                group.addTask { (index, try await self.value(of: route, as: type)) }
            }
            var values: [(Int, Value)] = []
            for try await value in group { values.append(value) }
            return values.sorted { $0.0 < $1.0 }.map { $0.1 }
        }
    }

    func lineCount(at path: String, completion: @escaping @Sendable (Int?) -> Void) {
        session.request("\(environment.baseURL)/\(path)", requestModifier: { $0.timeoutInterval = 5 })
            .response(queue: .global(), responseSerializer: LineCountSerializer()) { response in
                completion(response.value)
            }
    }

    func cancelAll() {
        session.cancelAllRequests()
    }
}

// MARK: - Model

@MainActor
final class SearchModel {
    private(set) var url: String?
    private(set) var message: String?
    private let client: APIClient
    private var request: Request?

    init(client: APIClient) { self.client = client }

    struct Found: Decodable, Sendable { let url: String }

    func search(_ query: String, done: @escaping @MainActor @Sendable () -> Void) {
        request?.cancel()
        request = client.perform(Router.search(query: query, page: 1, client.environment), as: Found.self) { [weak self] result in
            Task { @MainActor in
                switch result {
                case let .success(found): self?.url = found.url
                case let .failure(error): self?.message = "\(error)"
                }
                done()
            }
        }
    }
}
