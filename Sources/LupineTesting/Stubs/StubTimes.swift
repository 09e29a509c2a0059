// SPDX-License-Identifier: MIT

/// The number of requests that an expectation requires: `2`, `.once`, `.atLeast(1)`.
public struct StubTimes: Sendable, Hashable, ExpressibleByIntegerLiteral {
    /// The minimum number of requests.
    public let least: Int
    /// The maximum number of requests; nil for no limit.
    public let most: Int?

    private init(least: Int, most: Int?) {
        self.least = max(0, least)
        self.most = most
    }

    /// Exactly this number of requests.
    public init(integerLiteral value: Int) { self.init(least: value, most: max(0, value)) }

    /// Exactly one request.
    public static let once: StubTimes = 1
    /// Any number of requests, including none.
    public static let any = StubTimes(least: 0, most: nil)

    /// Exactly this number of requests.
    public static func exactly(_ count: Int) -> StubTimes { StubTimes(integerLiteral: count) }
    /// This number of requests or more.
    public static func atLeast(_ count: Int) -> StubTimes { StubTimes(least: count, most: nil) }
    /// This number of requests or fewer, including none.
    public static func atMost(_ count: Int) -> StubTimes { StubTimes(least: 0, most: max(0, count)) }

    /// The text that follows "expected" in messages.
    var text: String {
        switch (least, most) {
        case (1, 1?): "once"
        case (let least, let most?) where least == most: Self.times(least)
        case (let least, nil): "at least \(Self.times(least))"
        case (0, let most?): "at most \(Self.times(most))"
        case (let least, let most?): "\(least) to \(Self.times(most))"
        }
    }

    /// Returns a number of requests as text: `1 time`, `2 times`.
    static func times(_ count: Int) -> String { count == 1 ? "1 time" : "\(count) times" }
}
