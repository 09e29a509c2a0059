// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Dispatch
internal import Foundation
internal import LupineTransport

// Apple's functions that judge a `SecTrust`, and those that read its chain. All may be called on any thread.

/// Judges, and returns whether the trust satisfies all of its policies.
///
/// Blocks while answers about revocation are fetched, which happens only if a policy asks for them: then it should not be
/// called where nothing may wait, such as on the main actor. `SecTrustEvaluateAsyncWithError` is for there.
///
/// - Parameters:
///   - trust: What is judged.
///   - error: Takes the reason when the result is false: an `NSError` of the domain `NSOSStatusErrorDomain` whose code is
///     that of the most serious problem.
@safe public func SecTrustEvaluateWithError(
    _ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?
) -> Bool {
    let failure = trust.evaluate().error
    if let error = unsafe error { unsafe error.pointee = failure }
    return failure == nil
}

/// Judges on a thread of its own, and answers on the queue.
///
/// - Parameters:
///   - trust: What is judged.
///   - queue: Where `result` is called, once.
///   - result: Takes the trust, whether it satisfies all of its policies, and why not.
/// - Returns: `errSecSuccess`.
public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust, _ queue: DispatchQueue,
    _ result: @escaping @Sendable (_ trust: SecTrust, _ isTrusted: Bool, _ error: CFError?) -> Void
) -> OSStatus {
    let answer = { @Sendable (mayFetch: Bool) in
        let failure = trust.evaluate(mayFetch: mayFetch).error
        queue.async { result(trust, failure == nil, failure) }
    }
    // Where every thread for such questions hangs, the network is of no help, and the rest is CPU time alone.
    if !WorkerPool.trust.run({ answer(true) }) { queue.async { answer(false) } }
    return errSecSuccess
}

/// Judges, and gives the result in the older form. Blocks as `SecTrustEvaluateWithError` does.
///
/// - Returns: `errSecSuccess`, whatever the result.
@available(*, deprecated, message: "Use SecTrustEvaluateWithError")
@safe public func SecTrustEvaluate(
    _ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>
) -> OSStatus {
    unsafe result.pointee = trust.evaluate().result
    return errSecSuccess
}

/// Gives what the last evaluation came to; `invalid` when there was none since the trust was made or changed.
///
/// - Returns: `errSecSuccess`.
@safe public func SecTrustGetTrustResult(
    _ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>
) -> OSStatus {
    unsafe result.pointee = trust.result
    return errSecSuccess
}

/// The chain that was built, as an array of `SecCertificate`: the leaf, then every issuer that could be linked to it by a
/// signature, up to an anchor or as far as it goes. Dates play no part, and no evaluation is needed before.
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { trust.chain }

/// How many certificates the chain has.
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex { trust.chain.count }

/// A certificate of the chain, counted from the leaf; nil beyond its end.
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ index: CFIndex) -> SecCertificate? {
    let chain = trust.chain
    return chain.indices.contains(index) ? chain[index] : nil
}

/// The leaf's key; nil when it is neither RSA, nor of an elliptic curve, nor Ed25519.
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? {
    trust.leaf.flatMap { SecKey(of: $0.certificate) }
}
