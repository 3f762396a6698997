/**
 * Who may call: programs on this machine. A name that was made to point here, and a page of another origin in a browser on
 * this machine, are turned away; so is who asks too often.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Clock } from "@loopledger/shared/ports";
import { Problem } from "./problems.ts";

const loopback = /^(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?$/i;

/** Addresses that only this machine reaches. */
export function isLoopback(address: string): boolean {
  return address === "127.0.0.1" || address === "::1" || address === "localhost";
}

/** Throws `forbidden_host` and `forbidden_origin`. */
export function refuseStrangers(headers: IncomingHttpHeaders): void {
  const { host, origin } = headers;
  if (host === undefined || !loopback.test(host)) throw new Problem("forbidden_host", `The request is for "${(host ?? "").slice(0, 200)}", which is not this machine's own name.`);
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
    throw new Problem("forbidden_origin", `A page of ${origin.slice(0, 200)} may not call this API.`);
  }
  const site = headers["sec-fetch-site"];
  const fromElsewhere = site === "cross-site" || site === "same-site";
  if (fromElsewhere && headers["sec-fetch-mode"] !== "navigate") throw new Problem("forbidden_origin", "A page of another origin may not call this API.");
}

export interface RateLimit {
  readonly perSecond: number;
  /** Requests that may come at once. */
  readonly burst: number;
}
interface Bucket { left: number; at: number }
const bucketsMax = 10_000;

/** A bucket of requests for each address, filled again as time goes. */
export class RateLimiter {
  readonly #clock: Clock;
  readonly #limit: RateLimit;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock, limit: RateLimit) {
    this.#clock = clock;
    this.#limit = limit;
  }
  /** Throws `too_many_requests`. */
  take(address: string): void {
    const now = this.#clock.monotonic();
    const bucket = this.#buckets.get(address) ?? { left: this.#limit.burst, at: now };
    if (this.#buckets.size > bucketsMax) this.#buckets.clear();
    this.#buckets.set(address, bucket);
    bucket.left = Math.min(this.#limit.burst, bucket.left + ((now - bucket.at) / 1000) * this.#limit.perSecond);
    bucket.at = now;
    if (bucket.left < 1) {
      const seconds = Math.ceil((1 - bucket.left) / this.#limit.perSecond);
      throw new Problem("too_many_requests", `More than ${this.#limit.perSecond} requests a second.`, { headers: { "retry-after": String(seconds) } });
    }
    bucket.left--;
  }
}
