// SPDX-License-Identifier: MIT

/// How often an expectation is to be met: `2`, `.once`, `.atLeast(1)`.
public struct StubTimes: Sendable, Hashable, ExpressibleByIntegerLiteral {
    /// At least so many requests.
    public let least: Int
    /// At most so many; nil for any number.
    public let most: Int?

    private init(least: Int, most: Int?) {
        self.least = max(0, least)
        self.most = most
    }

    /// Exactly so many.
    public init(integerLiteral value: Int) { self.init(least: value, most: max(0, value)) }

    /// Exactly one.
    public static let once: StubTimes = 1
    /// Any number, none too.
    public static let any = StubTimes(least: 0, most: nil)

    /// Exactly so many.
    public static func exactly(_ count: Int) -> StubTimes { StubTimes(integerLiteral: count) }
    /// So many or more.
    public static func atLeast(_ count: Int) -> StubTimes { StubTimes(least: count, most: nil) }
    /// So many or fewer, none too.
    public static func atMost(_ count: Int) -> StubTimes { StubTimes(least: 0, most: max(0, count)) }

    /// In words, behind "expected".
    var text: String {
        switch (least, most) {
        case (1, 1?): "once"
        case (let least, let most?) where least == most: Self.times(least)
        case (let least, nil): "at least \(Self.times(least))"
        case (0, let most?): "at most \(Self.times(most))"
        case (let least, let most?): "\(least) to \(Self.times(most))"
        }
    }

    /// `1 time`, `2 times`.
    static func times(_ count: Int) -> String { count == 1 ? "1 time" : "\(count) times" }
}
