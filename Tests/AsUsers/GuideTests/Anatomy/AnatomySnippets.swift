// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// The API as a walk through Alamofire's sources presents it: requests, sessions, states, URLs.
@Suite struct AnatomySnippets {
    @Test func theLoadingSystemAlone() async throws {
        try await HTTPBin.serve { httpbin in
            let text: String = await handed { hand in
                // URLSession
                let session = URLSession.shared
                let dataTask = session.dataTask(with: URL(string: "\(httpbin)/robots.txt")!) {
                    (data, response, error) in
                    guard let data = data,
                        let string = String(data: data, encoding: .utf8)
                    else {
                        hand("")
                        return
                    }
                    print(string)
                    hand(string)
                }
                dataTask.resume()
            }
            #expect(text.hasPrefix("User-agent: *"))
        }
    }

    /// The guide writes `Alamofire.request`, which is `AF.request` since Alamofire 5.
    @Test func thePipelineDoesTheSame() async throws {
        try await HTTPBin.serve { httpbin in
            let text: String = await handed { hand in
                AF.request("\(httpbin)/robots.txt")
                    .responseString { (response) in
                        guard let string = response.value else { return hand("") }
                        print(string)
                        hand(string)
                    }
            }
            #expect(text.hasPrefix("User-agent: *"))
        }
    }

    @available(*, deprecated)
    @Test func aSessionShowsItsParts() {
        let session = Session.default
        let urlSession: URLSession = session.session
        let delegate: SessionDelegate = session.delegate
        let queues: [DispatchQueue] = [session.rootQueue, session.requestQueue, session.serializationQueue]
        let interceptor: RequestInterceptor? = session.interceptor
        let serverTrustManager: ServerTrustManager? = session.serverTrustManager
        let redirectHandler: RedirectHandler? = session.redirectHandler
        let cachedResponseHandler: CachedResponseHandler? = session.cachedResponseHandler
        let eventMonitor: CompositeEventMonitor = session.eventMonitor
        let defaultEventMonitors: [EventMonitor] = session.defaultEventMonitors
        #expect(urlSession.delegate === delegate)
        #expect(queues[0].label == "org.alamofire.session.rootQueue")
        #expect(session.startRequestsImmediately)
        #expect(interceptor == nil && serverTrustManager == nil)
        #expect(redirectHandler == nil && cachedResponseHandler == nil)
        #expect(eventMonitor.queue === session.rootQueue)
        #expect(defaultEventMonitors.first is AlamofireNotifications)
    }

    /// Both initializers with every parameter of the guide.
    @Test func aSessionHasTwoInitialisers() async throws {
        let rootQueue = DispatchQueue(label: "org.alamofire.session.rootQueue")
        let operations = OperationQueue()
        operations.maxConcurrentOperationCount = 1
        operations.underlyingQueue = rootQueue
        let delegate = SessionDelegate()
        let urlSession = URLSession(
            configuration: .af.default, delegate: delegate, delegateQueue: operations)
        let sessions = [
            Session(
                session: urlSession,
                delegate: delegate,
                rootQueue: rootQueue,
                startRequestsImmediately: true,
                requestQueue: nil,
                serializationQueue: nil,
                interceptor: nil,
                serverTrustManager: nil,
                redirectHandler: nil,
                cachedResponseHandler: nil,
                eventMonitors: []),
            Session(
                configuration: URLSessionConfiguration.af.default,
                delegate: SessionDelegate(),
                rootQueue: DispatchQueue(label: "org.alamofire.session.rootQueue"),
                startRequestsImmediately: true,
                requestQueue: nil,
                serializationQueue: nil,
                interceptor: nil,
                serverTrustManager: nil,
                redirectHandler: nil,
                cachedResponseHandler: nil,
                eventMonitors: []),
        ]
        try await HTTPBin.serve { httpbin in
            for session in sessions {
                let response = await session.request("\(httpbin)/get").serializingData().response
                #expect(response.response?.statusCode == 200)
            }
        }
    }

    @Test func allRequestsAreReachedAtOnce() async throws {
        try await HTTPBin.serve { httpbin in
            httpbin.origin.script("GET", "/held", ScriptedMeeting.plan("held", body: ""))
            let session = Session()
            let request = session.request("\(httpbin)/held")
            let task = Task { await request.serializingData().response }
            await httpbin.origin.gate("held asked").wait()
            let all: Set<Request> = await handed { hand in session.withAllRequests { hand($0) } }
            #expect(all == [request])
            let _: Void = await handed { hand in
                session.cancelAllRequests(completingOnQueue: .main) { hand(()) }
            }
            #expect(request.isCancelled)
            #expect(await task.value.error?.isExplicitlyCancelledError == true)
        }
    }

    @Test func aModifierCanThrow() async throws {
        struct Refused: Error {}
        let requestModifier: Session.RequestModifier = { (urlRequest: inout URLRequest) throws -> Void in
            throw Refused()
        }
        let response = await AF.request("http://localhost", requestModifier: requestModifier)
            .serializingData().response
        #expect(response.error?.isCreateURLRequestError == true)
        #expect(response.error?.underlyingError is Refused)
    }

    @Test func aRequestShowsItsParts() {
        let request = AF.request("http://localhost")
        let id: UUID = request.id
        let queues: [DispatchQueue] = [request.underlyingQueue, request.serializationQueue]
        let eventMonitor: EventMonitor? = request.eventMonitor
        let interceptor: RequestInterceptor? = request.interceptor
        let delegate: RequestDelegate? = request.delegate
        #expect(id != AF.request("http://localhost").id)
        #expect(queues[0] === AF.rootQueue)
        #expect(eventMonitor is CompositeEventMonitor)
        #expect(interceptor == nil)
        #expect(delegate === AF)
    }

    @Test func aRequestsDelegateIsItsSession() {
        let delegate: RequestDelegate = AF
        let configuration: URLSessionConfiguration = delegate.sessionConfiguration
        #expect(delegate.startImmediately)
        // Compared as dictionaries: the configuration stores one, which has no order.
        #expect(configuration.headers.dictionary == AF.sessionConfiguration.headers.dictionary)
    }

    @Test func aRequestIsHeldAndEnded() {
        let session = Session(startRequestsImmediately: false)
        let request = session.request("http://localhost")
        #expect(request.suspend() === request)
        #expect(request.isSuspended)
        #expect(request.cancel() === request)
        #expect(request.isCancelled)
        // A cancelled request is neither suspended nor resumed.
        #expect(request.suspend().isCancelled)
        #expect(request.resume().isCancelled)
    }

    @Test func aRequestIsHashableAndDescribed() async throws {
        try await HTTPBin.serve { httpbin in
            let request = AF.request("\(httpbin)/get")
            let other = AF.request("\(httpbin)/get")
            #expect(request == request)
            #expect(request != other)
            #expect(Set([request, other, request]).count == 2)
            _ = await request.serializingData().response
            #expect(request.description == "GET \(httpbin)/get (200)")
            #expect(request.cURLDescription().hasPrefix("$ curl -v"))
        }
    }

    @Test func anInterceptorNeedsNothing() async throws {
        struct Idle: RequestInterceptor {}
        try await HTTPBin.serve { httpbin in
            let request = AF.request("\(httpbin)/status/500", interceptor: Idle()).validate()
            #expect(await request.serializingData().response.error?.responseCode == 500)
            #expect(request.retryCount == 0)
        }
    }

    @Test func threeTypesConvertToURLs() throws {
        struct Place: URLConvertible {
            func asURL() throws -> URL { try "http://localhost/place".asURL() }
        }
        let urlConvertibles: [URLConvertible] = [
            "http://localhost/place", URL(string: "http://localhost/place")!,
            URLComponents(string: "http://localhost/place")!, Place(),
        ]
        for convertible in urlConvertibles {
            #expect(try convertible.asURL().absoluteString == "http://localhost/place")
        }
        #expect(throws: AFError.self) { try "".asURL() }
    }

    @Test func aTypeConvertsToAURLRequest() throws {
        struct Failing: URLRequestConvertible {
            func asURLRequest() throws -> URLRequest { throw AFError.explicitlyCancelled }
        }
        let urlRequest = try URLRequest(url: "http://localhost", method: .put, headers: ["X-A": "b"])
        #expect(try urlRequest.asURLRequest() == urlRequest)
        #expect(urlRequest.urlRequest?.headers == ["X-A": "b"])
        #expect(Failing().urlRequest == nil)
    }

    @Test func anErrorIsAnAFError() {
        struct Other: Error {}
        let error: Error = AFError.explicitlyCancelled
        #expect(error.asAFError?.isExplicitlyCancelledError == true)
        #expect(Other().asAFError == nil)
        #expect(error.asAFError(orFailWith: "it is one").isExplicitlyCancelledError)
    }

    /// The reasons in the cases of an error, by the properties that distinguish them.
    @Test func anErrorHasReasons() {
        let errors: [AFError] = [
            .parameterEncodingFailed(reason: .missingURL),
            .parameterEncoderFailed(reason: .missingRequiredComponent(.url)),
            .responseValidationFailed(reason: .unacceptableStatusCode(code: 500)),
            .responseSerializationFailed(reason: .inputDataNilOrZeroLength),
            .serverTrustEvaluationFailed(reason: .noCertificatesFound),
            .urlRequestValidationFailed(reason: .bodyDataInGETRequest(Data())),
        ]
        let questions: [(AFError) -> Bool] = [
            \.isParameterEncodingError, \.isParameterEncoderError, \.isResponseValidationError,
            \.isResponseSerializationError, \.isServerTrustEvaluationError,
        ]
        for (index, question) in questions.enumerated() {
            #expect(errors.indices.filter { question(errors[$0]) } == [index])
        }
        for error in errors { #expect(error.errorDescription?.isEmpty == false) }
    }

    @Test func aBodyInAGETIsRefused() async throws {
        var urlRequest = try URLRequest(url: "http://localhost", method: .get)
        urlRequest.httpBody = Data("body".utf8)
        let response = await AF.request(urlRequest).serializingData().response
        guard case .urlRequestValidationFailed(.bodyDataInGETRequest(let body))? = response.error else {
            Issue.record("\(response)")
            return
        }
        #expect(body == Data("body".utf8))
    }
}
