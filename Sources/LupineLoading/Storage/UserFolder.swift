// SPDX-License-Identifier: MIT

internal import Foundation

/// Where a program keeps what outlives it, by the XDG base directory rules.
enum UserFolder {
    /// The folder for the data of the program of that name.
    static func data(
        of program: String = ProcessInfo.processInfo.processName,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> URL {
        folder("XDG_DATA_HOME", ".local/share", program, environment)
    }

    /// The folder for what the program can do without.
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
        // A relative path in the variable is to be ignored.
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
