// SPDX-License-Identifier: MIT

internal import Foundation

/// Makes the answer to a Basic challenge (RFC 7617), which contains name and password in the clear.
enum BasicResponse {
    /// Returns the value of `Authorization`; nil when Basic cannot send the name or the password (U-11.8). The name may have no
    /// colon, which separates it from the password. Name and password may have no control characters.
    static func field(user: String, password: String) -> String? {
        guard !user.contains(":"), !hasControlCharacters(user), !hasControlCharacters(password) else {
            return nil
        }
        return "Basic " + Data((user + ":" + password).utf8).base64EncodedString()
    }

    /// Whether the text has control characters: octets below 0x20, or DEL (0x7F).
    private static func hasControlCharacters(_ text: String) -> Bool {
        text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
    }
}
