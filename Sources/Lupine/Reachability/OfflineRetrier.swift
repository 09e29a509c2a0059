// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
internal import LupineLoading

/// Retries requests that failed because the machine was offline. It retries all of them as soon as the machine is online. If that
/// takes longer than the maximum wait, it retries none of them. It does not limit the number of retries: combine it with another
/// retrier to limit them.
public final class OfflineRetrier: RequestAdapter, RequestRetrier, RequestInterceptor {
    /// The default maximum time to wait for a connection: five seconds.
    public static let defaultWait: DispatchTimeInterval = .seconds(5)
    /// The error codes that mean "offline" by default.
    public static let defaultURLErrorOfflineCodes: Set<URLError.Code> = [.notConnectedToInternet]
    /// The default check of an error: whether the error, or the innermost underlying error of an `AFError`, has one of
    /// `defaultURLErrorOfflineCodes`.
    public static let defaultIsOfflineError: @Sendable (_ error: any Error) -> Bool = { isOffline($0) }

    /// Whether the error, or the innermost underlying error of an `AFError`, has one of the default codes.
    private static func isOffline(_ error: any Error) -> Bool {
        if let inner = (error as? AFError)?.underlyingError { return isOffline(inner) }
        guard let urlError = error as? URLError else { return false }
        return defaultURLErrorOfflineCodes.contains(urlError.code)
    }

    /// The queue on which monitors are created and report, and on which completions are called. Each retrier has its own queue,
    /// since the program's code runs on it, which may block.
    private let queue = DispatchQueue(label: "lupine.offline")

    /// The completion of a call of `retry`.
    private typealias Completion = @Sendable (RetryResult) -> Void

    /// A wait for a connection. All requests that fail while it lasts share it.
    private struct Wait {
        let monitor: NWPathMonitor
        /// Cancels the timer that ends the wait after the maximum time.
        let cancelTimeout: @Sendable () -> Void
        /// The completions of the requests that wait.
        var completions: [Completion]
    }

    private let makeMonitor: @Sendable () -> NWPathMonitor
    private let maximumWait: DispatchTimeInterval
    private let isOfflineError: @Sendable (_ error: any Error) -> Bool
    /// The present wait; nil if no request waits.
    private let wait = Protected<Wait?>(nil)

    /// Creates a retrier that waits for a path which the caller's monitor reports.
    ///
    /// - Parameters:
    ///   - monitor: The monitor; evaluated for each wait.
    ///   - maximumWait: The maximum time to wait for a connection; after that the error is final.
    ///   - isOfflineError: Returns whether an error means that the machine is offline.
    public init(
        monitor: @autoclosure @escaping @Sendable () -> NWPathMonitor = NWPathMonitor(),
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier
            .defaultIsOfflineError
    ) {
        makeMonitor = monitor
        self.maximumWait = maximumWait
        self.isOfflineError = isOfflineError
    }

    /// Creates a retrier that waits for a path over an interface of one type.
    public convenience init(
        requiredInterfaceType: NWInterface.InterfaceType,
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier
            .defaultIsOfflineError
    ) {
        self.init(
            monitor: NWPathMonitor(requiredInterfaceType: requiredInterfaceType), maximumWait: maximumWait,
            isOfflineError: isOfflineError)
    }

    /// Creates a retrier that waits for a path over an interface of any type except these.
    public convenience init(
        prohibitedInterfaceTypes: [NWInterface.InterfaceType],
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier
            .defaultIsOfflineError
    ) {
        self.init(
            monitor: NWPathMonitor(prohibitedInterfaceTypes: prohibitedInterfaceTypes),
            maximumWait: maximumWait,
            isOfflineError: isOfflineError)
    }

    deinit { endWait(with: .doNotRetry) }

    /// Completes with `doNotRetry` if the error does not mean that the machine is offline. Otherwise completes on the retrier's
    /// queue, with `retry` when there is a connection, or with `doNotRetry` when the wait has timed out.
    public func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        assertNoLockIsHeld()
        guard isOfflineError(error) else { return completion(.doNotRetry) }
        let clock = session.session.clock
        queue.async { [self] in awaitConnection(completion, by: clock) }
    }

    /// Adds a request to the present wait, or begins a wait. Called on `queue`, so that no two calls begin a wait.
    private func awaitConnection(_ completion: @escaping Completion, by clock: SessionClock) {
        let hasJoined = wait.write { wait in
            wait?.completions.append(completion)
            return wait != nil
        }
        if hasJoined { return }
        assertNoLockIsHeld()
        let monitor = makeMonitor()
        let cancelTimeout = queue.after(Duration(maximumWait), by: clock) { [weak self] in
            self?.endWait(of: monitor, with: .doNotRetry)
        }
        monitor.pathUpdateHandler = { [weak self, weak monitor] path in
            // The first path, which the monitor reports as soon as it is started, may already be satisfied.
            if let monitor, path.status != .unsatisfied { self?.endWait(of: monitor, with: .retry) }
        }
        wait.write(Wait(monitor: monitor, cancelTimeout: cancelTimeout, completions: [completion]))
        monitor.start(queue: queue)
    }

    /// Ends the present wait and completes its requests with the result. If a monitor is passed, does nothing unless the present
    /// wait uses that monitor: the call may come from an earlier wait.
    private func endWait(of monitor: NWPathMonitor? = nil, with result: RetryResult) {
        let endedWait = wait.write { wait -> Wait? in
            if let monitor, wait?.monitor !== monitor { return nil }
            defer { wait = nil }
            return wait
        }
        guard let endedWait else { return }
        endedWait.cancelTimeout()
        endedWait.monitor.cancel()
        queue.async { for completion in endedWait.completions { completion(result) } }
    }
}

extension Duration {
    /// Converts a time interval of Dispatch. `never` becomes a duration that does not elapse in practice.
    fileprivate init(_ interval: DispatchTimeInterval) {
        self =
            switch interval {
            case .seconds(let count): .seconds(count)
            case .milliseconds(let count): .milliseconds(count)
            case .microseconds(let count): .microseconds(count)
            case .nanoseconds(let count): .nanoseconds(count)
            case .never: .seconds(Int64.max)
            @unknown default: .zero
            }
    }
}

extension RequestInterceptor where Self == OfflineRetrier {
    /// Returns a retrier that waits for a path which the caller's monitor reports.
    public static func offlineRetrier(
        monitor: @autoclosure @escaping @Sendable () -> NWPathMonitor = NWPathMonitor(),
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier
            .defaultIsOfflineError
    ) -> OfflineRetrier {
        // The argument is an autoclosure: the retrier calls `monitor` for each wait.
        OfflineRetrier(monitor: monitor(), maximumWait: maximumWait, isOfflineError: isOfflineError)
    }

    /// Returns a retrier that waits for a path over an interface of one type.
    public static func offlineRetrier(
        requiredInterfaceType: NWInterface.InterfaceType,
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier
            .defaultIsOfflineError
    ) -> OfflineRetrier {
        OfflineRetrier(
            requiredInterfaceType: requiredInterfaceType, maximumWait: maximumWait,
            isOfflineError: isOfflineError)
    }

    /// Returns a retrier that waits for a path over an interface of any type except these.
    public static func offlineRetrier(
        prohibitedInterfaceTypes: [NWInterface.InterfaceType],
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier
            .defaultIsOfflineError
    ) -> OfflineRetrier {
        OfflineRetrier(
            prohibitedInterfaceTypes: prohibitedInterfaceTypes, maximumWait: maximumWait,
            isOfflineError: isOfflineError)
    }
}
