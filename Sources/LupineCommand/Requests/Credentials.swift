// SPDX-License-Identifier: MIT

internal import Foundation

/// A user name and a password.
struct Credentials: Hashable, Sendable {
    var user: String
    var password: String

    /// Parses `USER:PASSWORD`. The first colon ends the user name; without a colon the password is empty.
    init(_ text: String) {
        let userAndPassword = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        user = String(userAndPassword.first ?? "")
        password = userAndPassword.count == 2 ? String(userAndPassword[1]) : ""
    }

    init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// The value of `Authorization` for the Basic scheme (RFC 7617).
    var basicAuthorization: String { "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() }
}
