// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Glibc
import LupineCommand

/// Creates the context of this process: its environment, its three standard files, its terminal and its signals.
enum CurrentProcess {
    /// Creates the context.
    static func make() -> ProcessContext {
        ProcessContext(
            environment: ProcessInfo.processInfo.environment,
            folder: FileManager.default.currentDirectoryPath,
            input: input(), output: sink(STDOUT_FILENO), errors: sink(STDERR_FILENO))
    }

    /// Forwards SIGINT and SIGTERM to `interruption`; a second signal ends the process immediately. Signals that arrive after
    /// this returns are not missed.
    static func watchInterrupts(_ interruption: Interruption) -> any DispatchSourceSignal {
        let isRegistered = DispatchSemaphore(value: 0)
        let queue = DispatchQueue(label: "lupine.signals")
        for signalNumber in [SIGINT, SIGTERM] { signal(signalNumber, SIG_IGN) }
        let terminations = DispatchSource.makeSignalSource(signal: SIGTERM, queue: queue)
        terminations.setEventHandler { Self.interrupt(interruption, status: 143) }
        terminations.setRegistrationHandler { isRegistered.signal() }
        terminations.resume()
        let interrupts = DispatchSource.makeSignalSource(signal: SIGINT, queue: queue)
        interrupts.setEventHandler {
            withExtendedLifetime(terminations) { Self.interrupt(interruption, status: 130) }
        }
        interrupts.setRegistrationHandler { isRegistered.signal() }
        interrupts.resume()
        for _ in 0..<2 { isRegistered.wait() }
        return interrupts
    }

    /// Notifies the listeners on the first signal. If there are none yet, or on the second signal, ends the process immediately
    /// with `status`.
    private static func interrupt(_ interruption: Interruption, status: Int32) {
        guard interruption.hasOccurred || !interruption.interrupt() else { return }
        interruption.runCleanups()
        Terminal.exit(status)
    }

    /// Creates the sink of an open file.
    private static func sink(_ descriptor: Int32) -> ProcessContext.Sink {
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        return ProcessContext.Sink(
            isTerminal: isatty(descriptor) == 1, columns: { Terminal.columns(of: descriptor) },
            write: { data in try handle.write(contentsOf: data) })
    }

    private static func input() -> ProcessContext.Input {
        let handle = FileHandle(fileDescriptor: STDIN_FILENO, closeOnDealloc: false)
        return ProcessContext.Input(
            kind: Terminal.kind(of: STDIN_FILENO), path: "/dev/stdin",
            read: { () throws -> Data? in
                // Blocks for the first byte only.
                let firstByte = try handle.read(upToCount: 1)
                guard let firstByte, !firstByte.isEmpty else { return nil }
                return firstByte + Terminal.availableBytes(STDIN_FILENO)
            },
            readSecret: { Terminal.readSecret() })
    }
}
