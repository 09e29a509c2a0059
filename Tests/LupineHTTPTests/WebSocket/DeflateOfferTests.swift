// SPDX-License-Identifier: MIT

import Testing

@testable import LupineHTTP

/// Tests of the permessage-deflate offer and of the responses to it (RFC 7692 §7.1).
@Suite struct DeflateOfferTests {
    @Test(arguments: [
        (DeflateOffer(), "permessage-deflate; client_max_window_bits"),
        (DeflateOffer(clientWindow: .unlimited), "permessage-deflate"),
        (DeflateOffer(clientWindow: .limited(bits: 10)), "permessage-deflate; client_max_window_bits=10"),
        (
            DeflateOffer(
                serverNoContextTakeover: true, clientNoContextTakeover: true, serverMaxWindowBits: 9,
                clientWindow: .unlimited),
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover; "
                + "server_max_window_bits=9"
        ),
    ])
    func offersAreEncoded(_ offer: DeflateOffer, _ value: String) {
        #expect(offer.extensionElement == value)
    }

    struct Row: CustomTestStringConvertible {
        var offer = DeflateOffer(clientWindow: .unlimited)
        let answer: String
        let agreed: DeflateAgreement?

        var testDescription: String { "\(offer.extensionElement) answered with \(answer)" }
    }

    static let rows: [Row] = [
        Row(answer: "permessage-deflate", agreed: DeflateAgreement()),
        Row(
            answer: "permessage-deflate; server_no_context_takeover",
            agreed: DeflateAgreement(serverNoContextTakeover: true)),
        Row(
            answer: "permessage-deflate; client_no_context_takeover",
            agreed: DeflateAgreement(clientNoContextTakeover: true)),
        Row(
            answer: "permessage-deflate; Server_Max_Window_Bits=8",
            agreed: DeflateAgreement(serverMaxWindowBits: 8)),
        Row(
            answer: "permessage-deflate; server_max_window_bits=\"12\"",
            agreed: DeflateAgreement(serverMaxWindowBits: 12)),
        Row(answer: "permessage-deflate; server_max_window_bits", agreed: nil),
        Row(answer: "permessage-deflate; server_max_window_bits=7", agreed: nil),
        Row(answer: "permessage-deflate; server_max_window_bits=16", agreed: nil),
        Row(answer: "permessage-deflate; server_max_window_bits=08", agreed: nil),
        Row(answer: "permessage-deflate; server_max_window_bits=+9", agreed: nil),
        Row(answer: "permessage-deflate; client_max_window_bits=10", agreed: nil),
        Row(answer: "permessage-deflate; server_no_context_takeover=1", agreed: nil),
        Row(
            answer: "permessage-deflate; server_no_context_takeover; server_no_context_takeover", agreed: nil),
        Row(answer: "permessage-deflate; server_max_window_bits=9; SERVER_MAX_WINDOW_BITS=9", agreed: nil),
        Row(answer: "permessage-deflate; memory=1", agreed: nil),
        Row(offer: DeflateOffer(), answer: "permessage-deflate", agreed: DeflateAgreement()),
        Row(
            offer: DeflateOffer(), answer: "permessage-deflate; client_max_window_bits=10",
            agreed: DeflateAgreement(clientMaxWindowBits: 10)),
        Row(
            offer: DeflateOffer(), answer: "permessage-deflate; client_max_window_bits=8",
            agreed: DeflateAgreement(clientMaxWindowBits: 8)),
        Row(offer: DeflateOffer(), answer: "permessage-deflate; client_max_window_bits", agreed: nil),
        Row(
            offer: DeflateOffer(clientWindow: .limited(bits: 10)), answer: "permessage-deflate",
            agreed: DeflateAgreement(clientMaxWindowBits: 10)),
        Row(
            offer: DeflateOffer(clientWindow: .limited(bits: 10)),
            answer: "permessage-deflate; client_max_window_bits=9",
            agreed: DeflateAgreement(clientMaxWindowBits: 9)),
        Row(
            offer: DeflateOffer(clientWindow: .limited(bits: 10)),
            answer: "permessage-deflate; client_max_window_bits=11", agreed: nil),
        Row(
            offer: DeflateOffer(clientWindow: .limited(bits: 10)),
            answer: "permessage-deflate; client_max_window_bits", agreed: nil),
        Row(
            offer: DeflateOffer(serverMaxWindowBits: 10),
            answer: "permessage-deflate; server_max_window_bits=10",
            agreed: DeflateAgreement(serverMaxWindowBits: 10)),
        Row(
            offer: DeflateOffer(serverMaxWindowBits: 10),
            answer: "permessage-deflate; server_max_window_bits=11",
            agreed: nil),
        Row(offer: DeflateOffer(serverMaxWindowBits: 10), answer: "permessage-deflate", agreed: nil),
        Row(offer: DeflateOffer(serverNoContextTakeover: true), answer: "permessage-deflate", agreed: nil),
        Row(
            offer: DeflateOffer(serverNoContextTakeover: true, clientNoContextTakeover: true),
            answer: "permessage-deflate; server_no_context_takeover",
            agreed: DeflateAgreement(serverNoContextTakeover: true)),
    ]

    @Test(arguments: rows) func responsesAreAcceptedOrRefused(_ row: Row) {
        let octets = Array(row.answer.utf8)
        let result = Result { () throws(WebSocketError) in
            try row.offer.agreement(from: 0..<octets.count, in: octets.span)
        }
        if let agreed = row.agreed {
            #expect(result == .success(agreed))
        } else {
            #expect(result == .failure(.invalidExtensionParameter(Excerpt(row.answer))))
        }
    }
}
