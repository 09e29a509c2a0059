// SPDX-License-Identifier: MIT

import Testing

@testable import Lupine

private struct Counter: AlamofireExtended {
    var count = 1
}

private final class Box: AlamofireExtended {
    var count = 1
}

extension AlamofireExtension where ExtendedType == Counter {
    fileprivate static var name: String { "counter" }
    fileprivate var doubled: Int { type.count * 2 }
}

struct AlamofireExtendedTests {
    @Test("[V-10.1] af wraps the value and the type")
    func wraps() {
        #expect(Counter(count: 4).af.type.count == 4)
        #expect(Counter(count: 4).af.doubled == 8)
        #expect(Counter.af.name == "counter")
        let box = Box()
        #expect(box.af.type === box)
        #expect(AlamofireExtension(7).type == 7)
    }

    @Test("[V-10.1] each access wraps again: a value is copied, and setting af changes nothing")
    func wrapsEachTime() {
        var counter = Counter()
        var wrapper = counter.af
        wrapper.type.count = 9
        #expect(counter.count == 1)
        counter.af = wrapper
        counter.af.type.count = 5
        #expect(counter.count == 1)
        #expect(counter.af.type.count == 1)
    }

    @Test("[V-10.2] a configuration under af has the default headers and is a new one each time")
    func configurations() {
        #expect(URLSessionConfiguration.af.default.headers.dictionary == HTTPHeaders.default.dictionary)
        #expect(URLSessionConfiguration.af.ephemeral.headers.dictionary == HTTPHeaders.default.dictionary)
        #expect(URLSessionConfiguration.default.headers.isEmpty)

        let changed = URLSessionConfiguration.af.default
        changed.headers["X-Changed"] = "1"
        changed.timeoutIntervalForRequest = 3
        #expect(URLSessionConfiguration.af.default !== changed)
        #expect(URLSessionConfiguration.af.default.headers["X-Changed"] == nil)
        #expect(URLSessionConfiguration.af.default.timeoutIntervalForRequest == 60)
        let ephemeral = URLSessionConfiguration.af.ephemeral
        ephemeral.headers = []
        #expect(URLSessionConfiguration.af.ephemeral.headers.dictionary == HTTPHeaders.default.dictionary)
    }

    @Test("[V-10.2] the ephemeral configuration keeps nothing")
    func ephemeralIsEphemeral() {
        #expect(URLSessionConfiguration.af.ephemeral.urlCache !== URLSessionConfiguration.af.default.urlCache)
        #expect(
            URLSessionConfiguration.af.ephemeral.httpCookieStorage
                !== URLSessionConfiguration.af.default.httpCookieStorage)
    }

    @Test("[V-10.2] a configuration's own af wraps it")
    func ownConfiguration() {
        let configuration = URLSessionConfiguration.default
        #expect(configuration.af.type === configuration)
    }
}
