/**
 * Why an encrypted connection does not come about, and what a person does about it, told alike for every part that is spoken to.
 * It reads what errors say of themselves; it opens no connection and knows no setting by value.
 *
 * T1. What the two sides said is told as it is: who refused whom, and for which reason.
 * T2. Where a peer only hung up, the reason is unknown: all that it may be is named, and nothing is claimed.
 * T3. What comes next names the variable, never what it holds.
 */

/** Who is spoken to, and by which variables. */
export interface TlsPlace {
  /** As it stands within a sentence: `the broker`. */
  readonly who: string;
  /** The variable that names where it is. */
  readonly address: string;
  /** What the variables of certificates begin with: `LOOPLEDGER_KAFKA_TLS`. */
  readonly files: string;
  /** How TLS is turned on and off, each a whole sentence without its stop. */
  readonly on: string;
  readonly off: string;
  /** TLS was wanted. */
  readonly isTls: boolean;
}
export interface TlsTrouble {
  /** A sentence without its stop. */
  readonly why: string;
  readonly next: string;
  /** Trying again changes nothing before a person has acted. */
  readonly isCertain: boolean;
}

/** Codes of our own, for what is seen on the wire. */
export const tlsCodes = {
  /** TLS came where plain words were expected. */
  speaksTls: "LOOPLEDGER_SPEAKS_TLS",
  /** The connection ended before its first answer. */
  hungUp: "LOOPLEDGER_HUNG_UP",
  /** No answer to the beginning of TLS. */
  silent: "LOOPLEDGER_SILENT",
} as const;

const untrusted: ReadonlySet<string> = new Set([
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "UNABLE_TO_GET_ISSUER_CERT", "UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "SELF_SIGNED_CERT_IN_CHAIN", "DEPTH_ZERO_SELF_SIGNED_CERT",
  "CERT_SIGNATURE_FAILURE", "CERT_UNTRUSTED", "CERT_REJECTED", "CERT_CHAIN_TOO_LONG", "INVALID_CA", "INVALID_PURPOSE", "PATH_LENGTH_EXCEEDED",
]);
const outOfDate: ReadonlySet<string> = new Set(["CERT_HAS_EXPIRED", "CERT_NOT_YET_VALID"]);
/** What the peer says of the certificate that it was shown, or not shown. */
const refusal = /ALERT_(BAD_CERTIFICATE|CERTIFICATE_\w+|UNKNOWN_CA|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED|HANDSHAKE_FAILURE|DECRYPT_ERROR)/;
const noCommon = /ALERT_(PROTOCOL_VERSION|INSUFFICIENT_SECURITY)|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS_AVAILABLE|NO_SHARED_CIPHER/;
const noTls = /WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|RECORD_LAYER_FAILURE|HTTP_REQUEST|BAD_RECORD_TYPE/;
const early = "before secure TLS connection was established";

/** Null where that is not the reason. Clients wrap errors, once or several times. */
export function tlsTroubleOf(error: unknown, place: TlsPlace): TlsTrouble | null {
  for (const { code, message } of chain(error)) {
    const found = judged(code, message, place) ?? guessed(code, message, place);
    if (found !== null) return found;
  }
  return null;
}

/** What one of the two said. */
function judged(code: string, message: string, { who, address, files, on, off, isTls }: TlsPlace): TlsTrouble | null {
  const isCertain = true;
  if (untrusted.has(code)) {
    return { why: `${who} shows a certificate by an authority that is not trusted here (${code})`, next: `Put the certificate of its authority, as PEM, into the file that ${files}_CA_FILE names.`, isCertain };
  }
  if (outOfDate.has(code)) {
    const when = code === "CERT_HAS_EXPIRED" ? "has expired" : "is not valid yet";
    return { why: `${who} shows a certificate that ${when} (${code})`, next: "Give it one that is valid today, its authority's included; where it has one, set the clock of this machine.", isCertain };
  }
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") {
    const names = /altnames: (.*?)[\s:.]*$/.exec(message)?.[1] ?? message;
    return { why: `${who} shows a certificate for another name: ${names}`, next: `Name it in ${address} as its certificate does, or give it a certificate with the name that stands there; for brokers the same holds of their advertised.listeners.`, isCertain };
  }
  if (refusal.test(code)) return { why: `${who} does not take the certificate of this process (${saidIn(message, code)})`, next: `Put one that has not expired, by an authority that it trusts, ${inFiles(files)}.`, isCertain };
  if (noCommon.test(code)) return { why: `${who} and this process know no version of TLS in common (${saidIn(message, code)})`, next: "Let it speak TLS 1.2 or 1.3.", isCertain };
  if (code === tlsCodes.speaksTls) return { why: `${who} speaks TLS on that port, and this process did not`, next: `${on}, or name a port without TLS in ${address}.`, isCertain };
  if (isTls && noTls.test(code)) return { why: `${who} answers on that port, and not with TLS`, next: `${off}, or name its TLS port in ${address}.`, isCertain };
  return null;
}

/** Where the other one only hung up, or kept silent. */
function guessed(code: string, message: string, { who, address, files, on, off, isTls }: TlsPlace): TlsTrouble | null {
  const isCertain = false;
  if (isTls && (code === tlsCodes.hungUp || code === tlsCodes.silent || message.includes(early))) {
    const what = code === tlsCodes.silent ? "does not answer to TLS" : "hung up before it had answered to TLS";
    return { why: `${who} ${what}`, next: `See whether that port speaks TLS: where it does not, ${lower(off)}, or name another port in ${address}. Where it asks for a certificate, put one ${inFiles(files)}.`, isCertain };
  }
  if (!isTls && code === tlsCodes.hungUp) return { why: `${who} hung up before its first answer`, next: `See that it runs there. Where that port speaks TLS: ${lower(on)}.`, isCertain };
  return null;
}

interface Told { readonly code: string; readonly message: string }

function* chain(error: unknown): Generator<Told> {
  let left = 10;
  for (let at = error; at instanceof Error && left > 0; left--) {
    const { code, originalError } = at as { readonly code?: unknown; readonly originalError?: unknown };
    yield { code: codeIn(typeof code === "string" ? code : "", at.message), message: at.message };
    at = at.cause ?? originalError;
  }
}

/** Where a write met it, the reason stands among the library's words alone. */
function codeIn(code: string, message: string): string {
  const reason = code === "EPROTO" ? /SSL routines:[^:]*:([^:]+):/.exec(message)?.[1] : undefined;
  return reason === undefined ? code : reason.toUpperCase().replace(/\W+/g, "_");
}

/** The words of the library stand between numbers and places in its source: only what the peer said is told. */
function saidIn(message: string, code: string): string {
  return /alert ([a-z ]+?)(?= ?:|$)/.exec(message)?.[0] ?? code;
}
const inFiles = (files: string): string => `in the file that ${files}_CERT_FILE names, and its key in that of ${files}_KEY_FILE`;
const lower = (sentence: string): string => sentence.charAt(0).toLowerCase() + sentence.slice(1);
