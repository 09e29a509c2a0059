// SPDX-License-Identifier: MIT

/// A task whose content is delivered to the program, piece by piece or as a whole.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
