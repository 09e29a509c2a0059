// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
internal import LupineLoading

/// Retries requests that failed because the machine was offline, all together as soon as it is online, or not at all if that
/// takes too long. It does not limit the number of retries; another retrier used with it may.
public final class OfflineRetrier: RequestAdapter, RequestRetrier, RequestInterceptor {
    /// The default time to wait for a connection.
    public static let defaultWait: DispatchTimeInterval = .seconds(5)
    /// The error codes that mean "offline" by default.
    public static let defaultURLErrorOfflineCodes: Set<URLError.Code> = [.notConnectedToInternet]
    /// The default check of an error: whether the error, or the innermost underlying error of an `AFError`, has one of
    /// `defaultURLErrorOfflineCodes`.
    public static let defaultIsOfflineError: @Sendable (_ error: any Error) -> Bool = { isOffline($0) }

    private static func isOffline(_ error: any Error) -> Bool {
        if let inner = (error as? AFError)?.underlyingError { return isOffline(inner) }
        return (error as? URLError).map { defaultURLErrorOfflineCodes.contains($0.code) } ?? false
    }

    /// The queue on which monitors are created and report, and on which completions are called. Each retrier has its own, since
    /// this runs the program's code, which may block.
    private let queue = DispatchQueue(label: "lupine.offline")

    private typealias Answer = @Sendable (RetryResult) -> Void

    /// A wait that is shared by all requests that fail during it.
    private struct Wait {
        let monitor: NWPathMonitor
        let cancelTimeout: @Sendable () -> Void
        var answers: [Answer]
    }

    private let monitor: @Sendable () -> NWPathMonitor
    private let maximumWait: DispatchTimeInterval
    private let isOfflineError: @Sendable (_ error: any Error) -> Bool
    private let wait = Protected<Wait?>(nil)

    /// Creates a retrier that waits with a monitor of the caller.
    ///
    /// - Parameters:
    ///   - monitor: Evaluated for each wait.
    ///   - maximumWait: The time to wait for a connection; after that the error is final.
    ///   - isOfflineError: Whether an error means "offline".
    public init(
        monitor: @autoclosure @escaping @Sendable () -> NWPathMonitor = NWPathMonitor(),
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier
            .defaultIsOfflineError
    ) {
        self.monitor = monitor
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

    deinit { end(.doNotRetry) }

    /// Completes with `doNotRetry` if the error does not mean "offline". Otherwise completes on a queue of its own, with `retry`
    /// when there is a connection, or with `doNotRetry` when the wait has timed out.
    public func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        assertNoLockIsHeld()
        guard isOfflineError(error) else { return completion(.doNotRetry) }
        let clock = session.session.clock
        queue.async { [self] in join(completion, by: clock) }
    }

    /// Adds a request to the present wait, or starts one. On the queue.
    private func join(_ answer: @escaping Answer, by clock: SessionClock) {
        let hasJoined = wait.write { wait in
            wait?.answers.append(answer)
            return wait != nil
        }
        guard !hasJoined else { return }
        assertNoLockIsHeld()
        let monitor = monitor()
        let cancelTimeout = queue.after(Duration(maximumWait), by: clock) { [weak self] in
            self?.end(.doNotRetry, of: monitor)
        }
        monitor.pathUpdateHandler = { [weak self, weak monitor] path in
            if let monitor, path.status != .unsatisfied { self?.end(.retry, of: monitor) }
        }
        wait.write(Wait(monitor: monitor, cancelTimeout: cancelTimeout, answers: [answer]))
        monitor.start(queue: queue)
    }

    /// Ends the wait that uses this monitor; without one, ends the present wait.
    private func end(_ result: RetryResult, of monitor: NWPathMonitor? = nil) {
        let ended = wait.write { wait -> Wait? in
            if let monitor, wait?.monitor !== monitor { return nil }
            defer { wait = nil }
            return wait
        }
        guard let ended else { return }
        ended.cancelTimeout()
        ended.monitor.cancel()
        queue.async { for answer in ended.answers { answer(result) } }
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
    /// Returns a retrier that waits with a monitor of the caller.
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
