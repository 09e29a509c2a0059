// SPDX-License-Identifier: MIT

internal import CLupineLinux
internal import Glibc

/// Starts, joins and identifies the threads of the transport.
///
/// Each of these threads starts with all signals blocked: signal handlers of the program never run on it, and a `sendfile`,
/// `splice` or TLS write to a peer that has reset the connection cannot raise SIGPIPE. The process-wide disposition of a signal
/// is never changed.
enum NativeThread {
    /// A thread that is to be joined.
    struct Handle: Sendable {
        fileprivate let thread: pthread_t
    }

    /// What a new thread runs, and the thread's name.
    private final class Body: Sendable {
        let run: @Sendable () -> Void
        let name: String

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// The calling thread, as a number that is unique among living threads and never 0.
    @inline(__always)
    static var current: UInt { UInt(pthread_self()) }

    /// Whether the calling thread runs an event loop, where nothing may block.
    static var isLoop: Bool { unsafe lupine_loop_of_thread() != nil }

    /// The event loop that the calling thread runs, or nil.
    static var loop: AnyObject? {
        unsafe lupine_loop_of_thread().map {
            unsafe Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// Sets the event loop that the calling thread runs. The loop is not retained: the caller must set nil before the loop is
    /// released.
    static func mark(asLoop loop: AnyObject?) {
        unsafe lupine_mark_loop_thread(loop.map { unsafe Unmanaged.passUnretained($0).toOpaque() })
    }

    /// The number of processors that this process may use; at least 1.
    static var usableCores: Int { max(1, Int(lupine_usable_cores())) }

    /// Starts a thread that must be joined. The kernel stores at most 15 bytes of the name.
    static func start(
        name: String, _ body: @escaping @Sendable () -> Void
    ) throws(Errno) -> Handle {
        var allSignals = sigset_t()
        var previousMask = sigset_t()
        unsafe sigfillset(&allSignals)
        // The new thread inherits this signal mask, so that no signal can be delivered to it, not even before its body runs.
        unsafe pthread_sigmask(SIG_SETMASK, &allSignals, &previousMask)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &previousMask, nil) }

        // The new thread releases this reference; if the thread does not start, the code below does.
        let box = unsafe Unmanaged.passRetained(Body(name: name, run: body))
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let body = unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
                // The result is ignored: a thread without a name works too.
                _ = unsafe lupine_name_thread(String(decoding: body.name.utf8.prefix(15), as: UTF8.self))
                body.run()
                return nil
            }, box.toOpaque())
        guard result == 0 else {
            unsafe box.release()
            throw Errno(rawValue: result)
        }
        return Handle(thread: thread)
    }

    /// Starts a thread that is never joined. The process may exit while it runs.
    static func startDetached(name: String, _ body: @escaping @Sendable () -> Void) throws(Errno) {
        let handle = try start(name: name, body)
        // The result is ignored: the call fails only for a handle that was joined or detached before.
        _ = pthread_detach(handle.thread)
    }

    /// Suspends the calling thread, without using a descriptor.
    ///
    /// The result of `usleep` is ignored: a pause that a signal ends early does no harm.
    static func pause(milliseconds: UInt32) { _ = usleep(milliseconds * 1_000) }

    /// Waits until the thread has ended. Called once per handle.
    static func join(_ handle: Handle) {
        precondition(pthread_equal(handle.thread, pthread_self()) == 0, "a thread cannot wait for itself")
        pthread_join(handle.thread, nil)
    }
}
