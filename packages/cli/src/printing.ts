/** What the command writes: answers on stdout, and nothing else there; progress, hints and errors on stderr. */
import { styleText } from "node:util";

export type Style = "bold" | "dim" | "green" | "red" | "yellow" | "cyan" | "magenta" | "blue";

export interface Printer {
  /** A line of the answer on stdout. */
  line(text: string): void;
  /** One JSON document on stdout, indented by two spaces. */
  json(value: unknown): void;
  /** One row of a list or stream on stdout (NDJSON); it carries its `cursor`. */
  row(value: { readonly cursor: string | number } & Readonly<Record<string, unknown>>): void;
  /** A line for the person who watches, on stderr. */
  note(text: string): void;
  /** Bytes as they are, on stderr. */
  raw(chunk: Uint8Array | string): void;
  /** Colours the text where the answer goes to a terminal that shows colours. */
  paint(style: Style | readonly Style[], text: string): string;
  /** The same for what goes to stderr. */
  paintNotes(style: Style | readonly Style[], text: string): string;
  /** stdout is a terminal whose lines may be redrawn. */
  readonly isTerminal: boolean;
  /** stderr is one. */
  readonly redrawsNotes: boolean;
}
export interface PrinterOptions {
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly colours: boolean;
  readonly redraws: boolean;
}

export function makePrinter({ stdout, stderr, colours, redraws }: PrinterOptions): Printer {
  const painter = (stream: NodeJS.WriteStream) => (style: Style | readonly Style[], text: string): string =>
    (colours && stream.isTTY === true ? styleText(style as Style[], text, { validateStream: false }) : text);
  return {
    line: (text) => void stdout.write(`${text}\n`),
    json: (value) => void stdout.write(`${JSON.stringify(value, null, 2)}\n`),
    row: (value) => void stdout.write(`${JSON.stringify(value)}\n`),
    note: (text) => void stderr.write(`${text}\n`),
    raw: (chunk) => void stderr.write(chunk),
    paint: painter(stdout),
    paintNotes: painter(stderr),
    isTerminal: stdout.isTTY === true && redraws,
    redrawsNotes: stderr.isTTY === true && redraws,
  };
}
