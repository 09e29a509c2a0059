// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import Lupine

/// The address that a session remembers as text.
struct LastURLTests {
    @Test("each text gets the URL that it spells, whichever came before")
    func everyOrder() throws {
        // The two last ones are equal as strings, and different addresses.
        let texts = [
            "http://a.test/", "http://a.test/b", "http://a.test/c", "http://b.test/", "a", "",
            "http://a.test/\u{E9}", "http://a.test/e\u{301}",
        ]
        for first in texts {
            for second in texts {
                let memory = LastURL()
                for text in [first, second, second, first] {
                    let remembered = (try? memory.request(for: text))?.url
                    let read = try? text.asURL()
                    #expect(remembered == read, "\(text) behind \(first) and \(second)")
                    #expect(remembered?.absoluteString == read?.absoluteString)
                }
            }
        }
    }

    @Test("what is no text is asked for its URL each time")
    func others() throws {
        final class Counter: URLConvertible {
            let asked = Protected(0)

            func asURL() throws -> URL {
                let count = asked.write { count in
                    count += 1
                    return count
                }
                return URL(fileURLWithPath: "/\(count)")
            }
        }
        let counter = Counter()
        let memory = LastURL()
        #expect(try memory.request(for: counter).url?.path == "/1")
        #expect(try memory.request(for: counter).url?.path == "/2")
        let url = try #require(URL(string: "http://a.test/"))
        #expect(try memory.request(for: url).url == url)
    }
}
