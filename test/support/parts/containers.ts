/** The last resort: parts in containers, where an engine runs. They end with the process that started them. */
import type { PartName } from "@loopledger/infra/launcher";

const images = { kafka: "confluentinc/cp-kafka:7.9.1", redis: "redis:8-alpine", registry: "apicurio/apicurio-registry:3.3.3" } as const;

export async function startContainer(part: PartName): Promise<string> {
  switch (part) {
    case "kafka": {
      const { KafkaContainer } = await import("@testcontainers/kafka");
      const started = await new KafkaContainer(images.kafka).withKraft().start();
      return `${started.getHost()}:${started.getMappedPort(9093)}`;
    }
    case "redis": {
      const { RedisContainer } = await import("@testcontainers/redis");
      return (await new RedisContainer(images.redis).start()).getConnectionUrl();
    }
    case "registry": {
      const { GenericContainer, Wait } = await import("testcontainers");
      const started = await new GenericContainer(images.registry).withExposedPorts(8080)
        .withWaitStrategy(Wait.forHttp("/apis/ccompat/v7/subjects", 8080)).start();
      return `http://${started.getHost()}:${started.getMappedPort(8080)}/apis/ccompat/v7`;
    }
  }
}
