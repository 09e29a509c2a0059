// SPDX-License-Identifier: MIT

import LupineTLS

/// Evaluates one peer with an evaluator, without blocking a loop.
///
/// Checks that only compute run on the loop. Fetches of revocation data run on a worker thread. A check of the program, which may
/// block, runs on the loop group's callout threads and may answer at any time on any thread. The driver is confined to its loop.
/// It calls `report` once, perhaps before `start` returns, unless it is cancelled.
final class TrustEvaluationDriver {
    typealias Verdict = Result<TrustVerdict, TrustFailure>

    private var evaluation: TrustEvaluation
    private let revocation: RevocationSupport
    private let loop: EventLoop
    private var report: ((Verdict) -> Void)?
    /// The number of questions to other threads so far, so that a late answer to an earlier question is ignored.
    private var questions = 0
    /// Work submitted to another thread, to be withdrawn on cancellation.
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
    func start() { perform(evaluation.resume(revocation: .cached(revocation.cache))) }

    /// Cancels the evaluation; `report` is not called any more.
    func cancel() {
        report = nil
        switch pendingJob {
        case .none: break
        case .worker(let ticket): WorkerPool.trust.withdraw(ticket)
        case .callout(let ticket): loop.callouts.withdraw(ticket)
        }
        pendingJob = .none
    }

    /// Performs the step that the evaluation needs next.
    private func perform(_ step: TrustEvaluation.Step) {
        guard report != nil else { return }
        switch step {
        case .finished(let verdict):
            // `cancel` clears the property, so that no second report can follow; no job is pending now.
            let report = report
            cancel()
            report?(verdict)
        case .needsWorker: continueOnWorker()
        case .asks(let check, let trust): ask(check, about: trust)
        }
    }

    /// Runs a check of the program when a callout thread is free. Meanwhile the time-outs of the waiting exchange run.
    private func ask(_ check: CustomTrustCheck, about trust: PeerTrust) {
        let reply = reply(unanswered: Self.refused("the evaluation was given up")) { driver, answer in
            driver.pendingJob = .none
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
        /// The next step, and the evaluation in its new state; nil if the worker has not changed it.
        typealias Step = (evaluation: TrustEvaluation?, step: TrustEvaluation.Step)
        func failed(_ reason: String) -> Step { (nil, .finished(Self.refused(reason))) }
        let reply = reply(unanswered: failed("the evaluation was given up")) { driver, answer in
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

    /// Returns a reply that delivers its answer on the loop.
    private func reply<Answer: Sendable>(
        unanswered: Answer, _ deliver: @escaping @Sendable (TrustEvaluationDriver, Answer) -> Void
    ) -> LoopReply<Answer> {
        let bound = LoopBound(self, on: loop)
        questions += 1
        let question = questions
        return LoopReply(unanswered: unanswered) { [loop] answer in
            _ = loop.execute {
                let driver = bound.value
                guard driver.report != nil, driver.questions == question else { return }
                deliver(driver, answer)
            }
        }
    }
}
