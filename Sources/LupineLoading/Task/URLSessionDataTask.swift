// SPDX-License-Identifier: MIT

/// A task whose content goes to the program, piece by piece or in one.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
