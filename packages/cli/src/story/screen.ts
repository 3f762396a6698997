/**
 * Where a story is told: whole lines above, and on a terminal one line below that says what is going on now and is redrawn.
 * Output of a maker comes in pieces; it is shown in whole lines, so that nothing is torn apart.
 */
import { cutText } from "@loopledger/shared/core/json";
import { stripVTControlCharacters } from "node:util";
import { plainText } from "./telling.ts";

export interface ScreenOptions {
  readonly stream: NodeJS.WriteStream;
  /** The last line may be redrawn. */
  readonly redraws: boolean;
  /** What is going on now; empty = nothing is shown. */
  readonly now?: () => string;
}
export interface Screen {
  /** One whole line. */
  line(text: string): void;
  /** A piece of output that somebody else wrote; `prefix` stands before each of its lines. */
  piece(chunk: Uint8Array, prefix: string): void;
  /** Shows what has come without a line's end, and takes the live line away. */
  close(): void;
}

const redrawMs = 120;
/** Output that never ends its line is shown all the same. */
const lineMax = 16_384;
const clearLine = "\r\u001b[2K";

export function makeScreen({ stream, redraws, now }: ScreenOptions): Screen {
  const decoder = new TextDecoder();
  let partial = "";
  let partialPrefix = "";
  let drawn = false;
  const clear = (): void => {
    if (drawn) stream.write(clearLine);
    drawn = false;
  };
  const draw = (): void => {
    const text = now?.() ?? "";
    if (!redraws || text === "") {
      clear();
      return;
    }
    stream.write(`${clearLine}${fitting(text, stream.columns)}`);
    drawn = true;
  };
  const timer = redraws ? setInterval(draw, redrawMs) : null;
  const write = (text: string): void => {
    clear();
    stream.write(`${text}\n`);
    if (redraws) draw();
  };
  const flush = (): void => {
    if (partial !== "") write(`${partialPrefix}${redraws ? plainText(partial) : partial}`);
    partial = "";
  };
  return {
    line: (text) => {
      flush();
      write(text);
    },
    piece: (chunk, prefix) => {
      const lines = (partial + decoder.decode(chunk, { stream: true })).split("\n");
      partial = lines.pop() ?? "";
      partialPrefix = prefix;
      // On a terminal somebody else's output must not move the cursor; in a file it stays as it came.
      for (const text of lines) write(`${prefix}${redraws ? plainText(text) : text}`);
      if (partial.length > lineMax) flush();
    },
    close: () => {
      flush();
      if (timer) clearInterval(timer);
      clear();
    },
  };
}

/** Cut to the terminal's width; colours are dropped where it has to be cut, so that none stays open. */
export function fitting(text: string, columns: number | undefined): string {
  const plain = stripVTControlCharacters(text);
  const width = columns ?? 80;
  return plain.length < width ? text : `${cutText(plain, width - 2)}…`;
}
