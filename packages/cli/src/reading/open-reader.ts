/** The reader that the command line asks for: of the data folder, or of the gateway that --url names. */
import type { CommandContext } from "../context.ts";
import type { Reader } from "./reader.ts";

export async function withReader<T>(context: CommandContext, work: (reader: Reader) => Promise<T>): Promise<T> {
  const reader = await openReader(context);
  try {
    return await work(reader);
  } finally {
    await reader.close();
  }
}

async function openReader(context: CommandContext): Promise<Reader> {
  if (context.remote) {
    const { RemoteReader } = await import("../remote/remote-reader.ts");
    return new RemoteReader(context.remote);
  }
  const [{ openSource }, { LocalReader }] = await Promise.all([import("./source.ts"), import("./local-reader.ts")]);
  return new LocalReader(await openSource(context), context.where);
}
