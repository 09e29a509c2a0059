// SPDX-License-Identifier: MIT

import Glibc

/// The process's environment variables.
///
/// `getenv` must not run while another thread of the process calls `setenv`. So it is called only when a client is created whose
/// configuration reads the environment, and for the shared revocation client.
enum Environment {
    /// Returns the value of a variable; nil if it is not set or not valid UTF-8.
    static func value(of name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        return unsafe String(validatingCString: value)
    }
}
