// SPDX-License-Identifier: MIT

public import LupineLoading

extension SecPolicy: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == SecPolicy {
    /// A policy that requires a chain that is valid for a server.
    public static var `default`: SecPolicy { SecPolicyCreateSSL(true, nil) }

    /// Returns a policy that requires a chain that is valid for a server, and for this host.
    public static func hostname(_ hostname: String) -> SecPolicy { SecPolicyCreateSSL(true, hostname) }

    /// Returns a policy that requires that no certificate was revoked.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` if the options are empty or contain an unknown bit.
    public static func revocation(options: RevocationTrustEvaluator.Options) throws -> SecPolicy {
        guard let policy = SecPolicyCreateRevocation(options.rawValue) else {
            throw AFError.serverTrustEvaluationFailed(reason: .revocationPolicyCreationFailed)
        }
        return policy
    }
}
