// Sends each line of a file as a key and prints the partition that the client chose, then the key.
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

public class Placed {
  public static void main(String[] args) throws Exception {
    Properties settings = new Properties();
    settings.put("bootstrap.servers", System.getenv("LOOPLEDGER_KAFKA_BROKERS"));
    settings.put("linger.ms", "50");
    List<Future<RecordMetadata>> sent = new ArrayList<>();
    try (var producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      for (String key : Files.readAllLines(Path.of(args[1]))) sent.add(producer.send(new ProducerRecord<>(args[0], key, "java")));
      for (Future<RecordMetadata> one : sent) System.out.println(one.get().partition());
    }
  }
}
