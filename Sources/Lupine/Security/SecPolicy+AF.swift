// SPDX-License-Identifier: MIT

public import LupineLoading

extension SecPolicy: AlamofireExtended {}

extension AlamofireExtension where ExtendedType == SecPolicy {
    /// Asks for a chain that is valid for a server.
    public static var `default`: SecPolicy { SecPolicyCreateSSL(true, nil) }

    /// Asks for a chain that is valid for a server, and for this host.
    public static func hostname(_ hostname: String) -> SecPolicy { SecPolicyCreateSSL(true, hostname) }

    /// Asks that nothing was revoked.
    ///
    /// - Throws: `AFError.serverTrustEvaluationFailed` when the options are none, or none that there are.
    public static func revocation(options: RevocationTrustEvaluator.Options) throws -> SecPolicy {
        guard let policy = SecPolicyCreateRevocation(options.rawValue) else {
            throw AFError.serverTrustEvaluationFailed(reason: .revocationPolicyCreationFailed)
        }
        return policy
    }
}
