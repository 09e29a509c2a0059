// SPDX-License-Identifier: MIT

extension URLEncodedFormEncoder {
    /// Defines how the encoder changes a key. The change is applied to the whole key of a nested value, including brackets and
    /// indices, before the key is escaped.
    public enum KeyEncoding {
        /// Leaves the key unchanged.
        case useDefaultKeys
        /// `userName` → `user_name`, by the rules of `JSONEncoder`'s strategy of that name.
        case convertToSnakeCase
        /// `userName` → `user-name`
        case convertToKebabCase
        /// `userName` → `UserName`
        case capitalized
        /// `userName` → `USERNAME`
        case uppercased
        /// `userName` → `username`
        case lowercased
        /// Uses a closure.
        case custom((String) -> String)

        /// Returns the changed key.
        func encode(_ key: String) -> String {
            switch self {
            case .useDefaultKeys: key
            case .convertToSnakeCase: Self.words(of: key).joined(separator: "_")
            case .convertToKebabCase: Self.words(of: key).joined(separator: "-")
            case .capitalized: key.prefix(1).uppercased() + key.dropFirst()
            case .uppercased: key.uppercased()
            case .lowercased: key.lowercased()
            case .custom(let encoding): encoding(key)
            }
        }

        /// Returns the words of a camel-case key in lower case: `myURLPath` has the words `my`, `url` and `path`.
        ///
        /// A word starts at an upper-case letter that is followed by a lower-case letter. A run of upper-case letters is one
        /// word; if a lower-case letter follows it, the last letter of the run starts the next word. The first character always
        /// starts a word, whether or not it is an upper-case letter.
        private static func words(of key: String) -> [String] {
            let characters = Array(key)
            guard !characters.isEmpty else { return [] }
            var words: [ArraySlice<Character>] = []
            var start = 0
            var searchStart = 1
            while let uppercase = characters[searchStart...].firstIndex(where: \.isUppercase) {
                words.append(characters[start..<uppercase])
                guard let lowercase = characters[uppercase...].firstIndex(where: \.isLowercase) else {
                    // The rest of the key is one word.
                    start = uppercase
                    break
                }
                // The next word starts at the character before the lower-case letter; the rest of the run is a word of its own.
                start = lowercase - 1
                if uppercase < start { words.append(characters[uppercase..<start]) }
                searchStart = lowercase + 1
            }
            words.append(characters[start...])
            return words.map { String($0).lowercased() }
        }
    }
}
