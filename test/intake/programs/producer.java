import java.util.Properties;
import java.util.concurrent.Future;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

/** Puts goals on a topic as a Java service would: BROKERS TOPIC CODEC COUNT. */
public class Producer {
  public static void main(String[] words) throws Exception {
    Properties settings = new Properties();
    settings.put("bootstrap.servers", words[0]);
    settings.put("compression.type", words[2]);
    settings.put("linger.ms", "500");
    settings.put("batch.size", "500000");
    settings.put("acks", "all");
    int count = Integer.parseInt(words[3]);
    // Large enough for several blocks of each codec in one batch.
    String notes = "What was seen before, again and again. ".repeat(200);
    try (KafkaProducer<String, String> producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer())) {
      List<Future<RecordMetadata>> sent = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        String goal = "{\"goal\":\"Goal " + i + " über " + words[2] + "\",\"maker\":\"m\",\"check\":\"c\",\"inputs\":{\"notes\":\"" + notes + i + "\"}}";
        sent.add(producer.send(new ProducerRecord<>(words[1], words[2] + "-" + i, goal)));
      }
      for (Future<RecordMetadata> one : sent) one.get();
    }
  }
}
