import fc from "fast-check";
import kafkajs from "kafkajs";
import { expect, it } from "vitest";
import { partitionOf } from "../../core/placement.ts";

it("places a key where another client of Kafka places it", () => {
  const choose = kafkajs.Partitioners.DefaultPartitioner();
  fc.assert(fc.property(fc.string({ unit: "binary", minLength: 1 }), fc.integer({ min: 1, max: 48 }), (key, partitions) => {
    const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({ partitionErrorCode: 0, partitionId, leader: 1, replicas: [1], isr: [1] }));
    expect(partitionOf(key, partitions)).toBe(choose({ topic: "t", partitionMetadata, message: { key: Buffer.from(key), value: null } }));
  }));
});
