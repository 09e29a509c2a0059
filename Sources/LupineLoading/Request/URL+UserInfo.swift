// SPDX-License-Identifier: MIT

package import Foundation

extension URL {
    /// The URL's text without user information, and the user information (`user:password`) as spelled in the URL, or nil if there
    /// is none.
    var splitAtUserInfo: (address: String, userInfo: String?) {
        let text = absoluteString
        // A fast path, because most URLs contain no "@".
        guard text.position(of: UInt8(ascii: "@")) != nil, let colon = text.firstIndex(of: ":") else {
            return (text, nil)
        }
        let afterScheme = text[text.index(after: colon)...]
        guard afterScheme.hasPrefix("//") else { return (text, nil) }
        let authority = afterScheme.dropFirst(2).prefix { !"/?#".contains($0) }
        guard let end = authority.lastIndex(of: "@") else { return (text, nil) }
        let userInfo = authority[..<end]
        let address = text[..<authority.startIndex] + text[text.index(after: end)...]
        return (String(address), userInfo.isEmpty ? nil : String(userInfo))
    }

    /// The URL without user and password, for logs, errors and descriptions.
    package var withoutUserInfo: URL {
        guard user(percentEncoded: true) != nil || password(percentEncoded: true) != nil,
            var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        (components.user, components.password) = (nil, nil)
        return components.url ?? self
    }
}

extension String {
    /// Returns the index of the first occurrence of an octet in the UTF-8 form; nil if there is none.
    func position(of octet: UInt8) -> Int? {
        let octets = utf8.span
        for index in octets.indices where octets[index] == octet { return index }
        return nil
    }
}
