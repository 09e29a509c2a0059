// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import LupineCommand

/// Properties of a descriptor and its terminal, as the kernel reports them.
enum Terminal {
    /// Returns the number of columns of a terminal; for another file the value of `COLUMNS`, or 80.
    static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        let result = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size)
        if result == 0, size.ws_col > 0 { return Int(size.ws_col) }
        return ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }.map { max(10, $0) } ?? 80
    }

    /// Returns the kind of an input.
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
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe Glibc.poll(&poll, 1, 0) == 1 else { return Data() }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        return count > 0 ? Data(buffer[..<count]) : Data()
    }

    /// The terminal's settings before echo was turned off; nil while echo is on.
    private static let savedSettings = Guarded<termios?>(nil)

    /// Reads a line from the terminal without echo. A thread that ends the process in the meantime must do so by `exit`, which
    /// restores echo.
    static func readSecret() -> String {
        savedSettings.withLock { savedSettings in
            var settings = termios()
            guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
            savedSettings = settings
            settings.c_lflag &= ~tcflag_t(ECHO)
            _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        }
        defer { savedSettings.withLock { restoreEcho(&$0) } }
        return readLine() ?? ""
    }

    /// Restores echo and ends the process immediately. Holds the lock, so that no other thread turns echo off in between.
    static func exit(_ status: Int32) -> Never {
        savedSettings.withLock { savedSettings in
            restoreEcho(&savedSettings)
            _exit(status)
        }
    }

    /// Restores the terminal's settings if echo is off.
    private static func restoreEcho(_ savedSettings: inout termios?) {
        guard var settings = savedSettings.take() else { return }
        _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    }
}
