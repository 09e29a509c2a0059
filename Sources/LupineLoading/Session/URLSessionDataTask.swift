// SPDX-License-Identifier: MIT

/// A task that delivers its content to the program in memory: in pieces to the delegate, or as a whole to a completion handler.
open class URLSessionDataTask: URLSessionTask, @unchecked Sendable {}
