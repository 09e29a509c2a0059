// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Glibc
import LupineCommand

/// Creates the context of this process: its environment, its three standard files, its terminal and its signals.
enum CurrentProcess {
    static func make() -> ProcessContext {
        ProcessContext(
            environment: ProcessInfo.processInfo.environment,
            folder: FileManager.default.currentDirectoryPath,
            input: input(), output: sink(STDOUT_FILENO), errors: sink(STDERR_FILENO))
    }

    /// Forwards SIGINT and SIGTERM to `interruption`. A second signal ends the process at once. Once this returns, no signal is
    /// missed.
    static func watchInterrupts(_ interruption: Interruption) -> any DispatchSourceSignal {
        let isWatching = DispatchSemaphore(value: 0)
        let queue = DispatchQueue(label: "lupine.signals")
        for number in [SIGINT, SIGTERM] { signal(number, SIG_IGN) }
        let terminations = DispatchSource.makeSignalSource(signal: SIGTERM, queue: queue)
        terminations.setEventHandler { Self.interrupt(interruption, status: 143) }
        terminations.setRegistrationHandler { isWatching.signal() }
        terminations.resume()
        let interrupts = DispatchSource.makeSignalSource(signal: SIGINT, queue: queue)
        interrupts.setEventHandler {
            withExtendedLifetime(terminations) { Self.interrupt(interruption, status: 130) }
        }
        interrupts.setRegistrationHandler { isWatching.signal() }
        interrupts.resume()
        for _ in 0..<2 { isWatching.wait() }
        return interrupts
    }

    /// The first signal notifies the listeners. If there are none yet, or on the second signal, the process exits without
    /// waiting.
    private static func interrupt(_ interruption: Interruption, status: Int32) {
        guard interruption.hasCome || !interruption.interrupt() else { return }
        interruption.leave()
        Terminal.exit(status)
    }

    private static func sink(_ number: Int32) -> ProcessContext.Sink {
        let handle = FileHandle(fileDescriptor: number, closeOnDealloc: false)
        return ProcessContext.Sink(
            isTerminal: isatty(number) == 1, columns: { Terminal.columns(of: number) },
            write: { data in try handle.write(contentsOf: data) })
    }

    private static func input() -> ProcessContext.Input {
        let handle = FileHandle(fileDescriptor: STDIN_FILENO, closeOnDealloc: false)
        return ProcessContext.Input(
            kind: Terminal.kind(of: STDIN_FILENO), path: "/dev/stdin",
            read: { () throws -> Data? in
                let data = try handle.read(upToCount: 1)
                guard let data, !data.isEmpty else { return nil }
                return data + handle.availableRest
            },
            readSecret: { Terminal.readSecret() })
    }
}

extension FileHandle {
    /// The bytes that can be read without blocking.
    fileprivate var availableRest: Data { Terminal.waitingBytes(fileDescriptor) }
}
