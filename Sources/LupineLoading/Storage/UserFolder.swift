// SPDX-License-Identifier: MIT

internal import Foundation

/// Finds the folders for a program's persistent files by the XDG Base Directory Specification.
enum UserFolder {
    /// Returns the data folder of a program.
    static func data(
        of program: String = ProcessInfo.processInfo.processName,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> URL {
        folder(of: program, below: "XDG_DATA_HOME", default: ".local/share", environment)
    }

    /// Returns the cache folder of a program, whose contents may be lost.
    static func cache(
        of program: String = ProcessInfo.processInfo.processName,
        environment: [String: String] = ProcessInfo.processInfo.environment
    ) -> URL {
        folder(of: program, below: "XDG_CACHE_HOME", default: ".cache", environment)
    }

    /// Returns a program's folder below the folder that an environment variable names; if the variable is not set, below a
    /// default folder in the home folder.
    private static func folder(
        of program: String, below variable: String, default defaultPath: String,
        _ environment: [String: String]
    ) -> URL {
        // The name of a program may contain a slash; the folder's name must not.
        let name = SuggestedFilename.sanitised(program)
        // The specification requires programs to ignore a relative path.
        if let base = environment[variable], base.hasPrefix("/") {
            return URL(fileURLWithPath: base, isDirectory: true).appendingPathComponent(
                name, isDirectory: true)
        }
        let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? NSHomeDirectory()
        return URL(fileURLWithPath: home, isDirectory: true).appendingPathComponent(
            defaultPath, isDirectory: true
        )
        .appendingPathComponent(name, isDirectory: true)
    }
}
