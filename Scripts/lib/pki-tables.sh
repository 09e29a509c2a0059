# SPDX-License-Identifier: MIT
#
# The tables of the tests' PKI: one row per certificate and revocation answer, and the functions that read them.
# Sourced by Scripts/fixtures, never run.

# Authorities: name | issuer (- for itself) | key | what it is
authorities='
root                  | -                | rsa     | The root that tests trust.
other-root            | -                | p256    | A root that nobody trusts.
root-expired          | -                | p256    | A root that ended with 2021.
client-root           | -                | p256    | The root of the client identities.
intermediate          | root             | rsa     | Issuer of nearly every leaf.
intermediate-ecdsa    | root             | p256    | A chain of ECDSA below the root.
intermediate-second   | intermediate     | p256    | An intermediate below an intermediate.
intermediate-cross    | other-root       | =intermediate | Name and key of `intermediate`, signed by `other-root`.
intermediate-impostor | other-root       | p256    | Name of `intermediate`, another key, signed by `other-root`.
intermediate-expired  | root             | p256    | Ended with 2021.
intermediate-revoked  | root             | p256    | In `crl/root.crl`, reason CA compromise; names http://revocation.test/root.crl.
intermediate-constrained | root          | p256    | Name constraint: only allowed.test and below.
intermediate-pathlen  | root             | p256    | Path length 0: may issue leaves only.
intermediate-weak     | root             | rsa1024 | RSA 1024.
intermediate-checked  | root             | p256    | Names http://revocation.test/root-ocsp and http://revocation.test/root.crl.
path-length-ca        | intermediate-pathlen | p256 | The authority that `intermediate-pathlen` may not issue.
cycle-seed            | -                | p256    | Name and key of `cycle-two`, its own issuer; only made to close the circle.
cycle-one             | cycle-seed       | p256    | Issued by `cycle-two`.
cycle-two             | cycle-one        | =cycle-seed | Issued by `cycle-one`.
client-intermediate   | client-root      | p256    | Issuer of `client-ecdsa`.
'

# Leaves: name | issuer (- for itself) | key (=X: the key of X) | host to check | code | what it is
# The code is OpenSSL's (X509_V_ERR_...), for purpose sslserver, security level 2 and trust in `root` alone; for names
# in client-*: purpose sslclient and trust in `client-root`. `!` after a code: OpenSSL itself accepts the leaf.
leaves='
good                  | intermediate     | p256    | good.test      | 0  | Nothing is wrong with it.
rsa                   | intermediate     | rsa     | rsa.test       | 0  | RSA 2048.
ecdsa                 | intermediate-ecdsa | p256  | ecdsa.test     | 0  | ECDSA P-256, and so is its issuer.
ed25519               | intermediate     | ed25519 | ed25519.test   | 0  | Ed25519.
p384                  | intermediate     | p384    | p384.test      | 0  | ECDSA P-384.
rsa-pss               | intermediate     | rsa-pss | rsa-pss.test   | 0  | A key that is for RSA-PSS only.
many-names            | intermediate     | p256    | n0999.many.test | 0 | A thousand names: larger than a TLS record.
deep                  | intermediate-second | p256 | deep.test      | 0  | Two intermediates.
renewed               | intermediate     | =good   | good.test      | 0  | `good` again: same key, new serial number.
renewed-other-key     | intermediate     | p256    | good.test      | 0  | `good` again with a new key.
first                 | intermediate     | p256    | first.test     | 0  | Only first.test: SNI.
second                | intermediate     | p256    | second.test    | 0  | Only second.test: SNI.
idna                  | intermediate     | p256    | xn--bcher-kva.test | 0 | Only the A-label of bücher.test, which is the common name in UTF-8.
wildcard              | intermediate     | p256    | any.wild.test  | 0  | Only *.wild.test.
wildcard-wide         | intermediate     | p256    | any.test       | 62 | Only *.test: too few labels for a wildcard.
ip-san                | intermediate     | p256    | 127.0.0.1      | 0  | Only the addresses 127.0.0.1 and ::1.
wrong-host            | intermediate     | p256    | localhost      | 62 | Only other.test; its common name is localhost.
no-san                | intermediate     | p256    | localhost      | 62! | No subject alternative name; its common name is localhost.
uri-san               | intermediate     | p256    | localhost      | 62 | Only the URI https://localhost/ and an e-mail address.
nul-name              | intermediate     | p256    | good.test      | 62 | One DNS name: good.test, a NUL octet, .evil.test.
expired               | intermediate     | p256    | localhost      | 10 | 2020-01-01 to 2021-12-31.
not-yet-valid         | intermediate     | p256    | localhost      | 9  | From 2098-01-01.
expired-issuer        | intermediate-expired | p256 | localhost     | 10 | Its issuer ended with 2021; it has not.
expired-root          | root-expired     | p256    | localhost      | 20 | Below `root-expired`; has not ended itself.
self-signed           | -                | p256    | localhost      | 18 | Its own issuer.
self-signed-ca        | -                | p256    | localhost      | 18 | Its own issuer, and an authority.
untrusted             | other-root       | p256    | localhost      | 20 | Directly below `other-root`.
impostor              | intermediate-impostor | p256 | localhost    | 20 | Issuer name of `good`, an issuer of another key.
bad-signature         | intermediate     | =good   | localhost      | 7  | `good` with the last octet of the signature changed.
weak-key              | intermediate     | rsa1024 | localhost      | 66 | RSA 1024.
weak-issuer           | intermediate-weak | p256   | localhost      | 67 | Below an authority with RSA 1024.
weak-curve            | intermediate     | p192    | localhost      | 66 | prime192v1.
weak-curve-224        | intermediate     | p224    | localhost      | 66! | secp224r1: under 256 bits.
sha1                  | intermediate     | p256    | localhost      | 68 | Signed with SHA-1.
constrained-inside    | intermediate-constrained | p256 | inside.allowed.test | 0 | Inside of the name constraint.
constrained-outside   | intermediate-constrained | p256 | outside.test | 47 | Outside of the name constraint.
wrong-usage           | intermediate     | p256    | localhost      | 26 | Extended key usage: clientAuth only.
no-ca                 | good             | p256    | localhost      | 79 | Issued by the leaf `good`.
path-length           | path-length-ca   | p256    | localhost      | 25 | Below an authority that the path length forbids.
cycle                 | cycle-one        | p256    | localhost      | 20 | Two authorities that issued each other; both are in its chain.
critical              | intermediate     | p256    | localhost      | 34 | A critical extension that nobody knows.
must-staple           | intermediate     | p256    | localhost      | 0  | TLS feature status_request: refused without a stapled answer.
good-ocsp             | intermediate     | p256    | localhost      | 0  | Names http://revocation.test/ocsp; not revoked.
revoked-ocsp          | intermediate     | p256    | localhost      | 0  | Names http://revocation.test/ocsp; revoked there.
good-crl              | intermediate     | p256    | localhost      | 0  | Names http://revocation.test/intermediate.crl; not revoked.
revoked-crl           | intermediate     | p256    | localhost      | 0  | Names http://revocation.test/intermediate.crl; revoked there.
good-both             | intermediate     | p256    | localhost      | 0  | Names both addresses; not revoked.
checked               | intermediate-checked | p256 | localhost     | 0  | Names http://revocation.test/checked-ocsp and http://revocation.test/checked.crl.
revoked-issuer        | intermediate-revoked | p256 | localhost     | 0  | Its issuer is revoked by `crl/root.crl`.
responder             | intermediate     | p256    | -              | -  | OCSP responder: extended key usage OCSPSigning.
responder-expired     | intermediate     | p256    | -              | -  | OCSP responder that ended with 2021.
responder-no-usage    | intermediate     | p256    | -              | -  | OCSP responder without the extended key usage.
responder-foreign     | other-root       | p256    | -              | -  | OCSP responder with the usage, below `other-root`.
client-rsa            | client-root      | rsa     | -              | 0  | Client identity, RSA.
client-ecdsa          | client-intermediate | p256 | -              | 0  | Client identity, ECDSA, with an intermediate.
client-untrusted      | other-root       | p256    | -              | 20 | Client identity below `other-root`.
'

# OCSP answers: name | about (+: more than one) | signer | responder named by | carries the signer | status |
#               this update | next update | digest of the id | what openssl says | what it is
answers='
good                  | good-ocsp        | intermediate | name | no  | good    | now | end  | sha1   | good    | Signed by the issuer.
good-delegated        | good-ocsp        | responder    | key  | yes | good    | now | end  | sha1   | good    | Signed by a delegated responder.
good-sha256           | good-ocsp        | intermediate | name | no  | good    | now | end  | sha256 | good    | The certificate is named with SHA-256.
good-no-next          | good-ocsp        | intermediate | name | no  | good    | now | none | sha1   | good    | No next update.
good-both             | good-both        | intermediate | name | no  | good    | now | end  | sha1   | good    | For `good-both`.
good-revoked-crl      | revoked-crl      | intermediate | name | no  | good    | now | end  | sha1   | good    | For `revoked-crl`, which the CRL revokes.
many                  | good-both+good-ocsp | intermediate | name | no | good  | now | end  | sha1   | good    | Two certificates in one answer.
must-staple           | must-staple      | intermediate | name | no  | good    | now | end  | sha1   | good    | For `must-staple`.
must-staple-revoked   | must-staple      | intermediate | name | no  | revoked | now | end  | sha1   | revoked | For `must-staple`.
revoked               | revoked-ocsp     | intermediate | name | no  | revoked | now | end  | sha1   | revoked | Reason key compromise, 2024-01-01.
revoked-delegated     | revoked-ocsp     | responder    | name | yes | revoked | now | end  | sha1   | revoked | The same from the delegated responder.
revoked-expired       | revoked-ocsp     | intermediate | name | no  | revoked | now | over | sha1  | times   | Revoked, 2024-01-01 to 2024-01-08.
unknown               | good-ocsp        | intermediate | name | no  | unknown | now | end  | sha1   | unknown | The responder does not know the certificate.
checked               | checked          | intermediate-checked | name | no | good | now | end | sha1   | good    | For `checked`.
issuer-checked        | intermediate-checked | root     | name | no  | good    | now | end  | sha1   | good    | For `intermediate-checked`.
issuer-revoked        | intermediate-checked | root     | name | no  | revoked | now | end  | sha1   | revoked | For `intermediate-checked`.
expired               | good-ocsp        | intermediate | name | no  | good    | now | over | sha1   | times   | 2024-01-01 to 2024-01-08.
not-yet-valid         | good-ocsp        | intermediate | name | no  | good    | far | end  | sha1   | times   | From 2098-01-01.
other-serial          | good-crl         | intermediate | name | no  | good    | now | end  | sha1   | absent  | About another certificate of the same issuer.
wrong-key             | good-ocsp        | wrong-key    | name | no  | good    | now | end  | sha1   | refused | In the name of the issuer, signed with another key.
delegated-expired     | good-ocsp        | responder-expired  | name | yes | good | now | end | sha1  | refused | A responder whose certificate has expired.
delegated-no-usage    | good-ocsp        | responder-no-usage | name | yes | good | now | end | sha1  | refused | A responder without the extended key usage.
delegated-foreign     | good-ocsp        | responder-foreign  | name | yes | good | now | end | sha1  | refused | A responder of another authority.
'

# CRLs, each in DER (.crl) and in PEM: name | issuer | last update | next update | revokes | certificate to check |
#                                     code | what it is
lists='
intermediate          | intermediate     | now | end  | revoked-crl:keyCompromise | revoked-crl | 23 | Revokes `revoked-crl`, reason key compromise, 2024-01-01.
empty                 | intermediate     | now | end  | -                   | good-crl     | 0  | Revokes nothing.
checked               | intermediate-checked | now | end | -                | checked      | 0  | For `checked`; revokes nothing.
expired               | intermediate     | now | over | -                   | good-crl     | 12 | 2024-01-01 to 2024-01-08.
not-yet-valid         | intermediate     | far | end  | -                   | good-crl     | 11 | From 2098-01-01.
wrong-key             | intermediate-impostor | now | end | -               | good-crl     | 8  | In the name of the issuer, signed with another key.
critical              | intermediate     | now | end  | -                   | good-crl     | 36 | With a critical extension that nobody knows.
root                  | root             | now | end  | intermediate-revoked:CACompromise | intermediate-revoked | 23 | Revokes `intermediate-revoked`, reason CA compromise.
'

# What else there is: file | what it is.
others='
NAME.pem, NAME.key    | Certificate, and its private key as PKCS#8, of every row above; `.pem` is one certificate.
NAME-chain.pem        | What a server sends: the leaf and its intermediates, without the root. Every leaf has one.
good.der, intermediate.der, root.der | The same certificates in DER.
bundle.pem            | `root` and `client-root` with remarks between them, as system bundles have.
roots/                | The same two as `SSL_CERT_DIR` wants them.
facts.txt             | Per certificate what `openssl` says of it (serial number, SHA-256, pin, validity), and the host and verdict of its row.
client-rsa-encrypted.key, client-ecdsa-encrypted.key | PKCS#8, encrypted; password `lupine`.
client-rsa-traditional.key, client-ecdsa-traditional.key | `RSA PRIVATE KEY` and `EC PRIVATE KEY`.
client-rsa-traditional-encrypted.key | The former, encrypted the old way (`DEK-Info`); password `lupine`.
client-rsa-identity.pem, client-ecdsa-identity.pem | Chain and key in one file.
client-rsa.p12, client-ecdsa.p12, client-untrusted.p12 | PKCS#12, password `lupine`, without a chain.
client-rsa-no-password.p12, client-ecdsa-no-password.p12 | The same with an empty password.
client-ecdsa-chain.p12, client-ecdsa-chain-no-password.p12 | With `client-intermediate`.
client-rsa-legacy.p12 | RC2 and 3DES: needs the legacy provider, so an ordinary OpenSSL 3 refuses it.
client-no-key.p12     | A certificate and no key; password `lupine`.
ocsp/try-later.der    | An OCSP response without content, status tryLater.
ocsp/garbage.der, crl/garbage.crl | Text.
'

# rows TABLE: prints the lines of the table, without the blanks around the bars.
rows() { sed -E '/^$/d; s/ *\| */|/g' <<<"$1"; }

# issuer_of NAME: prints the name of the issuer of a certificate; the certificate itself for a root.
issuer_of() {
    rows "$authorities$leaves" | awk -F'|' -v name="$1" '$1 == name { print $2 == "-" ? name : $2 }'
}

# chain_of NAME: prints NAME and its issuers without the root; for a root, only NAME.
chain_of() {
    local at=$1 issuer
    echo "$at"
    while issuer=$(issuer_of "$at") && [ "$issuer" != "$at" ] && [ "$(issuer_of "$issuer")" != "$issuer" ]; do
        echo "$issuer"
        at=$issuer
    done
}
