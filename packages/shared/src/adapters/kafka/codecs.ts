/**
 * Codecs that the client does not bring: Snappy, LZ4 and Zstandard, for batches of other producers and for topics whose broker
 * compresses. A batch in a codec that is not known would stop every reader at its offset. The libraries are loaded when a
 * batch needs them.
 */
import { promisify } from "node:util";
import zlib from "node:zlib";
import kafkajs from "kafkajs";

interface Encoded {
  readonly buffer: Buffer;
}
interface Codec {
  compress(encoder: Encoded): Promise<Buffer>;
  decompress(buffer: Buffer): Promise<Buffer>;
}

const { CompressionCodecs, CompressionTypes } = kafkajs;

/** Java's clients put Snappy blocks into a stream of their own: this mark, two version numbers, then blocks with their length. */
const XERIAL_MARK = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00]);
const XERIAL_HEADER_BYTES = 16;
const XERIAL_VERSION = 1;
const LENGTH_BYTES = 4;

const snappy: Codec = {
  compress: async ({ buffer }) => {
    const { compress } = await import("snappy");
    const block = Buffer.from(await compress(buffer));
    const head = Buffer.alloc(XERIAL_HEADER_BYTES + LENGTH_BYTES);
    XERIAL_MARK.copy(head);
    head.writeInt32BE(XERIAL_VERSION, XERIAL_MARK.length);
    head.writeInt32BE(XERIAL_VERSION, XERIAL_MARK.length + LENGTH_BYTES);
    head.writeInt32BE(block.length, XERIAL_HEADER_BYTES);
    return Buffer.concat([head, block]);
  },
  decompress: async (buffer) => {
    const { uncompress } = await import("snappy");
    const plain = async (block: Buffer): Promise<Buffer> => Buffer.from(await uncompress(block, { asBuffer: true }));
    if (!buffer.subarray(0, XERIAL_MARK.length).equals(XERIAL_MARK)) return plain(buffer);
    const blocks: Buffer[] = [];
    for (let at = XERIAL_HEADER_BYTES; at + LENGTH_BYTES <= buffer.length; ) {
      const start = at + LENGTH_BYTES;
      at = start + buffer.readInt32BE(at);
      blocks.push(await plain(buffer.subarray(start, at)));
    }
    return Buffer.concat(blocks);
  },
};

const lz4: Codec = {
  compress: async ({ buffer }) => (await import("lz4-napi")).compressFrame(buffer),
  decompress: async (buffer) => (await import("lz4-napi")).decompressFrame(buffer),
};

const compressZstd = promisify(zlib.zstdCompress);
const decompressZstd = promisify(zlib.zstdDecompress);
const zstd: Codec = {
  compress: ({ buffer }) => compressZstd(buffer),
  decompress: (buffer) => decompressZstd(buffer),
};

/** What was compressed with the codec of this number; gzip is the client's own. Throws where there is no such codec. */
export async function decompress(number: number, bytes: Buffer): Promise<Buffer> {
  const codec = (CompressionCodecs as Readonly<Record<number, (() => Codec) | undefined>>)[number];
  if (codec === undefined) throw new Error(`A batch is in a codec that is not known (${number}).`);
  return codec().decompress(bytes);
}

/** Makes the codecs known to the client; again is the same as once. */
export function registerCodecs(): void {
  CompressionCodecs[CompressionTypes.Snappy] = () => snappy;
  CompressionCodecs[CompressionTypes.LZ4] = () => lz4;
  CompressionCodecs[CompressionTypes.ZSTD] = () => zstd;
}
