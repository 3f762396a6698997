// The development registry as a process: `serve.ts --port N --file PATH`, until SIGTERM or SIGINT.
import { parseArgs } from "node:util";
import { SchemaStore, serveRegistry } from "./registry.ts";

const { values } = parseArgs({ options: { port: { type: "string", default: "8081" }, file: { type: "string", default: ":memory:" } } });
const store = new SchemaStore(values.file);
const server = serveRegistry(store).listen(Number(values.port), "127.0.0.1");
const stop = (): void => {
  server.close(() => store.close());
  server.closeAllConnections();
};
process.once("SIGTERM", stop);
process.once("SIGINT", stop);
