// SPDX-License-Identifier: MIT

extension URLEncodedFormEncoder {
    /// Defines how a key is changed. Applied to the whole composed key, including brackets and indices, before it is escaped.
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

        /// Returns the words of a camel-case key in lower case. A word starts at an upper-case letter that is followed by a
        /// lower-case letter; a run of upper-case letters is one word, without its last letter when a lower-case letter
        /// follows. The first character always starts a word and is not checked for upper case.
        private static func words(of key: String) -> [String] {
            let characters = Array(key)
            guard !characters.isEmpty else { return [] }
            var words: [ArraySlice<Character>] = []
            var start = 0
            var searchStart = 1
            while let capital = characters[searchStart...].firstIndex(where: \.isUppercase) {
                words.append(characters[start..<capital])
                guard let small = characters[capital...].firstIndex(where: \.isLowercase) else {
                    start = capital
                    break
                }
                start = small - 1
                if capital < start { words.append(characters[capital..<start]) }
                searchStart = small + 1
            }
            words.append(characters[start...])
            return words.map { String($0).lowercased() }
        }
    }
}
