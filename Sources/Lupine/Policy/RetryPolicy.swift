// SPDX-License-Identifier: MIT

public import Foundation
internal import LupineLoading

/// Retries requests that failed for a reason that may pass, a few times and after waits that grow: those of methods that are
/// idempotent, answered with a status that says so or not at all.
///
/// The wait is `base` to the power of the number of retries, times `scale` seconds. What `Timing` adds is off by default.
/// It can be subclassed, so the compiler cannot see that it is `Sendable`: it stores constants.
open class RetryPolicy: @unchecked Sendable, RequestInterceptor {
    /// How often a request is retried by default.
    public static let defaultRetryLimit: UInt = 2
    /// The base of the waits by default.
    public static let defaultExponentialBackoffBase: UInt = 2
    /// The seconds of the first wait by default.
    public static let defaultExponentialBackoffScale: Double = 0.5
    /// The methods that are retried by default: those that are idempotent (RFC 9110 §9.2.2).
    public static let defaultRetryableHTTPMethods: Set<HTTPMethod> = [
        .delete, .get, .head, .options, .put, .trace,
    ]
    /// The statuses that are retried by default.
    public static let defaultRetryableHTTPStatusCodes: Set<Int> = [408, 500, 502, 503, 504]
    /// The errors that are retried by default: those that another attempt may not meet.
    public static let defaultRetryableURLErrorCodes: Set<URLError.Code> = [
        .backgroundSessionInUseByAnotherProcess, .backgroundSessionWasDisconnected, .badServerResponse,
        .callIsActive, .cannotConnectToHost, .cannotFindHost, .cannotLoadFromNetwork, .dataNotAllowed,
        .dnsLookupFailed, .downloadDecodingFailedMidStream, .downloadDecodingFailedToComplete,
        .internationalRoamingOff, .networkConnectionLost, .notConnectedToInternet, .secureConnectionFailed,
        .serverCertificateHasBadDate, .serverCertificateNotYetValid, .timedOut,
    ]

    /// How waits differ from the powers of the base.
    public struct Timing: Hashable, Sendable {
        /// The part of each wait that chance decides about: with 0 none, with 1 it is anything between nothing and the whole.
        /// It keeps clients that failed together from coming back together.
        public var jitter: Double
        /// Whether a wait is as long as the `Retry-After` of the response says, where that is longer.
        public var honorsRetryAfter: Bool
        /// The longest `Retry-After` that is waited for; with a longer one there is no retry.
        public var longestRetryAfter: TimeInterval

        /// No jitter, and `Retry-After` counts for nothing, unless other values are given.
        public init(
            jitter: Double = 0, honorsRetryAfter: Bool = false, longestRetryAfter: TimeInterval = 60
        ) {
            self.jitter = min(max(jitter, 0), 1)
            self.honorsRetryAfter = honorsRetryAfter
            self.longestRetryAfter = longestRetryAfter
        }
    }

    /// How often a request is retried.
    public let retryLimit: UInt
    /// The base of the waits.
    public let exponentialBackoffBase: UInt
    /// The seconds of the first wait.
    public let exponentialBackoffScale: Double
    /// The methods that are retried.
    public let retryableHTTPMethods: Set<HTTPMethod>
    /// The statuses that are retried.
    public let retryableHTTPStatusCodes: Set<Int>
    /// The errors that are retried.
    public let retryableURLErrorCodes: Set<URLError.Code>
    /// How waits differ from the powers of the base.
    public let timing: Timing

    /// A policy of these values. A base below 2 stops the program.
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

    /// A policy of these values, whose waits are timed so. A base below 2 stops the program.
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

    /// Answers `retryWithDelay`, or `doNotRetry` behind the last retry and for a failure that stays.
    open func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        guard request.retryCount < retryLimit, shouldRetry(request: request, dueTo: error),
            let delay = delay(
                after: request.retryCount,
                retryAfter: request.response?.value(forHTTPHeaderField: "Retry-After"),
                at: session.session.clock.date(),
                chance: Double.random(in: 0...1))
        else { return completion(.doNotRetry) }
        completion(.retryWithDelay(delay))
    }

    /// Whether a failure may pass: the method of the latest `URLRequest` has to be one that is retried, and then the status
    /// of the response, or the code of a `URLError`, which may be inside of an `AFError`.
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

    /// The seconds to wait behind so many retries; nil when the server asks for too many. `chance` is from 0 to 1.
    func delay(
        after retries: Int, retryAfter: String?, at now: Date, chance: Double
    ) -> TimeInterval? {
        let whole = pow(Double(exponentialBackoffBase), Double(retries)) * exponentialBackoffScale
        let wait = whole * (1 - timing.jitter * chance)
        guard timing.honorsRetryAfter, let asked = retryAfter.flatMap({ RetryAfter.seconds(of: $0, at: now) })
        else { return wait }
        guard asked <= timing.longestRetryAfter else { return nil }
        return max(wait, asked)
    }
}

extension RequestInterceptor where Self == RetryPolicy {
    /// A policy of the default values.
    public static var retryPolicy: RetryPolicy { RetryPolicy() }

    /// A policy of these values.
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
