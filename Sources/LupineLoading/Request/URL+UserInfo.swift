// SPDX-License-Identifier: MIT

package import Foundation

extension URL {
    /// The address as text in two parts: without name and password, and those as they are written in it; the second is nil where
    /// it names nobody.
    var partedFromUserInfo: (address: String, userInfo: String?) {
        let text = absoluteString
        // Most addresses cannot name anybody.
        guard text.position(of: UInt8(ascii: "@")) != nil, let colon = text.firstIndex(of: ":") else {
            return (text, nil)
        }
        let rest = text[text.index(after: colon)...]
        guard rest.hasPrefix("//") else { return (text, nil) }
        let authority = rest.dropFirst(2).prefix { !"/?#".contains($0) }
        guard let end = authority.lastIndex(of: "@") else { return (text, nil) }
        let userInfo = authority[..<end]
        let address = text[..<authority.startIndex] + text[text.index(after: end)...]
        return (String(address), userInfo.isEmpty ? nil : String(userInfo))
    }

    /// The address without name and password: as it may be said to others, who need it to know which resource is meant.
    package var withoutUserInfo: URL {
        guard user(percentEncoded: true) != nil || password(percentEncoded: true) != nil,
            var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        (parts.user, parts.password) = (nil, nil)
        return parts.url ?? self
    }
}

extension String {
    /// Where an octet stands first.
    func position(of octet: UInt8) -> Int? {
        let octets = utf8.span
        for place in octets.indices where octets[place] == octet { return place }
        return nil
    }
}
