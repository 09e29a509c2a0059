// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineLoading

/// Retries idempotent requests that failed for a possibly temporary reason, a limited number of times and with exponential
/// backoff. The status code or the code of the `URLError` shows whether the reason may be temporary.
///
/// The delay in seconds is `exponentialBackoffScale` times `exponentialBackoffBase` to the power of the number of previous
/// retries. The options of `Timing` are off by default. The class is `@unchecked Sendable` because it can be subclassed; it
/// stores only constants.
open class RetryPolicy: @unchecked Sendable, RequestInterceptor {
    /// The default number of retries.
    public static let defaultRetryLimit: UInt = 2
    /// The default factor by which each delay is longer than the previous one.
    public static let defaultExponentialBackoffBase: UInt = 2
    /// The default length of the first delay, in seconds.
    public static let defaultExponentialBackoffScale: Double = 0.5
    /// The methods of requests that are retried by default: the idempotent methods (RFC 9110 §9.2.2).
    public static let defaultRetryableHTTPMethods: Set<HTTPMethod> = [
        .delete, .get, .head, .options, .put, .trace,
    ]
    /// The status codes of responses after which a request is retried by default.
    public static let defaultRetryableHTTPStatusCodes: Set<Int> = [408, 500, 502, 503, 504]
    /// The codes of errors after which a request is retried by default: those whose cause may be temporary.
    public static let defaultRetryableURLErrorCodes: Set<URLError.Code> = [
        .backgroundSessionInUseByAnotherProcess, .backgroundSessionWasDisconnected, .badServerResponse,
        .callIsActive, .cannotConnectToHost, .cannotFindHost, .cannotLoadFromNetwork, .dataNotAllowed,
        .dnsLookupFailed, .downloadDecodingFailedMidStream, .downloadDecodingFailedToComplete,
        .internationalRoamingOff, .networkConnectionLost, .notConnectedToInternet, .secureConnectionFailed,
        .serverCertificateHasBadDate, .serverCertificateNotYetValid, .timedOut,
    ]

    /// Options that change the delays.
    public struct Timing: Hashable, Sendable {
        /// The fraction of each delay that is random, from 0 to 1. With 0 the delay has its full length; with 1 it is anything
        /// between zero and its full length. A random fraction keeps clients that failed together from retrying together.
        public var jitter: Double
        /// Whether the delay is extended to the response's `Retry-After` (RFC 9110 §10.2.3), if that is longer.
        public var honorsRetryAfter: Bool
        /// The longest `Retry-After` that is honored, in seconds. If a response requests a longer delay, there is no retry.
        public var longestRetryAfter: TimeInterval

        /// Creates the options; by default there is no jitter, and `Retry-After` is ignored. `jitter` is limited to 0...1.
        public init(
            jitter: Double = 0, honorsRetryAfter: Bool = false, longestRetryAfter: TimeInterval = 60
        ) {
            self.jitter = min(max(jitter, 0), 1)
            self.honorsRetryAfter = honorsRetryAfter
            self.longestRetryAfter = longestRetryAfter
        }
    }

    /// The maximum number of retries.
    public let retryLimit: UInt
    /// The factor by which each delay is longer than the previous one.
    public let exponentialBackoffBase: UInt
    /// The length of the first delay, in seconds.
    public let exponentialBackoffScale: Double
    /// The methods of requests that are retried.
    public let retryableHTTPMethods: Set<HTTPMethod>
    /// The status codes of responses after which a request is retried.
    public let retryableHTTPStatusCodes: Set<Int>
    /// The codes of errors after which a request is retried.
    public let retryableURLErrorCodes: Set<URLError.Code>
    /// Options that change the delays.
    public let timing: Timing

    /// Creates a policy without the options of `Timing`. Traps if `exponentialBackoffBase` is below 2.
    public init(
        retryLimit: UInt = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<Int> = RetryPolicy.defaultRetryableHTTPStatusCodes,
        retryableURLErrorCodes: Set<URLError.Code> = RetryPolicy.defaultRetryableURLErrorCodes
    ) {
        precondition(exponentialBackoffBase >= 2, "The base of the waits has to be 2 or more.")
        self.retryLimit = retryLimit
        self.exponentialBackoffBase = exponentialBackoffBase
        self.exponentialBackoffScale = exponentialBackoffScale
        self.retryableHTTPMethods = retryableHTTPMethods
        self.retryableHTTPStatusCodes = retryableHTTPStatusCodes
        self.retryableURLErrorCodes = retryableURLErrorCodes
        timing = Timing()
    }

    /// Creates a policy with the options of `Timing`. Traps if `exponentialBackoffBase` is below 2.
    public init(
        retryLimit: UInt = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<Int> = RetryPolicy.defaultRetryableHTTPStatusCodes,
        retryableURLErrorCodes: Set<URLError.Code> = RetryPolicy.defaultRetryableURLErrorCodes,
        timing: Timing
    ) {
        precondition(exponentialBackoffBase >= 2, "The base of the waits has to be 2 or more.")
        self.retryLimit = retryLimit
        self.exponentialBackoffBase = exponentialBackoffBase
        self.exponentialBackoffScale = exponentialBackoffScale
        self.retryableHTTPMethods = retryableHTTPMethods
        self.retryableHTTPStatusCodes = retryableHTTPStatusCodes
        self.retryableURLErrorCodes = retryableURLErrorCodes
        self.timing = timing
    }

    /// Completes with `retryWithDelay`, or with `doNotRetry` after the last retry and for a permanent failure.
    open func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard request.retryCount < retryLimit, shouldRetry(request: request, dueTo: error),
            let delay = delay(
                after: request.retryCount,
                retryAfter: request.response?.value(forHTTPHeaderField: "Retry-After"),
                at: session.session.clock.date(),
                randomFraction: Double.random(in: 0...1))
        else { return completion(.doNotRetry) }
        completion(.retryWithDelay(delay))
    }

    /// Returns true if the method of the latest `URLRequest` is retryable, and the failure is retryable too. That depends on the
    /// status code of the response, or on the code of the `URLError`, which may be wrapped in an `AFError`.
    open func shouldRetry(request: Request, dueTo error: any Error) -> Bool {
        guard let method = request.request?.method, retryableHTTPMethods.contains(method) else {
            return false
        }
        if let status = request.response?.statusCode, retryableHTTPStatusCodes.contains(status) {
            return true
        }
        let urlError = error as? URLError ?? error.asAFError?.underlyingError as? URLError
        return urlError.map { retryableURLErrorCodes.contains($0.code) } ?? false
    }

    /// Returns the delay in seconds before the next retry; nil if the server requests a delay longer than `longestRetryAfter`.
    ///
    /// - Parameters:
    ///   - retries: The number of retries so far.
    ///   - retryAfter: The value of `Retry-After`, if the response has one.
    ///   - now: The present time. A date in `retryAfter` is converted to a delay from this time.
    ///   - randomFraction: A number from 0 to 1, by which the jitter is multiplied. With 0 the delay has its full length.
    func delay(
        after retries: Int, retryAfter: String?, at now: Date, randomFraction: Double
    ) -> TimeInterval? {
        let fullDelay = pow(Double(exponentialBackoffBase), Double(retries)) * exponentialBackoffScale
        let delay = fullDelay * (1 - timing.jitter * randomFraction)
        guard timing.honorsRetryAfter, let retryAfter,
            let requestedDelay = RetryAfter.seconds(of: retryAfter, at: now)
        else { return delay }
        guard requestedDelay <= timing.longestRetryAfter else { return nil }
        return max(delay, requestedDelay)
    }
}

extension RequestInterceptor where Self == RetryPolicy {
    /// A policy with the default values.
    public static var retryPolicy: RetryPolicy { RetryPolicy() }

    /// Returns a policy with these values.
    public static func retryPolicy(
        retryLimit: UInt = RetryPolicy.defaultRetryLimit,
        exponentialBackoffBase: UInt = RetryPolicy.defaultExponentialBackoffBase,
        exponentialBackoffScale: Double = RetryPolicy.defaultExponentialBackoffScale,
        retryableHTTPMethods: Set<HTTPMethod> = RetryPolicy.defaultRetryableHTTPMethods,
        retryableHTTPStatusCodes: Set<Int> = RetryPolicy.defaultRetryableHTTPStatusCodes,
        retryableURLErrorCodes: Set<URLError.Code> = RetryPolicy.defaultRetryableURLErrorCodes
    ) -> RetryPolicy {
        RetryPolicy(
            retryLimit: retryLimit, exponentialBackoffBase: exponentialBackoffBase,
            exponentialBackoffScale: exponentialBackoffScale, retryableHTTPMethods: retryableHTTPMethods,
            retryableHTTPStatusCodes: retryableHTTPStatusCodes,
            retryableURLErrorCodes: retryableURLErrorCodes)
    }
}
