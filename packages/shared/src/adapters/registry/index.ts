/** The ports of schemas: a Confluent-compatible registry, or none. */
export type { RegistryLog, RegistryOptions } from "./client.ts";
export { createPlainSchemas } from "./plain.ts";
export type { RegistryPublisher, SubjectState } from "./publisher.ts";
export { openRegistrySchemas, type RegistrySchemas } from "./schemas.ts";
