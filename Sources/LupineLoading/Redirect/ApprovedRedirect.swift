// SPDX-License-Identifier: MIT

internal import Foundation
internal import LupineTransport

/// A redirect that the program has approved, perhaps with a changed request (U-10.8).
struct ApprovedRedirect: Sendable {
    /// The request to send next.
    let request: URLRequest
    /// The change of origin.
    let move: RedirectMove
    /// The user and password in the URL of the redirect; nil for none.
    let credential: URLCredential?
    /// Whether the task's file or data is sent again, instead of the body of `request`.
    let keepsBody: Bool

    /// - Parameters:
    ///   - request: The request that the program has approved.
    ///   - proposal: The request that `RedirectRule` has proposed; nil for the redirect of a program's `URLProtocol`.
    ///   - previousURL: The URL of the redirected request.
    init(to request: URLRequest, insteadOf proposal: RedirectRule.Proposal?, from previousURL: URL?) {
        self.request = request
        let target = WebOrigin(request.url)
        move = RedirectMove(from: WebOrigin(previousURL), to: target)
        // The credential is only for the origin of the proposed request.
        credential = target == WebOrigin(proposal?.request.url) ? proposal?.credential : nil
        // Without a proposal, body and method count as kept. The program may have changed the method of the proposed request.
        let keepsMethod = request.httpMethod == (proposal?.request ?? request).httpMethod
        keepsBody = proposal?.keepsBody ?? true && keepsMethod
    }
}

extension URLRequest {
    /// Returns the request of a redirect without the fields that the driver has added to the last hop's request, such as cookies
    /// and answers to challenges (U-10.6, U-17.6). A program's `URLProtocol` makes the redirect's request from the request that
    /// it has received, and the driver adds such fields to each hop anew.
    ///
    /// - Parameters:
    ///   - original: The request of the last hop, before the driver has added fields.
    ///   - sent: The request of the last hop, as the `URLProtocol` has received it.
    func removingFields(addedTo original: URLRequest, in sent: URLRequest) -> URLRequest {
        var request = self
        for field in sent.headerList.fields
        where original.value(forHTTPHeaderField: field.name) != field.value {
            // A field that the `URLProtocol` has changed stays.
            guard request.value(forHTTPHeaderField: field.name) == field.value else { continue }
            request.setValue(nil, forHTTPHeaderField: field.name)
        }
        return request
    }
}
