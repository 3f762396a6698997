export type * from "./blobs.ts";
export type * from "./clock.ts";
export type * from "./handlers.ts";
export type * from "./host.ts";
export type * from "./ledger.ts";
export type * from "./ownership.ts";
export type * from "./read-model.ts";
export type * from "./schemas.ts";
