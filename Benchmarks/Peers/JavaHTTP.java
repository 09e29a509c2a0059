// SPDX-License-Identifier: MIT
// Java's HttpClient doing GETs, N at a time, each starting the next when it ends: what a Java program gets from its library.
//
//     java JavaHTTP [get|full [1.2|1.3 CAFILE]] HOST PORT PATH CONNECTIONS REQUESTS
//
// Prints the JSON object that the benchmarks read. Before the clock starts a round of requests makes the connections, and
// thousands more let the compiler see what is hot. For full the machine wants -Djdk.httpclient.allowRestrictedHeaders=connection.

import java.io.FileInputStream;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManagerFactory;

public final class JavaHTTP {
    private final HttpClient client;
    private final HttpRequest request;
    private final AtomicLong bytes = new AtomicLong();

    private JavaHTTP(HttpClient client, HttpRequest request) {
        this.client = client;
        this.request = request;
    }

    private void run(int connections, long requests) throws InterruptedException {
        AtomicLong left = new AtomicLong(requests);
        CountDownLatch done = new CountDownLatch((int) requests);
        bytes.set(0);
        for (int lane = 0; lane < connections; lane++) next(left, done);
        done.await();
    }

    private void next(AtomicLong left, CountDownLatch done) {
        if (left.getAndDecrement() <= 0) return;
        client.sendAsync(request, HttpResponse.BodyHandlers.ofByteArray()).whenComplete((response, error) -> {
            if (error != null || response.statusCode() != 200) {
                System.err.println("JavaHTTP: " + (error != null ? error : "status " + response.statusCode()));
                Runtime.getRuntime().halt(1);
            }
            bytes.addAndGet(response.body().length);
            next(left, done);
            done.countDown();
        });
    }

    private static long processorTime() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
            .getProcessCpuTime();
    }

    private static SSLContext trusting(String file) throws Exception {
        KeyStore roots = KeyStore.getInstance(KeyStore.getDefaultType());
        roots.load(null, null);
        try (FileInputStream stream = new FileInputStream(file)) {
            int count = 0;
            for (var certificate : CertificateFactory.getInstance("X.509").generateCertificates(stream)) {
                roots.setCertificateEntry("root" + count++, certificate);
            }
        }
        TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(roots);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, factory.getTrustManagers(), null);
        return context;
    }

    public static void main(String[] arguments) throws Exception {
        int terms = arguments.length - 5;
        if (terms != 0 && terms != 1 && terms != 3) {
            System.err.println("JavaHTTP [get|full [1.2|1.3 CAFILE]] HOST PORT PATH CONNECTIONS REQUESTS");
            System.exit(2);
        }
        boolean keeps = terms == 0 || !arguments[0].equals("full");
        String[] target = Arrays.copyOfRange(arguments, terms, terms + 5);
        int connections = Integer.parseInt(target[3]);
        long requests = Long.parseLong(target[4]);
        HttpClient.Builder builder = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1);
        if (terms == 3) {
            builder.sslContext(trusting(arguments[2]))
                .sslParameters(new SSLParameters(null, new String[] {"TLSv" + arguments[1]}));
        }
        String url = (terms == 3 ? "https" : "http") + "://" + target[0] + ":" + target[1] + target[2];
        HttpRequest.Builder wanted = HttpRequest.newBuilder(URI.create(url));
        if (!keeps) wanted.header("Connection", "close");
        JavaHTTP load = new JavaHTTP(builder.build(), wanted.build());

        long first = System.nanoTime();
        load.run(connections, connections);
        first = System.nanoTime() - first;
        load.run(connections, Math.max(connections, Math.min(requests, 20_000)));
        long cpu = processorTime();
        long wall = System.nanoTime();
        load.run(connections, requests);
        wall = System.nanoTime() - wall;
        cpu = processorTime() - cpu;
        String resident = Files.readAllLines(Path.of("/proc/self/status")).stream()
            .filter(line -> line.startsWith("VmHWM:")).findFirst().orElse("0").replaceAll("[^0-9]", "");
        System.out.println(
            "{\"requests\": " + requests + ", \"bytes\": " + load.bytes.get() + ", \"wall\": " + wall + ", \"cpu\": " + cpu
                + ", \"resident\": " + resident + (connections == 1 ? ", \"first\": " + first : "") + "}");
        System.exit(0);
    }
}
