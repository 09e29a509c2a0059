// SPDX-License-Identifier: MIT

import Foundation
import Lupine
import Testing

/// Metrics, and the equivalent curl command.
@Suite struct StatisticsSnippets {
    @available(*, deprecated)
    @Test func aResponseHasMetrics() async throws {
        try await HTTPBin.serve { httpbin in
            let response: AFDataResponse<Any> = await handed { hand in
                AF.request("\(httpbin)/get").responseJSON { response in
                    print(response.metrics)
                    hand(response)
                }
            }
            #expect(response.metrics?.transactionMetrics.count == 1)
        }
    }

    @available(*, deprecated)
    @Test func aRequestIsACommandOfCurl() async throws {
        try await HTTPBin.serve { httpbin in
            let description: String = await handed { hand in
                AF.request("\(httpbin)/get")
                    .cURLDescription { description in
                        print(description)
                        hand(description)
                    }
                    .responseJSON { response in
                        debugPrint(response.metrics)
                    }
            }
            let lines = description.components(separatedBy: " \\\n\t")
            #expect(lines.first == "$ curl -v")
            #expect(lines.contains("-X GET"))
            #expect(
                lines.contains { $0.hasPrefix("-H \"Accept-Language: ") }
                    == (HTTPHeaders.default["Accept-Language"] != nil))
            #expect(lines.contains("-H \"Accept-Encoding: br;q=1.0, gzip;q=0.9, deflate;q=0.8\""))
            #expect(lines.contains { $0.hasPrefix("-H \"User-Agent: ") })
            #expect(lines.last == "\"\(httpbin)/get\"")
        }
    }
}
