// SPDX-License-Identifier: MIT

/// The switches of the command, one case each: what a parser, a test and the table of options mean by the same name.
enum OptionName: String, CaseIterable, Sendable {
    // What is sent.
    case request, data, dataRaw, dataBinary, dataURLEncode, part, json, form, multipart, raw, upload, get,
        head
    case header, userAgent, referer, compressed, rawEncoding, ignoreStandardInput
    // Who asks.
    case user, digest, netrc, cookie, cookieJar, session
    // How it gets there.
    case location, maximumRedirects, noDowngrade, proxy, noProxy, resolve, unixSocket, interface, http11
    case connectTimeout, maximumTime, retry, limitRate
    // TLS.
    case insecure, authorities, certificate, key, password, pin, tls12, tls13
    // What is printed.
    case include, print, headersOnly, bodyOnly, verbose, silent, showError, fail, writeOut, dumpHeader, color,
        pretty
    case output, remoteName, remoteHeaderName, continueAt, noProgress
    // What else is told.
    case timing, certificates, events, toCurl, showSecrets, stream, serverSentEvents
    case help, version
}
