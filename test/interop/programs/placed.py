"""Sends each line of a file as a key and prints the partition that librdkafka chose."""
import os
import sys

from confluent_kafka import Producer

producer = Producer({
    "bootstrap.servers": os.environ["LOOPLEDGER_KAFKA_BROKERS"], "partitioner": "murmur2_random", "linger.ms": 50,
})
partitions = {}


def delivered(error, message):
    if error:
        sys.exit(str(error))
    partitions[message.key()] = message.partition()


with open(sys.argv[2], encoding="utf-8") as file:
    keys = [line.rstrip("\n") for line in file]
for key in keys:
    producer.produce(sys.argv[1], key=key, value="python", on_delivery=delivered)
producer.flush()
for key in keys:
    print(partitions[key.encode()])
