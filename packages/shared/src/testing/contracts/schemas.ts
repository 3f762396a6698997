/** What every form of a topic's bytes owes: a text comes out as it went in, and what is none is said to be none. */
import type { Schemas } from "../../ports/index.ts";
import { inWorld, type Vitest, type World } from "./suite.ts";

export interface SchemasWorld extends World {
  /** The prefix of the topics whose schemas are known. */
  readonly prefix: string;
  /** Another process's handle. */
  open(): Promise<Schemas>;
}

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const texts = [
  '{"v":1,"type":"status","data":{"b":1.0,"a":"später 😀","z":1e3,"n":-0}}', '{ "a" : 1 }', "[]", "null", '"\\u0000"', `{"big":"${"x".repeat(200_000)}"}`,
];

export function schemasContract({ describe, it, expect }: Vitest, name: string, make: () => Promise<SchemasWorld>): void {
  describe(`schemas of ${name}`, () => {
    it("give a text back byte for byte, on every topic, in another process too", inWorld(make, async (world) => {
      const [writer, reader] = [await world.open(), await world.open()];
      for (const kind of ["ledger", "goals", "status", "dead-letters"]) {
        const topic = `${world.prefix}.${kind}`;
        for (const text of texts) expect(await reader.decode(topic, await writer.encode(topic, text))).toBe(text);
      }
    }));

    it("give many at once each its own", inWorld(make, async (world) => {
      const schemas = await world.open();
      const topic = `${world.prefix}.ledger`;
      const sent = Array.from({ length: 50 }, (_, i) => `{"i":${i}}`);
      const bytes = await Promise.all(sent.map((text) => schemas.encode(topic, text)));
      expect(await Promise.all(bytes.map((one) => schemas.decode(topic, one)))).toEqual(sent);
    }));

    it("read plain JSON, whoever wrote it", inWorld(make, async (world) => {
      const schemas = await world.open();
      for (const text of texts) expect(await schemas.decode(`${world.prefix}.ledger`, utf8(text))).toBe(text);
    }));

    it("read bytes that lie within others", inWorld(make, async (world) => {
      const schemas = await world.open();
      const topic = `${world.prefix}.ledger`;
      const bytes = await schemas.encode(topic, '{"a":1}');
      const around = new Uint8Array(bytes.length + 9);
      around.set(bytes, 4);
      expect(await schemas.decode(topic, around.subarray(4, 4 + bytes.length))).toBe('{"a":1}');
    }));

    it("say of bytes that are no text that they are no record", inWorld(make, async (world) => {
      const schemas = await world.open();
      for (const bytes of [[0xff, 0xfe], [0x7b, 0xc3, 0x28], [0xed, 0xa0, 0x80]]) {
        expect(await schemas.decode(`${world.prefix}.ledger`, Uint8Array.from(bytes))).toBeNull();
      }
    }));
  });
}
