// SPDX-License-Identifier: MIT

public import Foundation

extension CharacterSet {
    /// The characters that are not percent-encoded in the keys and values of a query: letters, digits and `-._~/?`.
    ///
    /// These are the characters that RFC 3986 §3.4 allows in a query, without the delimiters of §2.2. A server may take a
    /// delimiter for a part of the query's structure. `/` and `?` are included, as §3.4 advises.
    public static let afURLQueryAllowed = CharacterSet.urlQueryAllowed
        .subtracting(CharacterSet(charactersIn: ":#[]@!$&'()*+,;="))
}
