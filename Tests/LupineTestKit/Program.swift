// SPDX-License-Identifier: MIT

import Dispatch
import Glibc

/// Runs another program to its end, in a state that does not depend on the test's process.
///
/// It starts with no signal blocked, handled or ignored, whatever the state of the calling thread. Foundation's `Process` is not
/// used: each instance retains itself for ever, which LeakSanitizer reports.
package enum Program {
    /// The way in which a program ended.
    package enum End: Hashable, Sendable {
        /// By itself, with this status.
        case exited(Int32)
        /// By a signal of this number.
        case killed(Int32)
    }

    /// The reason why a program could not be run: the error number of the call that failed.
    package struct Failure: Error {
        /// The error number.
        package let code: Int32
    }

    /// Runs `path`, which is searched in `PATH` if it has no slash. The environment is the test's, with `variables` added.
    package static func run(
        _ path: String, _ arguments: [String] = [], variables: [String: String] = [:]
    ) async throws -> End {
        let id = try spawn(path, arguments, variables)
        return try await withCheckedThrowingContinuation { continuation in
            // A separate queue, so that no thread of Swift's tasks is blocked.
            DispatchQueue(label: "program").async { continuation.resume(with: Result { try wait(for: id) }) }
        }
    }

    private static func spawn(
        _ path: String, _ arguments: [String], _ variables: [String: String]
    ) throws -> pid_t {
        var attributes = posix_spawnattr_t()
        try check(unsafe posix_spawnattr_init(&attributes))
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        try check(unsafe posix_spawnattr_setsigmask(&attributes, &none))
        try check(unsafe posix_spawnattr_setsigdefault(&attributes, &all))
        try check(
            unsafe posix_spawnattr_setflags(
                &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF)))

        var list = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
        var environment = unsafe environment(with: variables)
        defer {
            for index in unsafe list.indices { unsafe free(list[index]) }
            for index in unsafe environment.indices { unsafe free(environment[index]) }
        }
        var id = pid_t()
        try check(unsafe posix_spawnp(&id, path, nil, &attributes, &list, &environment))
        return id
    }

    private static func environment(with variables: [String: String]) -> [UnsafeMutablePointer<CChar>?] {
        var entries: [String] = []
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            entries.append(unsafe String(cString: entry))
            unsafe next += 1
        }
        entries.removeAll { entry in variables.keys.contains { entry.hasPrefix($0 + "=") } }
        entries += variables.map { "\($0)=\($1)" }
        return unsafe entries.map { unsafe strdup($0) } + [nil]
    }

    private static func wait(for id: pid_t) throws -> End {
        var status: Int32 = 0
        while unsafe waitpid(id, &status, 0) < 0 {
            guard errno == EINTR else { throw Failure(code: errno) }
        }
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal)
    }

    private static func check(_ code: Int32) throws {
        guard code == 0 else { throw Failure(code: code) }
    }
}
