import { describe, expect, test } from "vitest";
import { tlsCodes, tlsTroubleOf } from "./tls-trouble.ts";

const place = { who: "the broker", address: "ADDRESS", files: "TLS", on: "Turn it on", off: "Turn it off", isTls: true };
/** As clients do it: one error around another, with words of their own. */
const wrapped = (code: string, message: string): Error => new Error("many tries", { cause: Object.assign(new Error(`Connection error: ${message}`), { code }) });

describe("why an encrypted connection does not come about", () => {
  test.each([
    { code: "UNABLE_TO_VERIFY_LEAF_SIGNATURE", message: "unable to verify the first certificate", why: /not trusted here \(UNABLE_TO_VERIFY_LEAF_SIGNATURE\)/, next: /TLS_CA_FILE/ },
    { code: "CERT_HAS_EXPIRED", message: "certificate has expired", why: /has expired/, next: /valid today/ },
    { code: "CERT_NOT_YET_VALID", message: "certificate is not yet valid", why: /is not valid yet/, next: /clock of this machine/ },
    { code: "ERR_TLS_CERT_ALTNAME_INVALID", message: "Hostname/IP does not match certificate's altnames: Host: a. is not in the cert's altnames: DNS:b", why: /another name: .*DNS:b$/, next: /ADDRESS/ },
    { code: "EPROTO", message: "write EPROTO 40:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../deps:77:", why: /not with TLS/, next: /^Turn it off/ },
    { code: "EPROTO", message: "write EPROTO 40:error:0A000412:SSL routines:ssl3_read_bytes:ssl/tls alert bad certificate:../deps:918:SSL alert number 42", why: /\(alert bad certificate\)/, next: /TLS_CERT_FILE .*TLS_KEY_FILE/ },
    { code: "ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", message: "40:error:0A00045C:SSL routines:ssl3_read_bytes:tlsv13 alert certificate required:../deps:918:SSL alert number 116", why: /\(alert certificate required\)/, next: /TLS_CERT_FILE/ },
    { code: "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", message: "40:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:../deps:918:SSL alert number 70", why: /no version of TLS in common/, next: /TLS 1\.2 or 1\.3/ },
  ])("$code, $message: what was said is told as certain, without places in a library's source", ({ code, message, why, next }) => {
    const found = tlsTroubleOf(wrapped(code, message), place);
    expect(found).toMatchObject({ why: expect.stringMatching(why), next: expect.stringMatching(next), isCertain: true });
    expect(found?.why).not.toMatch(/deps|routines/);
  });

  test("plain words that are answered with TLS are certain, too", () => {
    expect(tlsTroubleOf(wrapped(tlsCodes.speaksTls, "TLS"), { ...place, isTls: false })).toMatchObject({ why: expect.stringContaining("speaks TLS on that port"), next: expect.stringMatching(/^Turn it on/), isCertain: true });
  });

  test.each([
    { code: "ECONNRESET", message: "Client network socket disconnected before secure TLS connection was established", isTls: true, next: /turn it off.*TLS_CERT_FILE/ },
    { code: tlsCodes.hungUp, message: "read ECONNRESET", isTls: true, next: /turn it off.*TLS_CERT_FILE/ },
    { code: tlsCodes.silent, message: "connect ETIMEDOUT", isTls: true, next: /turn it off.*TLS_CERT_FILE/ },
    { code: tlsCodes.hungUp, message: "read ECONNRESET", isTls: false, next: /turn it on/ },
  ])("$code, TLS $isTls: who only hangs up or is silent leaves a guess, with all that it may be", ({ code, message, isTls, next }) => {
    expect(tlsTroubleOf(wrapped(code, message), { ...place, isTls })).toMatchObject({ next: expect.stringMatching(next), isCertain: false });
  });

  test.each(["ECONNREFUSED", "ECONNRESET", "ENOTFOUND"])("%s of a connection that was there is none of its reasons", (code) => {
    expect(tlsTroubleOf(wrapped(code, "read failed"), place)).toBeNull();
    expect(tlsTroubleOf(wrapped("CERT_OF_A_LATER_NODE", "unheard of"), place)).toBeNull();
  });

  test("what comes next is made of the variables' names alone, whatever the error says", () => {
    for (const code of ["DEPTH_ZERO_SELF_SIGNED_CERT", "CERT_HAS_EXPIRED", "ERR_TLS_CERT_ALTNAME_INVALID", "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA", tlsCodes.hungUp]) {
      expect(tlsTroubleOf(wrapped(code, "redis://olga:s3cr3t@r:6379"), place)?.next).not.toContain("s3cr3t");
    }
  });
});
