// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import LupineCommand

/// System calls for the terminal and for the standard input.
enum Terminal {
    /// Returns the number of columns of a terminal; for any other file the value of the environment variable `COLUMNS`, or 80.
    static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        let result = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size)
        if result == 0, size.ws_col > 0 { return Int(size.ws_col) }
        let variable = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }
        // A value below 10, such as zero or a negative number, is no useful width.
        return variable.map { max(10, $0) } ?? 80
    }

    /// Returns whether a descriptor is a terminal, a pipe, a regular file or another file.
    static func kind(of descriptor: Int32) -> ProcessContext.Input.Kind {
        if isatty(descriptor) == 1 { return .terminal }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return .other }
        switch status.st_mode & S_IFMT {
        case S_IFIFO, S_IFSOCK: return .pipe
        case S_IFREG: return .file
        default: return .other
        }
    }

    /// Returns the bytes that can be read without blocking, at most 64 KiB.
    static func availableBytes(_ descriptor: Int32) -> Data {
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&request, 1, 0) == 1 else { return Data() }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        return count > 0 ? Data(buffer[..<count]) : Data()
    }

    /// The terminal's settings before `readSecret` turned echo off; nil while echo is on.
    private static let savedSettings = Guarded<termios?>(nil)

    /// Reads a line from the terminal without echo; returns an empty text at the end of the input. A thread that ends the process
    /// in the meantime must do so by `Terminal.exit`, which turns echo on again.
    static func readSecret() -> String {
        savedSettings.withLock { savedSettings in
            var settings = termios()
            // Settings that cannot be read cannot be restored, so echo stays on.
            guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
            savedSettings = settings
            settings.c_lflag &= ~tcflag_t(ECHO)
            // An error is ignored: then the terminal echoes the line.
            _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        }
        defer { savedSettings.withLock { restoreEcho(&$0) } }
        return readLine() ?? ""
    }

    /// Turns echo on again and ends the process immediately, without the handlers of `atexit`. Holds the lock until the end, so
    /// that no other thread turns echo off in between.
    static func exit(_ status: Int32) -> Never {
        savedSettings.withLock { savedSettings in
            restoreEcho(&savedSettings)
            _exit(status)
        }
    }

    /// Restores the terminal's settings if echo is off. Afterwards `savedSettings` is nil.
    private static func restoreEcho(_ savedSettings: inout termios?) {
        guard var settings = savedSettings.take() else { return }
        // An error is ignored: nothing else could restore the settings.
        _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    }
}
