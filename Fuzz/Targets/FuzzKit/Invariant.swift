// SPDX-License-Identifier: MIT

/// Ends the program with a message, which the fuzzer reports with the input, unless `condition` holds. In a release
/// build `precondition` would trap without its message.
package func require(
    _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) {
    if !condition { fatalError(message(), file: file, line: line) }
}
