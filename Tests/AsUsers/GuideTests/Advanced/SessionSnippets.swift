// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Lupine
import Testing

/// Sessions, and the parameters of their initializers.
@Suite struct SessionSnippets {
    @Test func aRequestOfTheDefaultSession() async throws {
        try await HTTPBin.serve { httpbin in
            let request = AF.request("\(httpbin)/get")
            #expect(await request.serializingData().response.response?.statusCode == 200)
        }
    }

    @Test func theDefaultSessionIsAF() async throws {
        try await HTTPBin.serve { httpbin in
            let session = Session.default
            let request = session.request("\(httpbin)/get")
            #expect(await request.serializingData().response.response?.statusCode == 200)
            #expect(session === AF)
        }
    }

    /// The guide's declaration, with its arguments.
    @Test func everyPartOfASessionHasAParameter() async throws {
        let interceptor: RequestInterceptor? = nil
        let redirectHandler: RedirectHandler? = nil
        let cachedResponseHandler: CachedResponseHandler? = nil
        let eventMonitors: [EventMonitor] = []
        let session = Session(
            configuration: URLSessionConfiguration.af.default,
            delegate: SessionDelegate(),
            rootQueue: DispatchQueue(label: "org.alamofire.session.rootQueue"),
            startRequestsImmediately: true,
            requestQueue: nil,
            serializationQueue: nil,
            interceptor: interceptor,
            serverTrustManager: nil,
            redirectHandler: redirectHandler,
            cachedResponseHandler: cachedResponseHandler,
            eventMonitors: eventMonitors
        )
        try await answers(session)
        try await answers(Session())
    }

    @Test func aConfigurationMakesASession() async throws {
        let configuration = URLSessionConfiguration.af.default
        configuration.allowsCellularAccess = false

        let session = Session(configuration: configuration)

        #expect(session.sessionConfiguration.allowsCellularAccess == false)
        #expect(session.sessionConfiguration.headers["User-Agent"] == HTTPHeader.defaultUserAgent.value)
        try await answers(session)
    }

    @Test func aDelegateHasAFileManager() async throws {
        let delegate = SessionDelegate(fileManager: .default)
        try await answers(Session(delegate: delegate))
    }

    @Test func requestsCanWaitToBeResumed() async throws {
        try await HTTPBin.serve { httpbin in
            let session = Session(startRequestsImmediately: false)

            let response: AFDataResponse<Data> = await handed { hand in
                let request = session.request("\(httpbin)/get").responseData { hand($0) }
                #expect(request.isInitialized)
                request.resume()
            }
            #expect(response.response?.statusCode == 200)
        }
    }

    @Test func aSessionHasThreeQueues() async throws {
        let rootQueue = DispatchQueue(label: "com.app.session.rootQueue")
        let requestQueue = DispatchQueue(label: "com.app.session.requestQueue")
        let serializationQueue = DispatchQueue(label: "com.app.session.serializationQueue")

        let session = Session(
            rootQueue: rootQueue,
            requestQueue: requestQueue,
            serializationQueue: serializationQueue
        )

        #expect(session.rootQueue.label == rootQueue.label)
        #expect(session.requestQueue === requestQueue)
        #expect(session.serializationQueue === serializationQueue)
        try await answers(session)
    }

    @Test func monitorsAreGivenToASession() async throws {
        try await HTTPBin.serve { httpbin in
            let (events, event) = AsyncStream.makeStream(of: Request.self)
            let monitor = ClosureEventMonitor()
            monitor.requestDidCompleteTaskWithError = { (request, task, error) in
                debugPrint(request)
                event.yield(request)
                event.finish()
            }
            let session = Session(eventMonitors: [monitor])

            let request = session.request("\(httpbin)/get")
            _ = await request.serializingData().response
            for await seen in events { #expect(seen == request) }
        }
    }

    @Test func aSessionStandsOnAURLSession() async throws {
        let rootQueue = DispatchQueue(label: "org.alamofire.customQueue")
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.underlyingQueue = rootQueue
        let delegate = SessionDelegate()
        let configuration = URLSessionConfiguration.af.default
        let urlSession = URLSession(
            configuration: configuration,
            delegate: delegate,
            delegateQueue: queue)
        let session = Session(session: urlSession, delegate: delegate, rootQueue: rootQueue)

        #expect(session.session === urlSession)
        #expect(session.delegate === delegate)
        #expect(session.rootQueue === rootQueue)
        try await answers(session)
    }

    private func answers(_ session: Session) async throws {
        try await HTTPBin.serve { httpbin in
            let response = await session.request("\(httpbin)/get").serializingData().response
            #expect(response.response?.statusCode == 200)
        }
    }
}
