// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Dispatch
internal import Foundation
internal import LupineTransport

// Apple's functions that evaluate a `SecTrust` and read its chain. All may be called on any thread.

/// Evaluates the trust. Returns whether it satisfies all of its policies.
///
/// Blocks while it fetches revocation answers, which it does only if a policy requires them. With such a policy, use
/// `SecTrustEvaluateAsyncWithError` where nothing may block, such as on the main actor.
///
/// - Parameters:
///   - trust: The trust to evaluate.
///   - error: Receives the reason when the result is false: an `NSError` of the domain `NSOSStatusErrorDomain` with the code of
///     the most serious problem.
@safe public func SecTrustEvaluateWithError(
    _ trust: SecTrust, _ error: UnsafeMutablePointer<CFError?>?
) -> Bool {
    let failure = trust.evaluate().error
    if let error = unsafe error { unsafe error.pointee = failure }
    return failure == nil
}

/// Evaluates the trust on a worker thread, and calls back on a queue.
///
/// - Parameters:
///   - trust: The trust to evaluate.
///   - queue: The queue on which `result` is called, once.
///   - result: Receives the trust, whether it satisfies all of its policies, and the reason if not.
/// - Returns: `errSecSuccess`.
public func SecTrustEvaluateAsyncWithError(
    _ trust: SecTrust, _ queue: DispatchQueue,
    _ result: @escaping @Sendable (_ trust: SecTrust, _ isTrusted: Bool, _ error: CFError?) -> Void
) -> OSStatus {
    let evaluate = { @Sendable (mayFetch: Bool) in
        let failure = trust.evaluate(mayFetch: mayFetch).error
        queue.async { result(trust, failure == nil, failure) }
    }
    // All workers being blocked means that the network does not respond. Evaluating without fetching takes only CPU time.
    if !WorkerPool.trust.run({ evaluate(true) }) { queue.async { evaluate(false) } }
    return errSecSuccess
}

/// Evaluates the trust, with the result in the older form. Blocks like `SecTrustEvaluateWithError`.
///
/// - Returns: `errSecSuccess`, whatever the result.
@available(*, deprecated, message: "Use SecTrustEvaluateWithError")
@safe public func SecTrustEvaluate(
    _ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>
) -> OSStatus {
    unsafe result.pointee = trust.evaluate().result
    return errSecSuccess
}

/// Gets the result of the last evaluation; `invalid` when the trust was not evaluated since it was created or changed.
///
/// - Returns: `errSecSuccess`.
@safe public func SecTrustGetTrustResult(
    _ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>
) -> OSStatus {
    unsafe result.pointee = trust.result
    return errSecSuccess
}

/// Returns the chain as an array of `SecCertificate`: the leaf, then every issuer that could be linked by a signature, up to
/// an anchor or as far as possible. Ignores dates, and needs no earlier evaluation.
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { trust.chain }

/// Returns the number of certificates in the chain.
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex { trust.chain.count }

/// Returns a certificate of the chain, counted from the leaf; nil beyond its end.
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ index: CFIndex) -> SecCertificate? {
    let chain = trust.chain
    return chain.indices.contains(index) ? chain[index] : nil
}

/// Returns the leaf's key; nil when it is neither an RSA, nor an elliptic curve, nor an Ed25519 key.
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? {
    trust.leaf.flatMap { SecKey(of: $0.certificate) }
}
