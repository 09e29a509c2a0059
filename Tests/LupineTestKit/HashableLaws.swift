// SPDX-License-Identifier: MIT

/// Checks a type's `==` and `hash(into:)` against each other.
package enum HashableLaws {
    /// Returns the violations in `classes`: the values of a class must equal one another and no value of another class.
    package static func violations<Value: Hashable>(_ classes: [[Value]]) -> [String] {
        var violations: [String] = []
        for (one, left) in classes.enumerated() {
            for (other, right) in classes.enumerated() {
                for (i, a) in left.enumerated() {
                    for (j, b) in right.enumerated() {
                        let place = "[\(one)][\(i)] and [\(other)][\(j)]"
                        if (a == b) != (one == other) { violations.append("\(place): == is \(a == b)") }
                        if one == other, a.hashValue != b.hashValue {
                            violations.append("\(place): equal values, different hashes")
                        }
                    }
                }
            }
        }
        let distinct = Set(classes.flatMap(\.self)).count
        if distinct != classes.count { violations.append("a set holds \(distinct) of \(classes.count)") }
        return violations
    }
}
