/**
 * An authority of a test's own, and certificates by it, in PEM: made where they are needed, in no time and without a program of the system's.
 * No key of it outlives the test.
 */
import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** PEM texts. */
export interface Certificate {
  readonly cert: string;
  /** PKCS #8, without a password. */
  readonly key: string;
}
export interface Wanted {
  /** Names and IPv4 addresses that it is good for; none for a client's. */
  readonly hosts?: readonly string[];
  /** Its last day, in days from now (default 30); it began 60 days ago. */
  readonly days?: number;
}
export interface Authority {
  /** Its own certificate. */
  readonly ca: string;
  issue(name: string, wanted?: Wanted): Certificate;
}

const dayMs = 86_400_000;
const oids = {
  commonName: [0x55, 0x04, 0x03], subjectAltName: [0x55, 0x1d, 0x11], basicConstraints: [0x55, 0x1d, 0x13],
  ecdsaWithSha256: [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02],
} as const;

export function makeAuthority(name: string): Authority {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const isAuthority = extension(oids.basicConstraints, sequence(tagged(0x01, Buffer.from([0xff]))));
  const issuer = { name, privateKey };
  return {
    ca: certificate({ subject: name, publicKey, extensions: [isAuthority], days: 30 }, issuer),
    issue: (subject, { hosts = [], days = 30 } = {}) => {
      const pair = generateKeyPairSync("ec", { namedCurve: "P-256" });
      const extensions = hosts.length === 0 ? [] : [extension(oids.subjectAltName, sequence(...hosts.map(altName)))];
      return { cert: certificate({ subject, publicKey: pair.publicKey, extensions, days }, issuer), key: pair.privateKey.export({ type: "pkcs8", format: "pem" }) as string };
    },
  };
}

/** The same key behind a password, as some tools give it. */
export function lockedKey({ key }: Certificate, passphrase: string): string {
  return createPrivateKey(key).export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase }) as string;
}

interface Subject {
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly extensions: readonly Buffer[];
  readonly days: number;
}

function certificate({ subject, publicKey, extensions, days }: Subject, issuer: { readonly name: string; readonly privateKey: KeyObject }): string {
  const now = Date.now();
  const algorithm = sequence(tagged(0x06, Buffer.from(oids.ecdsaWithSha256)));
  const body = sequence(
    tagged(0xa0, tagged(0x02, Buffer.from([2]))), tagged(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])), algorithm, named(issuer.name),
    sequence(time(now - 60 * dayMs), time(now + days * dayMs)), named(subject), publicKey.export({ type: "spki", format: "der" }),
    ...(extensions.length > 0 ? [tagged(0xa3, sequence(...extensions))] : []),
  );
  const whole = sequence(body, algorithm, tagged(0x03, Buffer.concat([Buffer.from([0]), sign("sha256", body, issuer.privateKey)])));
  return `-----BEGIN CERTIFICATE-----\n${whole.toString("base64").replace(/.{64}/g, "$&\n").trimEnd()}\n-----END CERTIFICATE-----\n`;
}

/** A type, the length of what it holds, and what it holds. */
function tagged(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
const sequence = (...parts: readonly Buffer[]): Buffer => tagged(0x30, Buffer.concat(parts));
const named = (name: string): Buffer => sequence(tagged(0x31, sequence(tagged(0x06, Buffer.from(oids.commonName)), tagged(0x0c, Buffer.from(name)))));
const time = (at: number): Buffer => tagged(0x17, Buffer.from(`${new Date(at).toISOString().slice(2, 19).replace(/[-T:]/g, "")}Z`));
/** The mark is left out for extensions that need not be understood: none here must. */
const extension = (oid: readonly number[], content: Buffer): Buffer => sequence(tagged(0x06, Buffer.from(oid)), tagged(0x04, content));
function altName(host: string): Buffer {
  const isAddress = /^[\d.]+$/.test(host);
  return isAddress ? tagged(0x87, Buffer.from(host.split(".").map(Number))) : tagged(0x82, Buffer.from(host));
}
