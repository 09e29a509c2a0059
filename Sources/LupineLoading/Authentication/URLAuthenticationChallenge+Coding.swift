// SPDX-License-Identifier: MIT

public import Foundation

/// Archives: all values but the sender, which waits in this process, a credential that is no name and password, and of the
/// error all but its domain, its code and its words.
extension URLAuthenticationChallenge: NSSecureCoding {
    /// Whether archives are checked as they are read: yes.
    public static var supportsSecureCoding: Bool { true }

    /// Reads a challenge that was archived; nil when the archive holds something else.
    public convenience init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding, coder.containsValue(forKey: "previousFailureCount"),
            let space = coder.decodeObject(of: URLProtectionSpace.self, forKey: "protectionSpace"),
            let failures = Int(exactly: coder.decodeInt64(forKey: "previousFailureCount"))
        else { return nil }
        var error: NSError?
        if coder.containsValue(forKey: "errorDomain") {
            guard let domain = coder.decodeObject(of: NSString.self, forKey: "errorDomain"),
                let code = Int(exactly: coder.decodeInt64(forKey: "errorCode")),
                let words = coder.decodeObject(of: NSString.self, forKey: "errorDescription")
            else { return nil }
            error = NSError(
                domain: domain as String, code: code,
                userInfo: [NSLocalizedDescriptionKey: words as String])
        }
        self.init(
            space: space, credential: Self.read(URLCredential.self, "proposedCredential", from: coder),
            failures: failures, response: Self.read(URLResponse.self, "failureResponse", from: coder),
            error: error)
    }

    /// What need not be there: asking for it where it is not is an error of the archive's.
    private static func read<Value: NSObject & NSCoding>(
        _ type: Value.Type, _ key: String, from coder: NSCoder
    ) -> Value? {
        coder.containsValue(forKey: key) ? coder.decodeObject(of: type, forKey: key) : nil
    }

    /// Archives the values, the proposed password too.
    public func encode(with coder: NSCoder) {
        coder.encode(protectionSpace, forKey: "protectionSpace")
        if let proposedCredential, proposedCredential.hasPassword {
            coder.encode(proposedCredential, forKey: "proposedCredential")
        }
        coder.encode(Int64(previousFailureCount), forKey: "previousFailureCount")
        if let failureResponse { coder.encode(failureResponse, forKey: "failureResponse") }
        guard let error = error.map({ $0 as NSError }) else { return }
        coder.encode(error.domain as NSString, forKey: "errorDomain")
        coder.encode(Int64(error.code), forKey: "errorCode")
        coder.encode(error.localizedDescription as NSString, forKey: "errorDescription")
    }
}
