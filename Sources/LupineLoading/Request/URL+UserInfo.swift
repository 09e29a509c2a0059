// SPDX-License-Identifier: MIT

package import Foundation

extension URL {
    /// The URL's text without user information, and the user information as written; nil if there is none.
    var splitAtUserInfo: (address: String, userInfo: String?) {
        let text = absoluteString
        // A fast path, because most URLs contain no user information.
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

    /// The URL without user and password, for display and for sending to others.
    package var withoutUserInfo: URL {
        guard user(percentEncoded: true) != nil || password(percentEncoded: true) != nil,
            var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        (parts.user, parts.password) = (nil, nil)
        return parts.url ?? self
    }
}

extension String {
    /// The index of the first occurrence of an octet.
    func position(of octet: UInt8) -> Int? {
        let octets = utf8.span
        for index in octets.indices where octets[index] == octet { return index }
        return nil
    }
}
