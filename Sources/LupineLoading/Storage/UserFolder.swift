// SPDX-License-Identifier: MIT

internal import Foundation

/// Finds the folders for a program's persistent files by the XDG Base Directory Specification.
enum UserFolder {
    /// Returns the data folder of a program.
    static func data(
        of program: String = ProcessInfo.processInfo.processName,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> URL {
        folder("XDG_DATA_HOME", ".local/share", program, environment)
    }

    /// Returns the cache folder of a program, whose contents may be lost.
    static func cache(
        of program: String = ProcessInfo.processInfo.processName,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> URL {
        folder("XDG_CACHE_HOME", ".cache", program, environment)
    }

    private static func folder(
        _ variable: String, _ fallback: String, _ program: String, _ environment: [String: String]
    ) -> URL {
        let name = SuggestedFilename.sanitised(program)
        // The specification requires that a relative path is ignored.
        if let base = environment[variable], base.hasPrefix("/") {
            return URL(fileURLWithPath: base, isDirectory: true).appendingPathComponent(
                name, isDirectory: true)
        }
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
        return URL(fileURLWithPath: home, isDirectory: true).appendingPathComponent(
            fallback, isDirectory: true
        )
        .appendingPathComponent(name, isDirectory: true)
    }
}
