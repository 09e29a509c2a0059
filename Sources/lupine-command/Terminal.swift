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
    static func kind(of descriptor: Int32) -> Surroundings.Input.Kind {
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

    /// A line that is typed without being shown.
    static func readSecret() -> String {
        var settings = termios()
        let isKnown = unsafe tcgetattr(STDIN_FILENO, &settings) == 0
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        if isKnown { _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) }
        defer { if isKnown { _ = unsafe tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings) } }
        return readLine() ?? ""
    }
}
