// SPDX-License-Identifier: MIT

/// One Swift snippet of a guide, and its test.
struct Snippet: Sendable {
    /// The guides that the library follows.
    enum Guide: String, Sendable, CaseIterable {
        /// How to use Alamofire 5.1.
        case usage
        /// A walk through the sources of Alamofire 5, with examples.
        case anatomy
        /// Advanced use of Alamofire 5.0.
        case advanced
        /// The later edition of the same guide, with authentication, streams and Combine.
        case laterAdvanced
        /// The guide to Alamofire 4; only its section on property lists is relevant.
        case four
    }

    enum Standing: Sendable, Equatable {
        /// Compiled and run by this test: `Suite/function`.
        case tested(String)
        /// Shows internals of Alamofire, which a user's file cannot name.
        case inside
    }

    /// The guides that contain it; both editions of a guide may show the same snippet.
    let guides: [Guide]
    let heading: String
    /// Counted from 1 under its heading.
    let number: Int
    let standing: Standing

    init(_ guides: Guide..., at heading: String, _ number: Int, _ standing: Standing) {
        self.guides = guides
        self.heading = heading
        self.number = number
        self.standing = standing
    }
}
