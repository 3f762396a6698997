/** Certificates and keys that variables name by their files, looked at as a whole before anything is connected. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { z } from "zod";

/** Certificates as PEM text; none of them = the ones that Node trusts. */
export interface Tls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}
/** What the variables of a part begin with. */
export type TlsPart = "KAFKA_TLS" | "REDIS_TLS" | "REGISTRY_TLS";

const pem = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]+?-----END \1-----/g;

/** A PEM, or what stands between its first and last line: DER in base64 begins so. */
const holdsKey = /-----BEGIN|^\s*MI[A-Za-z0-9+/=\s]{60,}$/;

/** The text of a file that a variable names. What it holds is never told: it may be a key. */
const fileText = z.string().transform((path, context) => {
  const refuse = (message: string): never => {
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  };
  if (holdsKey.test(path)) return refuse("it holds a certificate or key itself; it has to be the path of a file that holds it");
  try {
    const text = readFileSync(path, "utf8");
    return [...text.matchAll(pem)].length > 0 ? { path, text } : refuse(`${path} holds no PEM: nothing between -----BEGIN …----- and -----END …-----`);
  } catch (error) {
    return refuse(`${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
});
type PemFile = z.infer<typeof fileText>;

function certificates(file: PemFile, context: z.RefinementCtx): PemFile {
  const blocks = [...file.text.matchAll(pem)].filter(([, kind = ""]) => kind.endsWith("CERTIFICATE"));
  const broken = blocks.findIndex(([block]) => !isCertificate(block));
  if (blocks.length === 0) context.addIssue({ code: "custom", message: `${file.path} holds no certificate` });
  else if (broken >= 0) context.addIssue({ code: "custom", message: `${file.path}: its certificate ${broken + 1} of ${blocks.length} cannot be read` });
  return file;
}
function isCertificate(block: string): boolean {
  try {
    return new X509Certificate(block).subject !== null;
  } catch {
    return false;
  }
}
function privateKey(file: PemFile, context: z.RefinementCtx): PemFile {
  const isLocked = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(file.text);
  if (isLocked) context.addIssue({ code: "custom", message: `${file.path}: its key is behind a password; it has to be without one (openssl pkey -in … -out …), in a file that this user alone may read` });
  else if (!isKey(file.text)) context.addIssue({ code: "custom", message: `${file.path} holds no private key` });
  return file;
}
function isKey(text: string): boolean {
  try {
    return createPrivateKey(text).type === "private";
  } catch {
    return false;
  }
}

const certificateFile = fileText.transform(certificates).optional();
const keyFile = fileText.transform(privateKey).optional();

/** The shape of the variables of all parts. */
export const tlsShape = {
  LOOPLEDGER_KAFKA_TLS_CA_FILE: certificateFile, LOOPLEDGER_KAFKA_TLS_CERT_FILE: certificateFile, LOOPLEDGER_KAFKA_TLS_KEY_FILE: keyFile,
  LOOPLEDGER_REDIS_TLS_CA_FILE: certificateFile, LOOPLEDGER_REDIS_TLS_CERT_FILE: certificateFile, LOOPLEDGER_REDIS_TLS_KEY_FILE: keyFile,
  LOOPLEDGER_REGISTRY_TLS_CA_FILE: certificateFile, LOOPLEDGER_REGISTRY_TLS_CERT_FILE: certificateFile, LOOPLEDGER_REGISTRY_TLS_KEY_FILE: keyFile,
};
const allFiles = z.object(tlsShape);
type Files = z.infer<typeof allFiles>;

/** Null where none is named. */
export function tlsFilesOf(read: Files, part: TlsPart): Tls | null {
  const { [`LOOPLEDGER_${part}_CA_FILE` as const]: ca, [`LOOPLEDGER_${part}_CERT_FILE` as const]: cert, [`LOOPLEDGER_${part}_KEY_FILE` as const]: key } = read;
  if (ca === undefined && cert === undefined && key === undefined) return null;
  return { ...(ca && { ca: ca.text }), ...(cert && { cert: cert.text }), ...(key && { key: key.text }) };
}

const parts: readonly TlsPart[] = ["KAFKA_TLS", "REDIS_TLS", "REGISTRY_TLS"];
const kinds = ["CA_FILE", "CERT_FILE", "KEY_FILE"] as const;

/** What one variable asks of others. */
export function tlsFaults(given: Readonly<Record<string, string | undefined>>): string[] {
  const named = (part: TlsPart): string[] => kinds.map((kind) => `LOOPLEDGER_${part}_${kind}`).filter((name) => given[name] !== undefined);
  const told = (part: TlsPart, why: string): string[] => named(part).map((name) => `${name}: ${why}`);
  const isPlain = (url: string, protocol: string): boolean => given[url]?.startsWith(`${protocol}:`) ?? false;
  return [
    ...parts.flatMap((part) => alone(part, named(part))),
    ...(given["LOOPLEDGER_KAFKA_TLS"] === "false" ? told("KAFKA_TLS", "it means TLS, and LOOPLEDGER_KAFKA_TLS is false; unset one of them") : []),
    ...(isPlain("LOOPLEDGER_REDIS_URL", "redis") ? told("REDIS_TLS", "it means TLS, and LOOPLEDGER_REDIS_URL begins with redis://; write rediss:// there, or unset it") : []),
    ...(isPlain("LOOPLEDGER_REGISTRY_URL", "http") ? told("REGISTRY_TLS", "it means TLS, and LOOPLEDGER_REGISTRY_URL begins with http://; write https:// there, or unset it") : []),
    ...(given["LOOPLEDGER_REGISTRY_URL"] === undefined ? told("REGISTRY_TLS", "it means nothing without LOOPLEDGER_REGISTRY_URL") : []),
  ];
}

/** A client's certificate and its key come together. */
function alone(part: TlsPart, named: readonly string[]): string[] {
  const [cert, key] = [`LOOPLEDGER_${part}_CERT_FILE`, `LOOPLEDGER_${part}_KEY_FILE`];
  if (named.includes(cert) === named.includes(key)) return [];
  return named.includes(cert) ? [`${key}: it is missing; a client's certificate comes with its key`] : [`${cert}: it is missing; a client's key comes with its certificate`];
}

/** Certificates that do not belong to their keys; to be asked once every file has been read. */
export function tlsMismatches(read: Files): string[] {
  return parts.flatMap((part) => {
    const { cert, key } = tlsFilesOf(read, part) ?? {};
    if (cert === undefined || key === undefined) return [];
    try {
      createSecureContext({ cert, key });
      return [];
    } catch (error) {
      const why = /key values mismatch|KEY_VALUES_MISMATCH|key type mismatch/i.test(String(error)) ? `it is not the key of the certificate in LOOPLEDGER_${part}_CERT_FILE` : `with the certificate in LOOPLEDGER_${part}_CERT_FILE it cannot be used: ${error instanceof Error ? error.message : String(error)}`;
      return [`LOOPLEDGER_${part}_KEY_FILE: ${why}`];
    }
  });
}
