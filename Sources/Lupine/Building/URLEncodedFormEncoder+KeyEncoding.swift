// SPDX-License-Identifier: MIT

extension URLEncodedFormEncoder {
    /// How a key is changed. It is given the whole composed key, brackets and indices included, before it is escaped.
    public enum KeyEncoding {
        /// Not at all.
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
        /// By a closure.
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

        /// The words of a key in camel case, lower-cased. A word starts at a capital that a small letter follows; a row
        /// of capitals is one word, without the last one when a small letter follows that. The first character starts a
        /// word whatever it is, and is not looked at as a capital.
        private static func words(of key: String) -> [String] {
            let characters = Array(key)
            guard !characters.isEmpty else { return [] }
            var words: [ArraySlice<Character>] = []
            var start = 0
            var searched = 1
            while let capital = characters[searched...].firstIndex(where: \.isUppercase) {
                words.append(characters[start..<capital])
                guard let small = characters[capital...].firstIndex(where: \.isLowercase) else {
                    start = capital
                    break
                }
                start = small - 1
                if capital < start { words.append(characters[capital..<start]) }
                searched = small + 1
            }
            words.append(characters[start...])
            return words.map { String($0).lowercased() }
        }
    }
}
