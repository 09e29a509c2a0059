// SPDX-License-Identifier: MIT

import Glibc

/// The process's environment variables.
///
/// `getenv` races with a `setenv` elsewhere in the process. So it is called only when a client is created whose configuration
/// reads the environment, and for the shared revocation client.
enum Environment {
    /// Returns the value of a variable; nil if it is not set.
    static func value(of name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(validatingCString: value)
    }
}
