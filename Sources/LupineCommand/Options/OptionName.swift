// SPDX-License-Identifier: MIT

/// The options of the command. A case identifies an option in the parser, in the tests and in `OptionTable`, which has the names
/// that the user types.
enum OptionName: String, CaseIterable, Sendable {
    // Request: the method, the body, the URL and the header fields.
    case request, data, dataRaw, dataBinary, dataURLEncode, part, json, form, multipart, raw, upload, get,
        head
    case url, urlQuery, formString, range, timeCondition, etagCompare, etagSave, pathAsIs, defaultScheme,
        globOff, next
    case header, userAgent, referer, compressed, rawEncoding, ignoreStandardInput
    // Identity: credentials, cookies and the user's sessions.
    case user, digest, netrc, cookie, cookieJar, session
    case authType, basic, anyAuth, bearer, netrcFile, netrcOptional, ignoreNetrc, sessionReadOnly
    // Network: redirects, proxies, connections, retries and limits.
    case location, maximumRedirects, noDowngrade, proxy, noProxy, resolve, unixSocket, interface, http11
    case http2, priorKnowledge
    case connectTimeout, maximumTime, retry, limitRate
    case proxyUser, socks, connectTo, ipv4, ipv6, maximumFileSize, retryAllErrors, retryRefused, retryDelay
    case retryMaximumTime, protocols, redirectProtocols, parallel
    // TLS: certificates, keys, versions and ciphers.
    case insecure, authorities, certificate, key, password, pin, tls12, tls13
    case verify, maximumTLS, tlsVersion, ciphers, cipherSuites
    // Output: what is printed, and where content is saved.
    case include, print, headersOnly, bodyOnly, verbose, silent, showError, fail, writeOut, dumpHeader, color,
        pretty
    case output, remoteName, remoteHeaderName, continueAt, noProgress
    case failWithBody, offline, all, unsorted, quiet, download, continueDownload, remoteNameAll, createFolders
    case outputFolder, remoteTime, progressBar
    // Reports: what is printed about a transfer.
    case timing, certificates, events, toCurl, showSecrets, stream, serverSentEvents
    case help, version
}
