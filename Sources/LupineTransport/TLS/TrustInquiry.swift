// SPDX-License-Identifier: MIT

import LupineTLS

/// Takes one peer through the checks of an evaluator, without keeping a loop waiting.
///
/// What only computes runs on the loop; what fetches runs on a worker; whoever made up a check of his own answers when and
/// where he likes. It belongs to its loop and reports once, perhaps before `start` returns, unless it is cancelled.
final class TrustInquiry {
    typealias Verdict = Result<TrustVerdict, TrustFailure>

    private var evaluation: TrustEvaluation
    private let revocation: RevocationSupport
    private let loop: EventLoop
    private var report: ((Verdict) -> Void)?
    /// Counts the questions put to others, so that an answer to an earlier one is known.
    private var questions = 0
    /// Work on its way to a worker, to be withdrawn if nobody wants it any more.
    private var ticket: WorkerPool.Ticket?

    init(
        _ profile: TLSProfile, _ trust: PeerTrust, on loop: EventLoop, report: @escaping (Verdict) -> Void
    ) {
        evaluation = TrustEvaluation(of: trust, by: profile.trust, at: .now)
        revocation = profile.revocation
        self.loop = loop
        self.report = report
    }

    /// Begins.
    func start() { follow(evaluation.resume(revocation: .cached(revocation.cache))) }

    /// Nobody waits for the verdict any more.
    func cancel() {
        report = nil
        if let ticket { WorkerPool.trust.withdraw(ticket) }
        ticket = nil
    }

    private func follow(_ step: TrustEvaluation.Step) {
        guard report != nil else { return }
        switch step {
        case .finished(let verdict):
            let report = report
            cancel()
            report?(verdict)
        case .needsWorker: goToWorker()
        case .asks(let check, let trust):
            let reply = reply(unanswered: Self.refused("the evaluation was given up")) { inquiry, answer in
                inquiry.follow(
                    inquiry.evaluation.answer(answer, revocation: .cached(inquiry.revocation.cache)))
            }
            check.ask(about: trust) { reply.give($0) }
        }
    }

    private func goToWorker() {
        typealias Step = (evaluation: TrustEvaluation?, step: TrustEvaluation.Step)
        func failed(_ reason: String) -> Step { (nil, .finished(Self.refused(reason))) }
        let reply = reply(unanswered: failed("the evaluation was given up")) { inquiry, answer in
            inquiry.ticket = nil
            if let evaluation = answer.evaluation { inquiry.evaluation = evaluation }
            inquiry.follow(answer.step)
        }
        let pool = WorkerPool.trust
        let ticket = pool.newTicket()
        self.ticket = ticket
        let placement = pool.submit(ticket) { [evaluation, revocation] in
            var evaluation = evaluation
            let step = evaluation.resumeOnWorker(revocation: revocation.access)
            reply.give((evaluation, step))
        }
        switch placement {
        case .running, .queued: break
        case .allHung: reply.give(failed("every thread for such questions is busy"))
        case .noThread(let error): reply.give(failed("there is no thread to ask on: \(error)"))
        }
    }

    private static func refused<Success>(_ reason: String) -> Result<Success, TrustFailure> {
        .failure(.refused(reason))
    }

    /// The way back to the loop for the answer to a question.
    private func reply<Answer: Sendable>(
        unanswered: Answer, _ heard: @escaping @Sendable (TrustInquiry, Answer) -> Void
    ) -> LoopReply<Answer> {
        let bound = LoopBound(self, on: loop)
        questions += 1
        let question = questions
        return LoopReply(unanswered: unanswered) { [loop] answer in
            _ = loop.execute {
                let inquiry = bound.value
                guard inquiry.report != nil, inquiry.questions == question else { return }
                heard(inquiry, answer)
            }
        }
    }
}
