// SPDX-License-Identifier: MIT

import LupineTLS

/// Decides with an evaluator whether one peer is trusted, without blocking a loop.
///
/// Checks that only compute run on the loop. Fetches of revocation data run on a worker thread. A check of the program, which may
/// block, runs on the loop group's callout threads (`CalloutThreads`) and may answer at any time on any thread. The driver is
/// confined to its loop. It calls `report` once, perhaps before `start` returns, unless `cancel` is called first.
final class TrustEvaluationDriver {
    typealias Verdict = Result<TrustVerdict, TrustFailure>

    private var evaluation: TrustEvaluation
    private let revocation: RevocationSupport
    private let loop: EventLoop
    /// Nil once it has been called, and after `cancel`.
    private var report: ((Verdict) -> Void)?
    /// The number of questions to other threads so far, by which the driver recognizes a late answer to an earlier question.
    private var questionCount = 0
    /// The work that other threads have been given, which `cancel` withdraws.
    private var pendingJob = PendingJob.none

    private enum PendingJob {
        case none
        case worker(WorkerPool.Ticket)
        case callout(CalloutThreads.Ticket)
    }

    init(
        _ profile: TLSProfile, _ trust: PeerTrust, on loop: EventLoop, report: @escaping (Verdict) -> Void
    ) {
        evaluation = TrustEvaluation(of: trust, by: profile.trust, at: .now)
        revocation = profile.revocation
        self.loop = loop
        self.report = report
    }

    /// Starts the evaluation.
    ///
    /// `resume` returns what has to be done next. `cached` permits no fetch, because this is the loop's thread. If a fetch is
    /// needed, `resume` returns `needsWorker`.
    func start() { perform(evaluation.resume(revocation: .cached(revocation.cache))) }

    /// Cancels the evaluation; `report` is not called afterwards.
    func cancel() {
        report = nil
        switch pendingJob {
        case .none: break
        case .worker(let ticket): WorkerPool.trust.withdraw(ticket)
        case .callout(let ticket): loop.callouts.withdraw(ticket)
        }
        pendingJob = .none
    }

    /// Performs what the evaluation needs next (its `Step`).
    private func perform(_ step: TrustEvaluation.Step) {
        guard report != nil else { return }
        switch step {
        case .finished(let verdict):
            // `cancel` only sets the property to nil here, so that no second report can follow: no job is pending.
            let report = report
            cancel()
            report?(verdict)
        case .needsWorker: continueOnWorker()
        case .asks(let check, let trust): ask(check, about: trust)
        }
    }

    /// Runs a check of the program once a callout thread is free. The time-outs of the waiting exchange run meanwhile.
    private func ask(_ check: CustomTrustCheck, about trust: PeerTrust) {
        let reply = reply(default: Self.refused("the evaluation was given up")) { driver, answer in
            driver.pendingJob = .none
            // `answer` passes the answer to the evaluation, and returns what has to be done next.
            driver.perform(
                driver.evaluation.answer(answer, revocation: .cached(driver.revocation.cache)))
        }
        let threads = loop.callouts
        let ticket = threads.newTicket()
        pendingJob = .callout(ticket)
        do throws(Errno) {
            try threads.submit(ticket) {
                assertNoLockIsHeld()
                assertNotOnLoop()
                check.ask(about: trust) { reply.fulfill($0) }
            }
        } catch { reply.fulfill(Self.refused("there is no thread to ask on: \(error)")) }
    }

    /// Continues the evaluation on a worker thread, where it may fetch revocation data.
    private func continueOnWorker() {
        /// The evaluation after the work, or nil if the worker has not changed it; and the next step.
        typealias WorkerAnswer = (evaluation: TrustEvaluation?, step: TrustEvaluation.Step)
        func failed(_ reason: String) -> WorkerAnswer { (nil, .finished(Self.refused(reason))) }
        let reply = reply(default: failed("the evaluation was given up")) { driver, answer in
            driver.pendingJob = .none
            if let evaluation = answer.evaluation { driver.evaluation = evaluation }
            driver.perform(answer.step)
        }
        let pool = WorkerPool.trust
        let ticket = pool.newTicket()
        pendingJob = .worker(ticket)
        let placement = pool.submit(ticket) { [evaluation, revocation] in
            var evaluation = evaluation
            let step = evaluation.resumeOnWorker(revocation: revocation.access)
            reply.fulfill((evaluation, step))
        }
        switch placement {
        case .running, .queued: break
        case .allHung: reply.fulfill(failed("every thread for such questions is busy"))
        case .noThread(let error): reply.fulfill(failed("there is no thread to ask on: \(error)"))
        }
    }

    /// Returns a refusal of the peer, with a reason for the user.
    private static func refused<Success>(_ reason: String) -> Result<Success, TrustFailure> {
        .failure(.refused(reason))
    }

    /// Returns a reply that delivers its answer, or the default answer, on the loop. It ignores a late answer: one that comes
    /// after the driver has reported, or after it has asked another question.
    private func reply<Answer: Sendable>(
        default defaultAnswer: Answer, _ deliver: @escaping @Sendable (TrustEvaluationDriver, Answer) -> Void
    ) -> LoopReply<Answer> {
        let bound = LoopBound(self, on: loop)
        questionCount += 1
        let number = questionCount
        return LoopReply(default: defaultAnswer) { [loop] answer in
            // The result is ignored: if the loop has ended, nobody waits for the verdict.
            _ = loop.execute {
                let driver = bound.value
                guard driver.report != nil, driver.questionCount == number else { return }
                deliver(driver, answer)
            }
        }
    }
}
