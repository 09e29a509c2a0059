// SPDX-License-Identifier: MIT

package import Foundation

extension URL {
    /// The address without name and password: as it may be said to others, who need it to know which resource is meant.
    package var withoutUserInfo: URL {
        guard user(percentEncoded: true) != nil || password(percentEncoded: true) != nil,
            var parts = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        (parts.user, parts.password) = (nil, nil)
        return parts.url ?? self
    }
}
