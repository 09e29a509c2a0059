// SPDX-License-Identifier: MIT

/// Determines the revocation status of single certificates, trying one source after the other until one gives a definite answer.
struct RevocationLookup {
    /// The time in seconds for which a failed URL is not tried again.
    static let failurePause: Int64 = 60
    /// The size, in bytes, with which a cached status or problem counts.
    private static let smallAnswerSize = 256

    let options: RevocationOptions
    let lists: [RevocationList]
    let access: RevocationAccess
    let time: UnixTime

    /// The two methods of querying a certificate's own sources: its responder, or its distribution points.
    private enum Method { case ocsp, crl }

    /// Returns the definite status, or the problem of the first source that failed.
    func status(
        of certificate: Certificate, issuer: Certificate, staple: [UInt8]?
    ) -> Result<RevocationStatus, RevocationProblem> {
        var outcome = Outcome()
        if let staple {
            outcome.record { () throws(RevocationProblem) in
                try OCSPAnswer(staple, about: certificate, issuer: issuer, at: time).status
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

    /// Uses a cached OCSP status, or fetches one.
    private func queryOCSP(_ certificate: Certificate, _ issuer: Certificate, _ outcome: inout Outcome) {
        let key = RevocationKey.status(certificate: certificate.fingerprint, issuer: issuer.fingerprint)
        if case .status(let status)? = access.cache?.answer(for: key, at: time)?.content {
            return outcome.record { status }
        }
        for url in RevocationLookup.usable(certificate.ocspURLs) where !outcome.isDefinite {
            let failureKey = RevocationKey.failure(url: url, certificate: certificate.fingerprint)
            outcome.record { () throws(RevocationProblem) in
                try cachingFailure(failureKey) { () throws(RevocationProblem) in
                    guard let request = OCSPAnswer.request(about: certificate, issuer: issuer) else {
                        throw .notFetched(url: url, "OpenSSL cannot make the request")
                    }
                    let query = RevocationQuery(url: url, body: request, limit: OCSPAnswer.sizeLimit)
                    let bytes = try fetch(query)
                    let answer = try OCSPAnswer(bytes, about: certificate, issuer: issuer, at: time)
                    access.cache?.keep(
                        RevocationAnswer(
                            content: .status(answer.status), from: answer.from, until: answer.until,
                            size: RevocationLookup.smallAnswerSize),
                        for: key, at: time)
                    return answer.status
                }
            }
        }
    }

    /// Uses cached revocation lists, or fetches them.
    private func queryLists(for certificate: Certificate, _ issuer: Certificate, _ outcome: inout Outcome) {
        for url in RevocationLookup.usable(certificate.crlURLs) where !outcome.isDefinite {
            let key = RevocationKey.list(url: url, issuer: issuer.fingerprint)
            if case .list(let list)? = access.cache?.answer(for: key, at: time)?.content {
                outcome.record { () throws(RevocationProblem) in try list.status(of: certificate, at: time) }
                continue
            }
            // A list fails for all certificates of its issuer.
            let failureKey = RevocationKey.failure(url: url, certificate: issuer.fingerprint)
            outcome.record { () throws(RevocationProblem) in
                let list = try cachingFailure(failureKey) { () throws(RevocationProblem) in
                    let bytes = try fetch(
                        RevocationQuery(url: url, body: nil, limit: RevocationList.sizeLimit))
                    let list = try RevocationList(der: bytes)
                    try list.verifySignature(of: issuer)
                    guard list.window.contains(time) else { throw .outdated }
                    access.cache?.keep(
                        RevocationAnswer(
                            content: .list(list), from: list.window.from, until: list.window.until,
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

    /// Returns the result of `body`. If it throws, caches the problem, and throws it again without calling `body` for the next
    /// `failurePause` seconds.
    private func cachingFailure<Answer>(
        _ key: RevocationKey, _ body: () throws(RevocationProblem) -> Answer
    ) throws(RevocationProblem) -> Answer {
        guard access.fetcher != nil else { throw .noSource }
        if case .problem(let problem)? = access.cache?.answer(for: key, at: time)?.content { throw problem }
        do throws(RevocationProblem) {
            return try body()
        } catch {
            access.cache?.keep(
                RevocationAnswer(
                    content: .problem(error), from: time, until: time.adding(RevocationLookup.failurePause),
                    size: RevocationLookup.smallAnswerSize),
                for: key, at: time)
            throw error
        }
    }

    /// The URLs that can be queried: only `http`, because `https` would itself need a revocation check.
    private static func usable(_ urls: [String]) -> ArraySlice<String> {
        urls.filter { $0.utf8.count <= 2048 && $0.lowercased().hasPrefix("http://") }
            .prefix(RevocationCheck.urlLimit)
    }
}

/// The results of the sources that have been queried so far.
private struct Outcome {
    private var status: RevocationStatus?
    private var problem: RevocationProblem?

    /// Whether no further source is needed.
    var isDefinite: Bool { status != nil }

    /// "Revoked" if a source says so, otherwise "good" if a source says so, otherwise the first problem.
    var result: Result<RevocationStatus, RevocationProblem> {
        if let status { return .success(status) }
        return .failure(problem ?? .noSource)
    }

    /// Records the status that `source` returns, or its problem.
    mutating func record(_ source: () throws(RevocationProblem) -> RevocationStatus) {
        do throws(RevocationProblem) {
            let found = try source()
            if status == nil || status == .good { status = found }
        } catch {
            problem = problem ?? error
        }
    }
}
