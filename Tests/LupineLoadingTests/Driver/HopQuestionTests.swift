// SPDX-License-Identifier: MIT

import Foundation
import LupineTransport
import Testing

@testable import LupineLoading

struct HopQuestionTests {
    /// Evaluates the answer about a redirect of a POST from `https://h/a` to `url`, which the program has approved or not.
    private static func evaluation(
        to url: String, isApproved: Bool, byProtocol: Bool = false, followsInsecure: Bool = true
    ) throws -> AnswerEvaluation {
        let request = try RedirectRuleTests.request("POST", "https://h/a", ["X-Own": "1"])
        let sent = try RedirectRuleTests.request("POST", "https://h/a", ["X-Own": "1", "Cookie": "a=b"])
        let target = try RedirectRuleTests.request("GET", url, ["X-Own": "1", "Cookie": "a=b"])
        let response = try RedirectRuleTests.response(303, to: url, from: request.url)
        let proposal = RedirectRule.Proposal(request: target, credential: nil, keepsBody: false)
        let definition = TaskDefinition(kind: .upload, request: request, body: .data(Data("x".utf8)))
        var options = URLSessionConfiguration.LupineOptions()
        options.followsInsecureRedirects = followsInsecure
        return AnswerEvaluation(
            .redirect(isApproved ? target : nil),
            to: byProtocol ? .protocolRedirect(response, target) : .redirect(response, proposal),
            HopBasis(definition), sentRequest: sent, nil, options)
    }

    @Test("[U-10.8] a redirect that the program approves changes what the next hop is made from")
    func approved() throws {
        let evaluation = try Self.evaluation(to: "https://other/b", isApproved: true)
        guard case .nextHop = evaluation.decision else {
            Issue.record("\(evaluation.decision)")
            return
        }
        #expect(evaluation.followedRequest?.url?.absoluteString == "https://other/b")
        #expect(evaluation.basis.request == evaluation.followedRequest)
        #expect(evaluation.basis.redirects.count == 1)
        #expect(evaluation.basis.redirects.farthestMove == .toOtherOrigin)
        if case .request = evaluation.basis.body {} else { Issue.record("the upload's data is sent again") }
    }

    @Test("[U-17.6] a protocol's redirect keeps the body, and loses the fields that were added")
    func approvedByProtocol() throws {
        let evaluation = try Self.evaluation(to: "https://h/b", isApproved: true, byProtocol: true)
        #expect(evaluation.followedRequest?.allHTTPHeaderFields == ["X-Own": "1"])
        if case .data = evaluation.basis.body {} else { Issue.record("the upload's data is dropped") }
    }

    @Test("a redirect that the program refuses is delivered, that of a protocol without content")
    func refused() throws {
        for byProtocol in [false, true] {
            let evaluation = try Self.evaluation(
                to: "https://other/b", isApproved: false, byProtocol: byProtocol)
            switch (evaluation.decision, byProtocol) {
            case (.deliver, false), (.deliverWithoutContent, true): break
            default: Issue.record("\(evaluation.decision)")
            }
            #expect(evaluation.followedRequest == nil)
            #expect(evaluation.basis.redirects.count == 0)
        }
    }

    @Test("[U-10.5] a redirect from https to http that the configuration forbids fails the load")
    func insecure() throws {
        let evaluation = try Self.evaluation(to: "http://h/b", isApproved: true, followsInsecure: false)
        guard case .fail(let error) = evaluation.decision else {
            Issue.record("\(evaluation.decision)")
            return
        }
        #expect(error.code == .appTransportSecurityRequiresSecureConnection)
        #expect(evaluation.followedRequest == nil)
        #expect(evaluation.basis.redirects.count == 0)
    }

    @Test("only the first answer to the last question counts")
    func numbers() {
        var questions = LoadQuestions()
        let first = questions.begin()
        let second = questions.begin()
        let accepted = [questions.end(first), questions.end(second), questions.end(second)]
        #expect(accepted == [false, true, false])
        let third = questions.begin()
        let isAccepted = questions.end(third)
        #expect(isAccepted)
    }
}
