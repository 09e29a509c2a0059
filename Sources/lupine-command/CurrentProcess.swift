// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Glibc
import LupineCommand

/// Connects the command to this process: to its environment, its standard files, its terminal and its signals.
enum CurrentProcess {
    /// Returns the context of this process, with its environment, its current directory and its standard files.
    static func makeContext() -> ProcessContext {
        ProcessContext(
            environment: ProcessInfo.processInfo.environment,
            folder: FileManager.default.currentDirectoryPath,
            input: input(), output: sink(STDOUT_FILENO), errors: sink(STDERR_FILENO))
    }

    /// Forwards SIGINT and SIGTERM to `interruption`; a second signal ends the process immediately. Signals that arrive after
    /// this function returns are not missed.
    ///
    /// - Parameter interruption: The interruption whose listeners are notified, on a queue that only handles signals.
    /// - Returns: The source of the signals. The signals are watched until the source is cancelled or released.
    static func watchSignals(_ interruption: Interruption) -> any DispatchSourceSignal {
        let registrations = DispatchSemaphore(value: 0)
        let queue = DispatchQueue(label: "lupine.signals")
        // Without this the signals would end the process before the sources report them.
        for signalNumber in [SIGINT, SIGTERM] { signal(signalNumber, SIG_IGN) }
        let terminationSource = DispatchSource.makeSignalSource(signal: SIGTERM, queue: queue)
        terminationSource.setEventHandler { Self.interrupt(interruption, status: 128 + SIGTERM) }
        terminationSource.setRegistrationHandler { registrations.signal() }
        terminationSource.resume()
        let interruptSource = DispatchSource.makeSignalSource(signal: SIGINT, queue: queue)
        interruptSource.setEventHandler {
            // The source of SIGTERM lives as long as this handler, and so as long as the returned source.
            withExtendedLifetime(terminationSource) {
                Self.interrupt(interruption, status: 128 + SIGINT)
            }
        }
        interruptSource.setRegistrationHandler { registrations.signal() }
        interruptSource.resume()
        // One registration for each source.
        for _ in 0..<2 { registrations.wait() }
        return interruptSource
    }

    /// Handles a signal. The first one notifies the listeners of `interruption`. If it has no listeners yet, or on the second
    /// signal, the process ends immediately.
    ///
    /// - Parameters:
    ///   - interruption: The interruption.
    ///   - status: The exit status of a process that ends immediately: 128 and the number of the signal, as shells report it.
    private static func interrupt(_ interruption: Interruption, status: Int32) {
        // `interrupt()` notifies the listeners, and returns false if there are none. The second signal does not call it.
        let hasNotified = !interruption.hasOccurred && interruption.interrupt()
        if hasNotified { return }
        interruption.runCleanups()
        Terminal.exit(status)
    }

    /// Returns the sink that writes to an open file.
    private static func sink(_ descriptor: Int32) -> ProcessContext.Sink {
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
        return ProcessContext.Sink(
            isTerminal: isatty(descriptor) == 1, columns: { Terminal.columns(of: descriptor) },
            write: { data in try handle.write(contentsOf: data) })
    }

    /// Returns the input that reads the standard input.
    private static func input() -> ProcessContext.Input {
        let handle = FileHandle(fileDescriptor: STDIN_FILENO, closeOnDealloc: false)
        return ProcessContext.Input(
            kind: Terminal.kind(of: STDIN_FILENO), path: "/dev/stdin",
            read: { () throws -> Data? in
                // `FileHandle` waits until it has read as many bytes as requested, so it reads one byte. The bytes that have
                // arrived with this byte are then read without waiting for more.
                let firstByte = try handle.read(upToCount: 1)
                guard let firstByte, !firstByte.isEmpty else { return nil }
                return firstByte + Terminal.availableBytes(STDIN_FILENO)
            },
            readSecret: { Terminal.readSecret() })
    }
}
