/** Leases and read models on one Redis. Losing it, or everything in it, costs time and nothing else. */
export type { RedisLog, RedisOptions } from "./connection.ts";
export { lookAtRedis, type RedisHealth } from "./eviction.ts";
export { openRedisLandmarks, type RedisLandmarksOptions } from "./landmarks.ts";
export { openRedisOwnership, type RedisOwnershipOptions } from "./ownership.ts";
export { openRedisReadModel, type RedisReadModelOptions } from "./read-model.ts";
