// SPDX-License-Identifier: MIT

import Foundation
import LupineLoading
import LupineOrigin
import LupineTestKit
import Synchronization
import Testing

@testable import Lupine

/// The requests that the provided policies retry, and the delays before each retry.
@Suite struct RetryPolicyTests {
    private struct Failed: Error {}

    private static let retried: [URLError.Code] = [
        .backgroundSessionInUseByAnotherProcess, .backgroundSessionWasDisconnected, .badServerResponse,
        .callIsActive, .cannotConnectToHost, .cannotFindHost, .cannotLoadFromNetwork, .dataNotAllowed,
        .dnsLookupFailed, .downloadDecodingFailedMidStream, .downloadDecodingFailedToComplete,
        .internationalRoamingOff, .networkConnectionLost, .notConnectedToInternet, .secureConnectionFailed,
        .serverCertificateHasBadDate, .serverCertificateNotYetValid, .timedOut,
    ]
    private static let notRetried: [URLError.Code] = [
        .appTransportSecurityRequiresSecureConnection, .backgroundSessionRequiresSharedContainer, .badURL,
        .cancelled, .cannotCloseFile, .cannotCreateFile, .cannotDecodeContentData, .cannotDecodeRawData,
        .cannotMoveFile, .cannotOpenFile, .cannotParseResponse, .cannotRemoveFile, .cannotWriteToFile,
        .clientCertificateRejected, .clientCertificateRequired, .dataLengthExceedsMaximum, .fileDoesNotExist,
        .fileIsDirectory, .httpTooManyRedirects, .noPermissionsToReadFile, .redirectToNonExistentLocation,
        .requestBodyStreamExhausted, .resourceUnavailable, .serverCertificateHasUnknownRoot,
        .serverCertificateUntrusted, .unknown, .unsupportedURL, .userAuthenticationRequired,
        .userCancelledAuthentication, .zeroByteResource,
    ]

    @Test("the default values of a retry policy")
    func defaults() {
        let policy = RetryPolicy()
        #expect(policy.retryLimit == 2 && policy.exponentialBackoffBase == 2)
        #expect(policy.exponentialBackoffScale == 0.5)
        #expect(policy.retryableHTTPMethods == [.delete, .get, .head, .options, .put, .trace])
        #expect(policy.retryableHTTPStatusCodes == [408, 500, 502, 503, 504])
        #expect(policy.retryableURLErrorCodes == Set(Self.retried))
        #expect(policy.timing == RetryPolicy.Timing(jitter: 0, honorsRetryAfter: false))
        #expect(policy.retryableURLErrorCodes.isDisjoint(with: Self.notRetried))
        let named: RetryPolicy = .retryPolicy
        #expect(named.retryLimit == 2)
        let own: RetryPolicy = .retryPolicy(retryLimit: 7, retryableHTTPStatusCodes: [418])
        #expect(own.retryLimit == 7 && own.retryableHTTPStatusCodes == [418])
    }

    @Test("[I-2.1] a base of 1 traps; a limit or a scale of 0 does not")
    func arguments() async {
        await #expect(processExitsWith: .failure) { _ = RetryPolicy(exponentialBackoffBase: 1) }
        let policy = RetryPolicy(retryLimit: 0, exponentialBackoffScale: 0)
        #expect(policy.retryLimit == 0)
        #expect(policy.delay(after: 3, retryAfter: nil, at: Date(), randomFraction: 0) == 0)
    }

    @Test(
        "[I-2.2] the delays are powers of the base, without jitter, cap or Retry-After",
        arguments: [
            (2, 0.5, 0, 0.5), (2, 0.5, 1, 1), (2, 0.5, 2, 2), (2, 0.5, 10, 512), (3, 1, 4, 81),
            (10, 0.1, 1, 1),
        ] as [(UInt, Double, Int, Double)])
    func waits(base: UInt, scale: Double, retries: Int, expected: Double) {
        let policy = RetryPolicy(exponentialBackoffBase: base, exponentialBackoffScale: scale)
        for chance in [0, 0.5, 1] {
            let wait = policy.delay(after: retries, retryAfter: "1000", at: Date(), randomFraction: chance)
            #expect(wait == expected)
        }
    }

    @Test("jitter shortens a delay by up to its fraction; Retry-After extends it or prevents the retry")
    func timing() throws {
        let moment = Date(timeIntervalSince1970: 784_111_777)
        let jittery = RetryPolicy(timing: .init(jitter: 0.4))
        #expect(jittery.delay(after: 1, retryAfter: "9", at: moment, randomFraction: 0) == 1)
        #expect(jittery.delay(after: 1, retryAfter: "9", at: moment, randomFraction: 0.5) == 0.8)
        #expect(RetryPolicy.Timing(jitter: 7).jitter == 1 && RetryPolicy.Timing(jitter: -1).jitter == 0)
        let polite = RetryPolicy(timing: .init(honorsRetryAfter: true, longestRetryAfter: 20))
        let rows: [(field: String?, wait: Double?)] = [
            (nil, 0.5), ("0", 0.5), ("3", 3), (" 20 ", 20), ("21", nil), ("-3", 0.5), ("3.5", 0.5),
            ("soon", 0.5), ("", 0.5), ("Sun, 06 Nov 1994 08:49:40 GMT", 3),
            ("Sun, 06 Nov 1994 08:49:30 GMT", 0.5),
            ("Sun, 06 Nov 1994 09:49:40 GMT", nil), ("999999999999999999999999", nil),
        ]
        for row in rows {
            let wait = polite.delay(after: 0, retryAfter: row.field, at: moment, randomFraction: 1)
            #expect(wait == row.wait, "Retry-After: \(row.field ?? "-")")
        }
    }

    @Test(
        "[I-2.2] a request is retried up to the limit", arguments: [0, 1, 3] as [UInt],
        TestedHTTP.allCases)
    func limit(_ limit: UInt, over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            let count = Atomic(0)
            stage.origin.route("GET", "/flaky") { _ in
                count.add(1, ordering: .relaxed)
                return OriginResponse(503)
            }
            let policy = RetryPolicy(retryLimit: limit, exponentialBackoffScale: 0)
            try await stage.withSession(interceptor: policy) { session in
                let request = session.request(stage.url("/flaky")).validate()
                let response = await request.awaitResponse()
                #expect(response.error?.responseCode == 503)
                #expect(request.retryCount == Int(limit))
                let answer = await policy.answer(request, for: session, dueTo: URLError(.timedOut))
                #expect(answer.text == "do not retry")
            }
            #expect(count.load(ordering: .relaxed) == Int(limit) + 1)
        }
    }

    @Test(
        "[I-2.2] by default the delays are half a second, then one second", arguments: TestedHTTP.allCases)
    func answers(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            try await stage.withSession { session in
                let first = session.request(stage.url())
                _ = await first.awaitResponse()
                let fresh = await RetryPolicy().answer(first, for: session, dueTo: URLError(.timedOut))
                #expect(fresh.text == "retry after 0.5")
                let second = session.request(stage.url("/status/503"), interceptor: Retrying(times: 1))
                    .validate()
                _ = await second.awaitResponse()
                let later = await RetryPolicy().answer(second, for: session, dueTo: URLError(.timedOut))
                #expect(later.text == "retry after 1.0")
            }
        }
    }

    @Test("[I-2.3] the method of the latest request decides first", arguments: TestedHTTP.allCases)
    func methods(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            let policy = RetryPolicy()
            try await stage.withSession(startRequestsImmediately: false) { session in
                let unmade = session.request(stage.url())
                #expect(unmade.request == nil)
                #expect(!policy.shouldRetry(request: unmade, dueTo: URLError(.timedOut)))
                let rows: [(HTTPMethod, Bool)] = [
                    (.delete, true), (.get, true), (.head, true), (.options, true), (.put, true),
                    (.patch, false), (.post, false), (.query, false),
                    (HTTPMethod(rawValue: "OWN"), false),
                ]
                for (method, isRetried) in rows {
                    let request = session.request(stage.url("/status/503"), method: method)
                    _ = await request.resume().awaitResponse()
                    #expect(
                        policy.shouldRetry(request: request, dueTo: URLError(.timedOut)) == isRetried,
                        "\(method.rawValue)")
                }
                let changing = Adapter { request, _, completion in
                    var request = request
                    request.httpMethod = "PATCH"
                    completion(.success(request))
                }
                let adapted = session.request(stage.url("/status/503"), interceptor: changing)
                _ = await adapted.resume().awaitResponse()
                #expect(!policy.shouldRetry(request: adapted, dueTo: URLError(.timedOut)))
            }
        }
    }

    @Test("[I-2.4] a retryable status is retried whatever the error is", arguments: TestedHTTP.allCases)
    func statuses(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            let policy = RetryPolicy()
            try await stage.withSession { session in
                for status in [200, 400, 404, 408, 418, 429, 500, 501, 502, 503, 504] {
                    let request = session.request(stage.url("/status/\(status)"))
                    _ = await request.awaitResponse()
                    let expected = RetryPolicy.defaultRetryableHTTPStatusCodes.contains(status)
                    #expect(policy.shouldRetry(request: request, dueTo: Failed()) == expected, "\(status)")
                }
            }
        }
    }

    @Test(
        "[I-2.5] otherwise the code of a URLError decides, also if an AFError wraps it directly",
        arguments: TestedHTTP.allCases)
    func codes(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            let policy = RetryPolicy()
            try await stage.withSession { session in
                let request = session.request(stage.url())
                _ = await request.awaitResponse()
                for code in Self.retried + Self.notRetried {
                    let expected = Self.retried.contains(code)
                    let error = URLError(code)
                    #expect(policy.shouldRetry(request: request, dueTo: error) == expected, "\(code)")
                    let wrapped = AFError.sessionTaskFailed(error: error)
                    #expect(policy.shouldRetry(request: request, dueTo: wrapped) == expected, "\(code)")
                    let twice = AFError.requestAdaptationFailed(error: wrapped)
                    #expect(!policy.shouldRetry(request: request, dueTo: twice))
                }
                #expect(!policy.shouldRetry(request: request, dueTo: Failed()))
                #expect(!policy.shouldRetry(request: request, dueTo: AFError.explicitlyCancelled))
            }
        }
    }

    @Test("[I-2.6] after the last retry handlers receive the original error", arguments: TestedHTTP.allCases)
    func originalError(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            try await stage.withSession(interceptor: .retryPolicy(retryLimit: 2, exponentialBackoffScale: 0))
            { session in
                let response = await session.request(stage.url("/status/500")).validate().awaitTextResponse()
                guard case .responseValidationFailed(.unacceptableStatusCode(500))? = response.error else {
                    Issue.record("\(String(describing: response.error))")
                    return
                }
            }
        }
    }

    @Test("[I-2.7] a policy's adapter leaves requests unchanged", arguments: TestedHTTP.allCases)
    func adapts(over testedHTTP: TestedHTTP) async throws {
        try await PolicyStage.run(over: testedHTTP) { stage in
            try await stage.withSession { session in
                let request = try URLRequest(url: stage.url(), method: .put)
                let adapted: URLRequest = try await withCheckedThrowingContinuation { continuation in
                    RetryPolicy().adapt(request, for: session) { continuation.resume(with: $0) }
                }
                #expect(adapted == request)
            }
        }
    }

    @Test("[I-3.1] the policy for lost connections retries only that error", arguments: TestedHTTP.allCases)
    func connectionLost(over testedHTTP: TestedHTTP) async throws {
        let policy: ConnectionLostRetryPolicy = .connectionLostRetryPolicy
        #expect(policy.retryableHTTPStatusCodes == [])
        #expect(policy.retryableURLErrorCodes == [.networkConnectionLost])
        #expect(policy.retryLimit == 2 && policy.exponentialBackoffBase == 2)
        #expect(policy.retryableHTTPMethods == RetryPolicy.defaultRetryableHTTPMethods)
        let own: ConnectionLostRetryPolicy = .connectionLostRetryPolicy(
            retryLimit: 9, exponentialBackoffScale: 0, retryableHTTPMethods: [.post])
        #expect(own.retryLimit == 9 && own.retryableHTTPMethods == [.post])
        let timed = ConnectionLostRetryPolicy(timing: .init(jitter: 0.5))
        #expect(timed.timing.jitter == 0.5)
        try await PolicyStage.run(over: testedHTTP) { stage in
            let cut = Script([.close])
            // The response announces the close, so that a later request does not run into the end of this connection.
            let answer = Script([
                .send("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"), .close,
            ])
            stage.origin.answer("POST", "/cut", ScriptPlan([cut, cut, answer]))
            try await stage.withSession(interceptor: own) { session in
                let request = session.request(stage.url("/cut"), method: .post)
                let response = await request.awaitTextResponse()
                #expect(response.value == "ok" && request.retryCount == 2)
                let refused = session.request(stage.url("/status/503"), method: .post).validate()
                _ = await refused.awaitResponse()
                #expect(refused.retryCount == 0)
            }
        }
    }
}
