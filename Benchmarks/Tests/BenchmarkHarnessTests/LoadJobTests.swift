// SPDX-License-Identifier: MIT
import LoadProgram
import Testing

/// The command line of the load programs.
@Suite struct LoadJobTests {
    private let target = ["127.0.0.1", "80", "/small", "8", "100"]

    @Test func whatIsNotSaidIsPlainAndKept() throws {
        let job = try #require(LoadJob(["async"] + target))
        #expect(job.form == .async && job.mode == .get && job.tls == nil)
        #expect(job.urls == ["http://127.0.0.1:80/small"] && job.firstURL == job.urls[0])
        #expect(job.connections == 8 && job.requests == 100 && job.round == 8)
    }

    @Test func modeAndTLS() throws {
        let job = try #require(LoadJob(["handler", "full", "1.3", "roots.pem"] + target))
        #expect(job.mode == .full && job.tls?.version == "1.3" && job.tls?.authorities == "roots.pem")
        #expect(job.urls == ["https://127.0.0.1:80/small"])
    }

    @Test func whatIsAboutMemoryAsksOnceForEachConnectionAndFirstForWhatIsNotHeld() throws {
        let job = try #require(LoadJob(["async", "hold", "127.0.0.1", "80", "/512", "512", "1"]))
        #expect(job.isAboutMemory && job.requests == 512)
        #expect(job.firstURL == "http://127.0.0.1:80/1")
    }

    @Test func oneHTTP2Connection() throws {
        let job = try #require(LoadJob(["--http2", "async", "get", "1.3", "roots.pem"] + target))
        #expect(job.sharesConnection && job.form == .async && job.tls != nil && job.connections == 8)
        #expect(try #require(LoadJob(["async"] + target)).sharesConnection == false)
    }

    @Test func everyHostHasATurnInARound() throws {
        let job = try #require(LoadJob(["async", "127.0.4.254x4", "80", "/", "2", "9"]))
        #expect(
            job.urls.map { $0.split(separator: "/")[1] } == [
                "127.0.4.254:80", "127.0.4.255:80", "127.0.5.0:80", "127.0.5.1:80",
            ])
        #expect(job.round == 4)
    }

    @Test(arguments: [
        [], ["async"], ["wrong", "127.0.0.1", "80", "/", "1", "1"],
        ["async", "wrong", "127.0.0.1", "80", "/", "1", "1"],
        ["async", "get", "1.3", "127.0.0.1", "80", "/", "1", "1"],
        ["async", "127.0.0.1", "80", "/", "0", "1"],
        ["--http2", "async", "full", "127.0.0.1", "80", "/", "1", "1"],
        ["async", "127.0.0.1", "port", "/", "1", "1"],
    ])
    func whatIsNotKnownIsRefused(_ arguments: [String]) {
        #expect(LoadJob(arguments) == nil)
    }

    @Test(arguments: ["localhost", "example.test", "127.0.0.1", "ax3", "1.2.3x4", "127.0.0.1x0"])
    func oneHost(_ text: String) {
        #expect(LoadJob.hosts(text) == [text])
    }
}
