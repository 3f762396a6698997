/// <reference path="./kafkajs-internals.d.ts" />
/**
 * One connection to one broker. It is opened, used until something goes wrong, and then dropped for good; nobody mends it.
 *
 * K1. Every request has a deadline. A broker that does not answer in time loses the connection, and with it all that waits on it.
 * K2. Nothing that happens to a connection ends the process: its errors go to those who wait, and to nobody else.
 * K3. Answers come back whole, with one error code a partition: whether a part failed is for the caller to say.
 */
import type { Socket } from "node:net";
import Connection from "kafkajs/src/network/connection.js";
import apiKeys from "kafkajs/src/protocol/requests/apiKeys.js";
import protocol, { type ProtocolCall } from "kafkajs/src/protocol/requests/index.js";
import type { Clock } from "../../ports/index.ts";
import { defaultClientId, type KafkaConnection, renewalMs } from "./connection.ts";
import { type OwnCall, ownCall } from "./own-codec.ts";
import { openSocket } from "./sockets.ts";

export interface Address {
  readonly host: string;
  readonly port: number;
}
export type Api = "Produce" | "Fetch" | "ListOffsets" | "Metadata";

/** Until a connection is there, understood and authenticated. */
const CONNECT_MS = 4_000;

const nothing = (): void => undefined;
const silence = { namespace: () => silence, debug: nothing, info: nothing, warn: nothing, error: nothing };
const asItIs = async (decoded: unknown): Promise<unknown> => decoded;

type Versions = Readonly<Record<number, { minVersion: number; maxVersion: number }>>;

/** Size, api, version and number of a request stand before the client's name. */
const HEAD_BYTES = 14;

export class Link {
  readonly address: Address;
  readonly #clock: Clock;
  readonly #connection: Connection;
  #socket: Socket | null = null;
  #lookup: ReturnType<typeof protocol.lookup> | null = null;
  /** What makes a request of an api in the version that both sides know; looked up once. */
  readonly #makers = new Map<Api, (args?: object) => ProtocolCall>();
  readonly #isSecret: boolean;
  readonly #clientId: Buffer;
  #isDropped = false;

  private constructor(address: Address, settings: KafkaConnection, clock: Clock) {
    this.address = address;
    this.#clock = clock;
    this.#isSecret = Boolean(settings.sasl);
    this.#clientId = Buffer.from(settings.clientId ?? defaultClientId);
    this.#connection = new Connection({
      ...address, ssl: settings.ssl ?? null, sasl: settings.sasl ?? null, clientId: settings.clientId ?? defaultClientId,
      connectionTimeout: CONNECT_MS, requestTimeout: CONNECT_MS, enforceRequestTimeout: false, reauthenticationThreshold: renewalMs, logger: silence,
      socketFactory: ({ onConnect }) => this.#openSocket(settings, onConnect),
    });
  }

  static async open(address: Address, settings: KafkaConnection, clock: Clock): Promise<Link> {
    const link = new Link(address, settings, clock);
    await link.#bounded(link.#introduce(), CONNECT_MS, "the connection");
    return link;
  }

  get isOpen(): boolean {
    return !this.#isDropped && this.#connection.isConnected();
  }

  /** The decoded answer, error codes and all. */
  async request(api: Api, args: object, timeoutMs: number): Promise<unknown> {
    const call = this.#makerOf(api)(args);
    const own = ownCall(api, call.request.apiVersion, args);
    return this.#bounded(own === null ? this.#askAsClient(call) : this.#ask(api, own, call), timeoutMs, api);
  }

  #makerOf(api: Api): (args?: object) => ProtocolCall {
    const known = this.#makers.get(api);
    if (known !== undefined) return known;
    if (this.#lookup === null) throw new Error("The connection is not ready.");
    const maker = this.#lookup(apiKeys[api], protocol.requests[api]);
    this.#makers.set(api, maker);
    return maker;
  }

  #askAsClient({ request, response }: ProtocolCall): Promise<unknown> {
    return this.#connection.send({ request, response: { decode: response.decode, parse: asItIs }, logResponseError: false });
  }

  /** Past the client's queue where nothing is in the way: it makes several promises and copies a request. */
  async #ask(api: Api, own: OwnCall, call: ProtocolCall): Promise<unknown> {
    const { requestQueue } = this.#connection;
    const decode = async (raw: Buffer): Promise<unknown> => (await own.decode(raw)) ?? call.response.decode(raw);
    if (!requestQueue.canSendSocketRequestImmediately() || (this.#isSecret && !this.#connection.isAuthenticated())) {
      const encode = async () => ownEncoded(own);
      return this.#askAsClient({ request: { ...call.request, encode }, response: { ...call.response, decode } });
    }
    const raw = await this.#send({ apiKey: apiKeys[api], apiVersion: call.request.apiVersion }, own);
    const answer = own.decode(raw);
    const decoded = answer instanceof Promise ? await answer : answer;
    if (decoded === null) return call.response.decode(raw);
    requestQueue.maybeThrottle(decoded.clientSideThrottleTime);
    return decoded;
  }

  /** The client takes answers apart and finds whose each is: those of ours stand among its own. */
  #send({ apiKey, apiVersion }: { readonly apiKey: number; readonly apiVersion: number }, own: OwnCall): Promise<Buffer> {
    const socket = this.#socket;
    if (socket === null || !this.#connection.isConnected()) throw new Error(`The connection to ${this.address.host}:${this.address.port} is closed.`);
    const correlationId = this.#connection.nextCorrelationId();
    const bytes = own.encode(HEAD_BYTES + this.#clientId.length);
    bytes.writeInt32BE(bytes.length - 4, 0);
    bytes.writeInt16BE(apiKey, 4);
    bytes.writeInt16BE(apiVersion, 6);
    bytes.writeInt32BE(correlationId, 8);
    bytes.writeInt16BE(this.#clientId.length, 12);
    this.#clientId.copy(bytes, HEAD_BYTES);
    return new Promise((done, failed) => {
      this.#connection.requestQueue.inflight.set(correlationId, { correlationId, completed: ({ payload }) => done(payload), rejected: failed });
      socket.write(bytes);
    });
  }

  /** Ends the connection at once; what waits for an answer is told. */
  drop(reason: Error): void {
    if (this.#isDropped) return;
    this.#isDropped = true;
    this.#socket?.destroy(reason);
    this.#connection.rejectRequests(reason);
  }

  async #introduce(): Promise<void> {
    await this.#connection.connect();
    const call = protocol.requests.ApiVersions.protocol({ version: 2 })();
    const answer = (await this.#connection.send(call)) as { apiVersions: readonly { apiKey: number; minVersion: number; maxVersion: number }[] };
    const versions: Versions = Object.fromEntries(answer.apiVersions.map(({ apiKey, minVersion, maxVersion }) => [apiKey, { minVersion, maxVersion }]));
    this.#connection.setVersions(versions);
    this.#connection.setSupportAuthenticationProtocol(versions[apiKeys.SaslAuthenticate] !== undefined);
    await this.#connection.authenticate();
    this.#lookup = protocol.lookup(versions);
  }

  #openSocket({ ssl }: KafkaConnection, onConnect: () => void): Socket {
    const { host, port } = this.address;
    const socket = openSocket({ host, port, ssl, onConnect });
    socket.once("close", () => this.drop(new Error(`The connection to ${host}:${port} was closed.`)));
    this.#socket = socket;
    return socket;
  }

  #bounded<T>(work: Promise<T>, timeoutMs: number, what: string): Promise<T> {
    return new Promise((done, failed) => {
      const cancel = this.#clock.after(timeoutMs, () => {
        const error = new Error(`${this.address.host}:${this.address.port} did not answer within ${timeoutMs} ms (${what}).`);
        this.drop(error);
        failed(error);
      });
      work.then(
        (value) => {
          cancel();
          done(value);
        },
        (error: unknown) => {
          cancel();
          this.drop(error instanceof Error ? error : new Error(String(error)));
          failed(error);
        },
      );
    });
  }
}

function ownEncoded(own: OwnCall): { readonly buf: Buffer; readonly buffer: Buffer } {
  const buffer = own.encode(0);
  return { buf: buffer, buffer };
}
