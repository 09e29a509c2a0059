// SPDX-License-Identifier: MIT

/// JSON that is built from items whose names are paths, such as HTTPie's `a[b][]=c`.
enum JSONTree {
    /// The text of a JSON value, which may be of any type. The caller has validated it.
    case value(String)
    case object([(name: String, tree: JSONTree)])
    case array([JSONTree])

    /// One step of a path, from an object or array to a value in it.
    enum PathStep: Hashable {
        /// A member of an object.
        case member(String)
        /// The element of an array with this index.
        case element(Int)
        /// A new element at the end of an array.
        case append
    }

    /// Parses the name of an item, such as `a`, `a[b]`, `a[]` or `a[0]`, into the steps of a path. A backslash before a bracket
    /// makes the bracket an ordinary character. Throws if the brackets do not match, or if there are too many steps.
    static func path(_ name: String) throws(UsageError) -> [PathStep] {
        var steps: [PathStep] = []
        // The characters since the last bracket.
        var component = ""
        var isInBrackets = false
        var unparsed = name.unicodeScalars[...]
        while let scalar = unparsed.popFirst() {
            switch (scalar, isInBrackets) {
            case ("\\", _) where unparsed.first == "[" || unparsed.first == "]":
                if let bracket = unparsed.popFirst() { component.unicodeScalars.append(bracket) }
            case ("[", false):
                // Only the first step can have no brackets.
                if steps.isEmpty, !component.isEmpty { steps.append(.member(component)) }
                component = ""
                isInBrackets = true
            case ("]", true):
                guard steps.count < maximumSteps else {
                    throw UsageError("`\(name)` has more than \(maximumSteps) steps")
                }
                steps.append(bracketedStep(component))
                component = ""
                isInBrackets = false
                guard unparsed.isEmpty || unparsed.first == "[" else { throw invalidPath(name) }
            case ("[", true): throw invalidPath(name)
            default: component.unicodeScalars.append(scalar)
            }
        }
        if isInBrackets { throw invalidPath(name) }
        return steps.isEmpty ? [.member(component)] : steps
    }

    /// Returns the step for the text between two brackets. Digits are an index, which is `Int.max` if it is too large.
    private static func bracketedStep(_ text: String) -> PathStep {
        if text.isEmpty { return .append }
        let isIndex = text.allSatisfy { $0.isASCII && $0.isNumber }
        return isIndex ? .element(Quantity.count(text) ?? .max) : .member(text)
    }

    /// Returns the error for a name that is not a path.
    private static func invalidPath(_ name: String) -> UsageError {
        UsageError("`\(name)` is no path of JSON: write a[b], a[] or a[0], and \\[ for a bracket of the name")
    }

    /// Sets the value at a path, and creates the objects and arrays that lead there. Throws if a step does not match the value at
    /// which it starts, such as a member of an array.
    ///
    /// - Parameters:
    ///   - json: The JSON text of the value.
    ///   - path: The path from this tree to the value. If it is empty, the value replaces this tree.
    ///   - itemName: The name of the item, for errors.
    mutating func insert(
        _ json: String, at path: some Collection<PathStep>, itemName: String
    ) throws(UsageError) {
        guard let step = path.first else {
            self = .value(json)
            return
        }
        let remainingPath = path.dropFirst()
        switch (step, self) {
        case (.member(let key), .object(var members)):
            let index = members.firstIndex { $0.name == key } ?? members.count
            if index == members.count { members.append((key, Self.empty(for: remainingPath.first))) }
            try members[index].tree.insert(json, at: remainingPath, itemName: itemName)
            self = .object(members)
        case (.append, .array(var elements)):
            elements.append(Self.empty(for: remainingPath.first))
            try elements[elements.count - 1].insert(json, at: remainingPath, itemName: itemName)
            self = .array(elements)
        case (.element(let index), .array(var elements)):
            guard index <= Self.maximumIndex else {
                throw UsageError("`\(itemName)` has a place beyond \(Self.maximumIndex)")
            }
            // Elements that no item sets are null.
            while elements.count < index { elements.append(.value("null")) }
            if index == elements.count {
                elements.append(Self.empty(for: remainingPath.first))
            } else if case .value("null") = elements[index] {
                // The null may stand for an element that no item has set, so it is replaced.
                elements[index] = Self.empty(for: remainingPath.first)
            }
            try elements[index].insert(json, at: remainingPath, itemName: itemName)
            self = .array(elements)
        case (.member, _), (.append, _), (.element, _):
            throw UsageError("`\(itemName)` does not go with what another item has put there")
        }
    }

    /// The maximum index of an element, since all elements before it exist in memory.
    private static let maximumIndex = 10_000
    /// The maximum number of steps of a path, since each step is a recursive call.
    private static let maximumSteps = 100

    /// Returns the empty object or array from which a step can start; null if there is no step.
    static func empty(for step: PathStep?) -> JSONTree {
        switch step {
        case .member: .object([])
        case .append, .element: .array([])
        case nil: .value("null")
        }
    }

    /// The JSON text.
    var text: String {
        switch self {
        case .value(let json): json
        case .object(let members): JSONText.object(members.map { ($0.name, $0.tree.text) })
        case .array(let elements): "[" + elements.map(\.text).joined(separator: ", ") + "]"
        }
    }
}
