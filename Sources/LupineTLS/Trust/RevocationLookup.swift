// SPDX-License-Identifier: MIT

/// Determines the revocation status of single certificates, trying one source after the other until one gives a definite answer.
struct RevocationLookup {
    /// The time in seconds for which a failed URL is not tried again.
    static let failureRetryDelay: Int64 = 60
    /// The approximate size in bytes of a cached status or problem. The cache counts it towards its limit.
    private static let smallAnswerSize = 256

    /// The allowed methods and requirements.
    let options: RevocationOptions
    /// Lists that the caller has supplied.
    let lists: [RevocationList]
    /// The cache and the fetcher of answers.
    let access: RevocationAccess
    /// The time at which answers have to be valid.
    let time: UnixTime

    /// The two methods of querying the sources that a certificate names: OCSP asks its responder, CRL fetches its issuer's list.
    private enum Method { case ocsp, crl }

    /// Returns the definite status, or the problem of the first source that failed.
    ///
    /// - Parameters:
    ///   - certificate: The certificate that may be revoked.
    ///   - issuer: Its issuer, who signs the answers or delegates signing them.
    ///   - staple: The OCSP response that the peer has stapled to the certificate, if any.
    func status(
        of certificate: Certificate, issuer: Certificate, staple: [UInt8]?
    ) -> Result<RevocationStatus, RevocationProblem> {
        var outcome = Outcome()
        if let staple {
            outcome.record { () throws(RevocationProblem) in
                try OCSPResponse(staple, about: certificate, issuer: issuer, at: time).status
            }
        }
        for list in lists where list.hasIssuerName(of: issuer) {
            outcome.record { () throws(RevocationProblem) in
                try list.verifySignature(of: issuer)
                return try list.status(of: certificate, at: time)
            }
        }
        for method in methods {
            if outcome.isDefinite { break }
            switch method {
            case .ocsp: queryOCSP(certificate, issuer, &outcome)
            case .crl: queryLists(for: certificate, issuer, &outcome)
            }
        }
        return outcome.result
    }

    /// The allowed methods in order of preference.
    private var methods: [Method] {
        var allowed: [Method] = []
        if options.contains(.ocsp) { allowed.append(.ocsp) }
        if options.contains(.crl) { allowed.append(.crl) }
        return options.contains(.preferCRL) ? allowed.reversed() : allowed
    }

    /// Records a cached OCSP status in `outcome`, or fetches one from the responders in turn.
    private func queryOCSP(_ certificate: Certificate, _ issuer: Certificate, _ outcome: inout Outcome) {
        let key = RevocationKey.status(certificate: certificate.fingerprint, issuer: issuer.fingerprint)
        if case .status(let status)? = access.cache?.answer(for: key, at: time)?.content {
            return outcome.record { status }
        }
        // The condition is evaluated before each URL: a definite answer ends the queries.
        for url in RevocationLookup.queryable(certificate.ocspURLs) where !outcome.isDefinite {
            let failureKey = RevocationKey.failure(url: url, certificate: certificate.fingerprint)
            outcome.record { () throws(RevocationProblem) in
                try cachingFailure(failureKey) { () throws(RevocationProblem) in
                    guard let request = OCSPResponse.request(about: certificate, issuer: issuer) else {
                        throw .notFetched(url: url, "OpenSSL cannot make the request")
                    }
                    let query = RevocationQuery(url: url, body: request, limit: OCSPResponse.sizeLimit)
                    let bytes = try fetch(query)
                    let response = try OCSPResponse(bytes, about: certificate, issuer: issuer, at: time)
                    access.cache?.store(
                        RevocationAnswer(
                            content: .status(response.status), from: response.from, until: response.until,
                            size: RevocationLookup.smallAnswerSize),
                        for: key, at: time)
                    return response.status
                }
            }
        }
    }

    /// Records in `outcome` what the certificate's revocation lists say. Lists that are not cached are fetched.
    private func queryLists(for certificate: Certificate, _ issuer: Certificate, _ outcome: inout Outcome) {
        for url in RevocationLookup.queryable(certificate.crlURLs) where !outcome.isDefinite {
            let key = RevocationKey.list(url: url, issuer: issuer.fingerprint)
            if case .list(let list)? = access.cache?.answer(for: key, at: time)?.content {
                outcome.record { () throws(RevocationProblem) in try list.status(of: certificate, at: time) }
                continue
            }
            // The failure is cached by issuer, because the list serves all certificates of the issuer.
            let failureKey = RevocationKey.failure(url: url, certificate: issuer.fingerprint)
            outcome.record { () throws(RevocationProblem) in
                let list = try cachingFailure(failureKey) { () throws(RevocationProblem) in
                    let bytes = try fetch(
                        RevocationQuery(url: url, body: nil, limit: RevocationList.sizeLimit))
                    let list = try RevocationList(der: bytes)
                    try list.verifySignature(of: issuer)
                    guard list.validity.contains(time) else { throw .outdated }
                    access.cache?.store(
                        RevocationAnswer(
                            content: .list(list), from: list.validity.from, until: list.validity.until,
                            size: list.memorySize),
                        for: key, at: time)
                    return list
                }
                return try list.status(of: certificate, at: time)
            }
        }
    }

    /// Fetches an answer; throws `noSource` without network access.
    private func fetch(_ query: RevocationQuery) throws(RevocationProblem) -> [UInt8] {
        guard let fetcher = access.fetcher else { throw .noSource }
        let bytes: [UInt8]
        do throws(RevocationFetchError) {
            bytes = try fetcher.fetch(query, deadline: access.deadline)
        } catch {
            throw .notFetched(url: query.url, error.description)
        }
        guard bytes.count <= query.limit else { throw .tooLarge(limit: query.limit, bytes: bytes.count) }
        return bytes
    }

    /// Calls `body` and returns its result.
    ///
    /// If `body` throws a problem, caches the problem under `key`. For the next `failureRetryDelay` seconds, calls with that key
    /// throw the cached problem and do not call `body`. Without network access, throws `noSource`.
    private func cachingFailure<Answer>(
        _ key: RevocationKey, _ body: () throws(RevocationProblem) -> Answer
    ) throws(RevocationProblem) -> Answer {
        guard access.fetcher != nil else { throw .noSource }
        if case .problem(let problem)? = access.cache?.answer(for: key, at: time)?.content { throw problem }
        do throws(RevocationProblem) {
            return try body()
        } catch {
            access.cache?.store(
                RevocationAnswer(
                    content: .problem(error), from: time,
                    until: time.adding(RevocationLookup.failureRetryDelay),
                    size: RevocationLookup.smallAnswerSize),
                for: key, at: time)
            throw error
        }
    }

    /// Returns the first URLs that may be queried, at most `RevocationCheck.urlLimit`. They have the scheme `http`, because
    /// `https` would itself need a revocation check, and at most 2048 octets.
    private static func queryable(_ urls: [String]) -> ArraySlice<String> {
        urls.filter { $0.utf8.count <= 2048 && $0.lowercased().hasPrefix("http://") }
            .prefix(RevocationCheck.urlLimit)
    }
}

/// The combined result of the sources that have been queried so far.
private struct Outcome {
    private var status: RevocationStatus?
    /// The problem of the first source that failed.
    private var problem: RevocationProblem?

    /// Whether no further source is needed.
    var isDefinite: Bool { status != nil }

    /// The status `revoked` if a source returned it, otherwise `good` if a source returned it, otherwise the first problem.
    var result: Result<RevocationStatus, RevocationProblem> {
        if let status { return .success(status) }
        return .failure(problem ?? .noSource)
    }

    /// Calls `source`, and records the status that it returns or the problem that it throws.
    mutating func record(_ source: () throws(RevocationProblem) -> RevocationStatus) {
        do throws(RevocationProblem) {
            let newStatus = try source()
            // Once a source has returned `revoked`, no other status replaces it.
            if status == nil || status == .good { status = newStatus }
        } catch {
            problem = problem ?? error
        }
    }
}
