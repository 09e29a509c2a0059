// SPDX-License-Identifier: MIT

internal import Foundation

/// The answer to a Basic challenge (RFC 7617), which contains the credential in the clear.
enum BasicResponse {
    /// The value of `Authorization`; nil when the name or the password cannot be sent this way (U-11.8).
    static func field(user: String, password: String) -> String? {
        guard !user.contains(":"), !hasControls(user), !hasControls(password) else { return nil }
        return "Basic " + Data((user + ":" + password).utf8).base64EncodedString()
    }

    private static func hasControls(_ text: String) -> Bool {
        text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
    }
}
