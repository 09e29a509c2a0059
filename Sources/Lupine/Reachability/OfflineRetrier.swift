// SPDX-License-Identifier: MIT

public import Dispatch
public import Foundation
internal import LupineLoading

/// Retries requests that failed because the machine was not connected, as soon as it is: all of them together, and none
/// when that takes too long. It sets no limit to the number of retries: another retrier beside it may.
public final class OfflineRetrier: RequestAdapter, RequestRetrier, RequestInterceptor {
    /// How long is waited for a connection by default.
    public static let defaultWait: DispatchTimeInterval = .seconds(5)
    /// The errors that say that there is none by default.
    public static let defaultURLErrorOfflineCodes: Set<URLError.Code> = [.notConnectedToInternet]
    /// Judges an error by default: it, or what is at the bottom of an `AFError`, is one of `defaultURLErrorOfflineCodes`.
    public static let defaultIsOfflineError: @Sendable (_ error: any Error) -> Bool = { isOffline($0) }

    private static func isOffline(_ error: any Error) -> Bool {
        if let inner = (error as? AFError)?.underlyingError { return isOffline(inner) }
        return (error as? URLError).map { defaultURLErrorOfflineCodes.contains($0.code) } ?? false
    }

    /// Where the closure that makes monitors is called, monitors run and answers are given: one for each retrier, since what is
    /// called there is the program's and may block.
    private let queue = DispatchQueue(label: "lupine.offline")

    private typealias Answer = @Sendable (RetryResult) -> Void

    /// One wait, for all that failed since it began.
    private struct Wait {
        let monitor: NWPathMonitor
        let cancelTimeout: @Sendable () -> Void
        var answers: [Answer]
    }

    private let monitor: @Sendable () -> NWPathMonitor
    private let maximumWait: DispatchTimeInterval
    private let isOfflineError: @Sendable (_ error: any Error) -> Bool
    private let wait = Protected<Wait?>(nil)

    /// A retrier that waits by a monitor of the caller's.
    ///
    /// - Parameters:
    ///   - monitor: Evaluated for each wait.
    ///   - maximumWait: How long is waited for a connection; behind that the error stands.
    ///   - isOfflineError: Whether an error says that there is none.
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

    /// A retrier that waits for a way over an interface of one type.
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

    /// A retrier that waits for a way over an interface of any type but these.
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

    /// Answers `doNotRetry` for an error that says nothing of connections; else, on a queue of its own, `retry` when there
    /// is one, and `doNotRetry` when the wait is over.
    public func retry(
        _ request: Request, for session: Session, dueTo error: any Error,
        completion: @escaping @Sendable (RetryResult) -> Void
    ) {
        assertNoLockIsHeld()
        guard isOfflineError(error) else { return completion(.doNotRetry) }
        let clock = session.session.clock
        queue.async { [self] in join(completion, by: clock) }
    }

    /// On the queue.
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

    /// Ends the wait that has this monitor, or the present one.
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
    /// A retrier that waits by a monitor of the caller's.
    public static func offlineRetrier(
        monitor: @autoclosure @escaping @Sendable () -> NWPathMonitor = NWPathMonitor(),
        maximumWait: DispatchTimeInterval = OfflineRetrier.defaultWait,
        isOfflineError: @escaping @Sendable (_ error: any Error) -> Bool = OfflineRetrier
            .defaultIsOfflineError
    ) -> OfflineRetrier {
        OfflineRetrier(monitor: monitor(), maximumWait: maximumWait, isOfflineError: isOfflineError)
    }

    /// A retrier that waits for a way over an interface of one type.
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

    /// A retrier that waits for a way over an interface of any type but these.
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
