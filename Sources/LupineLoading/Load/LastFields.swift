// SPDX-License-Identifier: MIT

import LupineHTTP
import LupineTransport

/// The header fields of the last request of a session, in wire form: most requests have those of the one before, and it takes
/// less to see that than to judge and write them again. Any thread.
final class LastFields: Sendable {
    /// What the fields of a request are made of, but for what is the session's, or meant for a proxy.
    struct Ingredients: Hashable, Sendable {
        let given: [HeaderList.Field]
        let host: String
        let isUpgrade: Bool
        let mayDecode: Bool
        let hasBody: Bool
        let isPost: Bool
    }

    /// A class: to look at it is one reference.
    private final class Known: Sendable {
        let ingredients: Ingredients
        let fields: Fields

        init(_ ingredients: Ingredients, _ fields: Fields) {
            self.ingredients = ingredients
            self.fields = fields
        }
    }

    private let last = Lock<Known?>(nil)

    /// The fields, if the last request was made of the same.
    func fields(of ingredients: Ingredients) -> Fields? {
        guard let known = last.withLock({ $0 }), known.ingredients == ingredients else { return nil }
        return known.fields
    }

    /// They are those of the last request from here on.
    func keep(_ fields: Fields, of ingredients: Ingredients) {
        let known = Known(ingredients, fields)
        // What was known goes away outside of the lock.
        _ = last.withLock { last in
            defer { last = known }
            return last
        }
    }
}
