// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
internal import LupineLoading

/// Retries requests that failed because the machine was offline. It retries all of them as soon as the machine is online, or none
/// if that takes longer than the maximum wait. It does not limit the number of retries; combine it with another retrier to do
/// that.
public final class OfflineRetrier: RequestAdapter, RequestRetrier, RequestInterceptor {
    /// The default of the maximum time to wait for a connection.
    public static let defaultWait: DispatchTimeInterval = .seconds(5)
    /// The error codes that mean "offline" by default.
    public static let defaultURLErrorOfflineCodes: Set<URLError.Code> = [.notConnectedToInternet]
    /// The default check of an error: whether the error, or the innermost underlying error of an `AFError`, has one of
    /// `defaultURLErrorOfflineCodes`.
    public static let defaultIsOfflineError: @Sendable (_ error: any Error) -> Bool = { isOffline($0) }

    private static func isOffline(_ error: any Error) -> Bool {
        if let inner = (error as? AFError)?.underlyingError { return isOffline(inner) }
        guard let urlError = error as? URLError else { return false }
        return defaultURLErrorOfflineCodes.contains(urlError.code)
    }

    /// The queue on which monitors are created and report, and on which completions are called. Each retrier has its own queue,
    /// since the program's code runs on it, which may block.
    private let queue = DispatchQueue(label: "lupine.offline")

    private typealias Completion = @Sendable (RetryResult) -> Void

    /// A wait for a connection, which all requests share that fail during it.
    private struct Wait {
        let monitor: NWPathMonitor
        let cancelTimeout: @Sendable () -> Void
        /// The completions of the requests' calls of `retry`.
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

    /// Adds a request to the present wait, or begins a wait. On the queue.
    private func awaitConnection(_ completion: @escaping Completion, by clock: SessionClock) {
        let hasJoined = wait.write { wait in
            wait?.completions.append(completion)
            return wait != nil
        }
        guard !hasJoined else { return }
        assertNoLockIsHeld()
        let monitor = makeMonitor()
        let cancelTimeout = queue.after(Duration(maximumWait), by: clock) { [weak self] in
            self?.endWait(of: monitor, with: .doNotRetry)
        }
        monitor.pathUpdateHandler = { [weak self, weak monitor] path in
            // The first path, of the moment when the monitor is started, may already be satisfied.
            if let monitor, path.status != .unsatisfied { self?.endWait(of: monitor, with: .retry) }
        }
        wait.write(Wait(monitor: monitor, cancelTimeout: cancelTimeout, completions: [completion]))
        monitor.start(queue: queue)
    }

    /// Ends the present wait, if it uses this monitor or no monitor is given, and completes its requests with the result.
    private func endWait(of monitor: NWPathMonitor? = nil, with result: RetryResult) {
        let ended = wait.write { wait -> Wait? in
            if let monitor, wait?.monitor !== monitor { return nil }
            defer { wait = nil }
            return wait
        }
        guard let ended else { return }
        ended.cancelTimeout()
        ended.monitor.cancel()
        queue.async { for completion in ended.completions { completion(result) } }
    }
}

extension Duration {
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
