// SPDX-License-Identifier: MIT

/// The switches of the command, one case each: what a parser, a test and the table of options mean by the same name.
enum OptionName: String, CaseIterable, Sendable {
    // What is sent.
    case request, data, dataRaw, dataBinary, dataURLEncode, part, json, form, multipart, raw, upload, get,
        head
    case url, urlQuery, formString, range, timeCondition, etagCompare, etagSave, pathAsIs, defaultScheme,
        globOff, next
    case header, userAgent, referer, compressed, rawEncoding, ignoreStandardInput
    // Who asks.
    case user, digest, netrc, cookie, cookieJar, session
    case authType, basic, anyAuth, bearer, netrcFile, netrcOptional, ignoreNetrc, sessionReadOnly
    // How it gets there.
    case location, maximumRedirects, noDowngrade, proxy, noProxy, resolve, unixSocket, interface, http11
    case http2, priorKnowledge
    case connectTimeout, maximumTime, retry, limitRate
    case proxyUser, socks, connectTo, ipv4, ipv6, maximumFileSize, retryAllErrors, retryRefused, retryDelay
    case retryMaximumTime, protocols, redirectProtocols, parallel
    // TLS.
    case insecure, authorities, certificate, key, password, pin, tls12, tls13
    case verify, maximumTLS, tlsVersion, ciphers, cipherSuites
    // What is printed.
    case include, print, headersOnly, bodyOnly, verbose, silent, showError, fail, writeOut, dumpHeader, color,
        pretty
    case output, remoteName, remoteHeaderName, continueAt, noProgress
    case failWithBody, offline, all, unsorted, quiet, download, continueDownload, remoteNameAll, createFolders
    case outputFolder, remoteTime, progressBar
    // What else is told.
    case timing, certificates, events, toCurl, showSecrets, stream, serverSentEvents
    case help, version
}
