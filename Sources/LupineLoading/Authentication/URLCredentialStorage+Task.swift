// SPDX-License-Identifier: MIT

/// The same for one task's sake. The storage makes no difference between tasks; the handlers are called before the
/// methods return, on the caller's thread.
extension URLCredentialStorage {
    /// Gives the credentials of a space by user name; nil when there are none.
    public func getCredentials(
        for protectionSpace: URLProtectionSpace, task: URLSessionTask,
        completionHandler: ([String: URLCredential]?) -> Void
    ) {
        completionHandler(credentials(for: protectionSpace))
    }

    /// Keeps a credential in place of the one of that user.
    public func set(
        _ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask
    ) {
        set(credential, for: protectionSpace)
    }

    /// Removes a credential; as a default too.
    public func remove(
        _ credential: URLCredential, for protectionSpace: URLProtectionSpace,
        options: [String: AnyObject]? = [:], task: URLSessionTask
    ) {
        remove(credential, for: protectionSpace, options: options)
    }

    /// Gives the credential to try first in a space; nil when there is none.
    public func getDefaultCredential(
        for space: URLProtectionSpace, task: URLSessionTask, completionHandler: (URLCredential?) -> Void
    ) {
        completionHandler(defaultCredential(for: space))
    }

    /// Makes a credential the one to try first in a space, and keeps it.
    public func setDefaultCredential(
        _ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask
    ) {
        setDefaultCredential(credential, for: protectionSpace)
    }
}
