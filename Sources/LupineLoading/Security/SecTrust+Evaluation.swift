// SPDX-License-Identifier: MIT
// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Dispatch
internal import Foundation
internal import LupineTransport

// Apple's functions that evaluate a `SecTrust` and read its chain. All may be called on any thread.

/// Evaluates the trust. Returns whether it satisfies all of its policies.
///
/// If a policy requires revocation answers, this fetches them, and blocks meanwhile. Where nothing may block, such as on the main
/// actor, use `SecTrustEvaluateAsyncWithError` instead.
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
    let evaluateAndReport = { @Sendable (mayFetch: Bool) in
        let failure = trust.evaluate(mayFetch: mayFetch).error
        queue.async { result(trust, failure == nil, failure) }
    }
    // `run` returns false if all threads of the pool are blocked, which means that the network does not respond. This then
    // evaluates on the caller's queue without fetching answers, which takes only CPU time.
    if !WorkerPool.trust.run({ evaluateAndReport(true) }) { queue.async { evaluateAndReport(false) } }
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

/// Gets the result of the last evaluation; `invalid` if there was none since the trust was created or changed.
///
/// - Returns: `errSecSuccess`.
@safe public func SecTrustGetTrustResult(
    _ trust: SecTrust, _ result: UnsafeMutablePointer<SecTrustResultType>
) -> OSStatus {
    unsafe result.pointee = trust.result
    return errSecSuccess
}

/// Returns the chain as an array of `SecCertificate`: the leaf, then the issuer of each certificate before, up to an anchor or to
/// the last issuer that was found. Ignores dates. The trust need not have been evaluated.
public func SecTrustCopyCertificateChain(_ trust: SecTrust) -> CFArray? { trust.chain }

/// Returns the number of certificates in the chain.
public func SecTrustGetCertificateCount(_ trust: SecTrust) -> CFIndex { trust.chain.count }

/// Returns a certificate of the chain, counted from the leaf; nil beyond its end.
public func SecTrustGetCertificateAtIndex(_ trust: SecTrust, _ index: CFIndex) -> SecCertificate? {
    let chain = trust.chain
    return chain.indices.contains(index) ? chain[index] : nil
}

/// Returns the leaf's key, if it is an RSA, elliptic curve or Ed25519 key; otherwise nil.
public func SecTrustCopyKey(_ trust: SecTrust) -> SecKey? {
    trust.leaf.flatMap { SecKey(of: $0.certificate) }
}
