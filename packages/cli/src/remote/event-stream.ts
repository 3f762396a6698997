/** The frames of an event stream. Comments keep the connection alive and say nothing. */
export interface Frame {
  readonly id: string;
  readonly data: string;
}

/** Frames in order, as far as the stream goes; half a frame at its end is none. */
export async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true }).replaceAll("\r\n", "\n");
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const frame = frameOf(text.slice(0, end));
      text = text.slice(end + 2);
      if (frame) yield frame;
    }
  }
}

function frameOf(block: string): Frame | null {
  let id = "";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, name, value = ""] = /^(id|data): ?(.*)$/s.exec(line) ?? [];
    if (name === "id") id = value;
    if (name === "data") data.push(value);
  }
  return data.length === 0 ? null : { id, data: data.join("\n") };
}
