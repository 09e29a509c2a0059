// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import LupineCommand

/// What the kernel knows about a descriptor and its terminal.
enum Terminal {
    /// How wide the terminal is; `COLUMNS`, or 80, where there is none.
    static func columns(of descriptor: Int32) -> Int {
        var size = winsize()
        let asked = unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size)
        if asked == 0, size.ws_col > 0 { return Int(size.ws_col) }
        return ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }.map { max(10, $0) } ?? 80
    }

    /// What the standard input is.
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

    /// The bytes that wait to be read, at most 64 KiB.
    static func waitingBytes(_ descriptor: Int32) -> Data {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe Glibc.poll(&poll, 1, 0) == 1 else { return Data() }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = unsafe read(descriptor, &buffer, buffer.count)
        return count > 0 ? Data(buffer[..<count]) : Data()
    }

    /// How the terminal was, while it does not show what is typed.
    private static let shown = Guarded<termios?>(nil)

    /// A line that is typed without being shown. Whoever ends the process meanwhile does so by `exit`.
    static func readSecret() -> String {
        shown.withLock { shown in
            var settings = termios()
            guard unsafe tcgetattr(STDIN_FILENO, &settings) == 0 else { return }
            shown = settings
            settings.c_lflag &= ~tcflag_t(ECHO)
            _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        }
        defer { shown.withLock { showTyping(&$0) } }
        return readLine() ?? ""
    }

    /// Ends the process at once, with a terminal that shows what is typed. Under the lock, so that nobody asks for a secret
    /// meanwhile.
    static func exit(_ status: Int32) -> Never {
        shown.withLock { shown in
            showTyping(&shown)
            _exit(status)
        }
    }

    private static func showTyping(_ shown: inout termios?) {
        guard var settings = shown.take() else { return }
        _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    }
}
