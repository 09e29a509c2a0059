// SPDX-License-Identifier: MIT

public import Foundation

/// Archives a challenge. The archive lacks the sender, which belongs to this process, and a proposed credential without a
/// password. Of the error it contains the domain, the code and the description.
extension URLAuthenticationChallenge: NSSecureCoding {
    /// Always true.
    public static var supportsSecureCoding: Bool { true }

    /// Reads an archived challenge; nil when the archive contains something else.
    public convenience init?(coder: NSCoder) {
        guard coder.allowsKeyedCoding, coder.containsValue(forKey: "previousFailureCount"),
            let space = coder.decodeObject(of: URLProtectionSpace.self, forKey: "protectionSpace"),
            let failures = Int(exactly: coder.decodeInt64(forKey: "previousFailureCount"))
        else { return nil }
        var error: NSError?
        if coder.containsValue(forKey: "errorDomain") {
            guard let domain = coder.decodeObject(of: NSString.self, forKey: "errorDomain"),
                let code = Int(exactly: coder.decodeInt64(forKey: "errorCode")),
                let description = coder.decodeObject(of: NSString.self, forKey: "errorDescription")
            else { return nil }
            error = NSError(
                domain: domain as String, code: code,
                userInfo: [NSLocalizedDescriptionKey: description as String])
        }
        self.init(
            space: space, credential: Self.read(URLCredential.self, "proposedCredential", from: coder),
            failures: failures, response: Self.read(URLResponse.self, "failureResponse", from: coder),
            error: error)
    }

    /// Reads an optional value. `NSCoder` treats the decoding of a missing key as an error, so this looks for the key first.
    private static func read<Value: NSObject & NSCoding>(
        _ type: Value.Type, _ key: String, from coder: NSCoder
    ) -> Value? {
        coder.containsValue(forKey: key) ? coder.decodeObject(of: type, forKey: key) : nil
    }

    /// Archives the values, including the password of the proposed credential.
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
