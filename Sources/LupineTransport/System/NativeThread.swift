// SPDX-License-Identifier: MIT

internal import CLupineLinux
internal import Glibc

/// Starts and joins the threads of the transport, and tells one from another.
///
/// Every thread of ours starts with all signals blocked: handlers of the host program never run on it, and a
/// `sendfile`, `splice` or TLS write to a reset peer cannot raise SIGPIPE there. The process-wide
/// disposition of a signal is never touched.
enum NativeThread {
    /// A thread that is to be joined.
    struct Handle: Sendable {
        fileprivate let thread: pthread_t
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        let name: String

        init(name: String, run: @escaping @Sendable () -> Void) {
            self.name = name
            self.run = run
        }
    }

    /// The calling thread, as a number that differs from every other living thread's; never 0.
    @inline(__always)
    static var current: UInt { UInt(pthread_self()) }

    /// Whether the calling thread runs an event loop: what waits, blocking, must not do so there.
    static var isLoop: Bool { unsafe lupine_loop_of_thread() != nil }

    /// The event loop that the calling thread runs; nil for none.
    static var loop: AnyObject? {
        unsafe lupine_loop_of_thread().map {
            unsafe Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue()
        }
    }

    /// Says which event loop the calling thread runs. It outlives the mark: nil takes that away before the loop may go.
    static func mark(asLoop loop: AnyObject?) {
        unsafe lupine_mark_loop_thread(loop.map { unsafe Unmanaged.passUnretained($0).toOpaque() })
    }

    /// Processors that this process may use.
    static var usableCores: Int { max(1, Int(lupine_usable_cores())) }

    /// Starts a thread that must be joined. Names are cut to the 15 bytes that the kernel keeps.
    static func start(
        name: String, _ body: @escaping @Sendable () -> Void
    ) throws(Errno) -> Handle {
        var everything = sigset_t()
        var before = sigset_t()
        unsafe sigfillset(&everything)
        // A thread inherits the mask of its maker, so there is no moment at which it could take a signal.
        unsafe pthread_sigmask(SIG_SETMASK, &everything, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }

        let box = unsafe Unmanaged.passRetained(Body(name: name, run: body))
        var thread = pthread_t()
        let result = unsafe pthread_create(
            &thread, nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                let body = unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue()
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

    /// Starts a thread that nobody waits for: it may be in the middle of a call when the process ends.
    static func startDetached(name: String, _ body: @escaping @Sendable () -> Void) throws(Errno) {
        let handle = try start(name: name, body)
        _ = pthread_detach(handle.thread)
    }

    /// Has the calling thread do nothing for so long, without a descriptor.
    static func pause(milliseconds: UInt32) { _ = usleep(milliseconds * 1_000) }

    /// Waits until the thread has ended. Once per handle.
    static func join(_ handle: Handle) {
        precondition(pthread_equal(handle.thread, pthread_self()) == 0, "a thread cannot wait for itself")
        pthread_join(handle.thread, nil)
    }
}
