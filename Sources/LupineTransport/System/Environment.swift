// SPDX-License-Identifier: MIT

import Glibc

/// The process' environment variables.
///
/// `getenv` races with a `setenv` elsewhere in the process; it is called only when a client is made that was told to
/// read the environment.
enum Environment {
    /// The value of a variable; nil when it is not set.
    static func value(of name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(validatingCString: value)
    }
}
