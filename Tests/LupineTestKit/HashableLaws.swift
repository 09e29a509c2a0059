// SPDX-License-Identifier: MIT

/// Checks a type's `==` and `hash(into:)` against each other.
package enum HashableLaws {
    /// Returns the violations in `classes`. The values of a class must equal each other, and no value of another class.
    package static func violations<Value: Hashable>(_ classes: [[Value]]) -> [String] {
        var violations: [String] = []
        var values: [(classIndex: Int, index: Int, value: Value)] = []
        for (classIndex, members) in classes.enumerated() {
            for (index, value) in members.enumerated() { values.append((classIndex, index, value)) }
        }
        for left in values {
            for right in values {
                let place = "[\(left.classIndex)][\(left.index)] and [\(right.classIndex)][\(right.index)]"
                let areEqual = left.value == right.value
                let areInOneClass = left.classIndex == right.classIndex
                if areEqual != areInOneClass { violations.append("\(place): == is \(areEqual)") }
                if areInOneClass, left.value.hashValue != right.value.hashValue {
                    violations.append("\(place): equal values, different hashes")
                }
            }
        }
        let distinct = Set(classes.flatMap(\.self)).count
        if distinct != classes.count { violations.append("a set holds \(distinct) of \(classes.count)") }
        return violations
    }
}
