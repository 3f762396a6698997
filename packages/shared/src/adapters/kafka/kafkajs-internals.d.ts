/** The parts of the pinned kafkajs that this folder builds on. They are no public interface: a change of the version is a change here. */
declare module "kafkajs/src/network/connection.js" {
  import type { Socket } from "node:net";

  interface Logger {
    namespace(): Logger;
    debug(): void;
    info(): void;
    warn(): void;
    error(): void;
  }
  interface ConnectionOptions {
    readonly host: string;
    readonly port: number;
    readonly ssl: object | null;
    readonly sasl: object | null;
    readonly clientId: string;
    readonly connectionTimeout: number;
    readonly requestTimeout: number;
    readonly enforceRequestTimeout: boolean;
    readonly reauthenticationThreshold: number;
    readonly logger: Logger;
    readonly socketFactory: (target: { host: string; port: number; ssl: object | null; onConnect: () => void }) => Socket;
  }
  interface ProtocolCall {
    readonly request: unknown;
    readonly response: { decode(raw: Buffer): Promise<unknown>; parse(decoded: unknown): Promise<unknown> };
  }
  /** Somebody who waits for an answer. */
  interface Inflight {
    readonly correlationId: number;
    completed(answer: { readonly size: number; readonly payload: Buffer }): void;
    rejected(error: Error): void;
  }
  interface RequestQueue {
    readonly inflight: Map<number, Inflight>;
    /** False while the broker has asked this client to wait. */
    canSendSocketRequestImmediately(): boolean;
    maybeThrottle(delayMs: number): void;
  }
  export default class Connection {
    constructor(options: ConnectionOptions);
    readonly requestQueue: RequestQueue;
    nextCorrelationId(): number;
    isAuthenticated(): boolean;
    isConnected(): boolean;
    connect(): Promise<boolean>;
    authenticate(): Promise<void>;
    setVersions(versions: Readonly<Record<number, { minVersion: number; maxVersion: number }>>): void;
    setSupportAuthenticationProtocol(isSupported: boolean): void;
    send(call: ProtocolCall & { readonly requestTimeout?: number | null; readonly logResponseError?: boolean }): Promise<unknown>;
    rejectRequests(error: Error): void;
  }
}

declare module "kafkajs/src/protocol/requests/index.js" {
  export interface ProtocolCall {
    readonly request: { readonly apiVersion: number; readonly encode: () => Promise<{ readonly buf: Buffer; readonly buffer: Buffer }> };
    readonly response: { decode(raw: Buffer): Promise<unknown>; parse(decoded: unknown): Promise<unknown> };
  }
  interface Definition {
    protocol(choice: { version: number }): (args?: object) => ProtocolCall;
  }
  interface Protocol {
    readonly requests: Readonly<Record<"Produce" | "Fetch" | "ListOffsets" | "Metadata" | "ApiVersions", Definition>>;
    lookup(versions: Readonly<Record<number, { minVersion: number; maxVersion: number }>>): (apiKey: number, definition: Definition) => (args?: object) => ProtocolCall;
  }
  const protocol: Protocol;
  export default protocol;
}

declare module "kafkajs/src/protocol/requests/apiKeys.js" {
  const apiKeys: Readonly<Record<"Produce" | "Fetch" | "ListOffsets" | "Metadata" | "ApiVersions" | "SaslAuthenticate", number>>;
  export default apiKeys;
}
