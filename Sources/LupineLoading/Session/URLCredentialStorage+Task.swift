// SPDX-License-Identifier: MIT

/// The methods that take a task, as Apple's do. The storage ignores the task. The methods call their handlers before they return,
/// on the caller's thread.
extension URLCredentialStorage {
    /// Passes the credentials of a protection space, by user name, to the handler; nil if there are none.
    public func getCredentials(
        for protectionSpace: URLProtectionSpace, task: URLSessionTask,
        completionHandler: ([String: URLCredential]?) -> Void
    ) {
        completionHandler(credentials(for: protectionSpace))
    }

    /// Stores a credential, which replaces the credential of the same user.
    public func set(
        _ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask
    ) {
        set(credential, for: protectionSpace)
    }

    /// Removes a credential, even if it is the default of the protection space.
    public func remove(
        _ credential: URLCredential, for protectionSpace: URLProtectionSpace,
        options: [String: AnyObject]? = [:], task: URLSessionTask
    ) {
        remove(credential, for: protectionSpace, options: options)
    }

    /// Passes the default credential of a protection space to the handler; nil if there is none.
    public func getDefaultCredential(
        for space: URLProtectionSpace, task: URLSessionTask, completionHandler: (URLCredential?) -> Void
    ) {
        completionHandler(defaultCredential(for: space))
    }

    /// Stores a credential and makes it the default of a protection space.
    public func setDefaultCredential(
        _ credential: URLCredential, for protectionSpace: URLProtectionSpace, task: URLSessionTask
    ) {
        setDefaultCredential(credential, for: protectionSpace)
    }
}
