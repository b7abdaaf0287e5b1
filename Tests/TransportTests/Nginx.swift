import Foundation
import LarderTestSupport

/// A real server: Debian's nginx (package `nginx-light`, with `openssl` for its throw-away CA) on free loopback ports, with
/// its files in a temporary folder; stopped, and the folder removed, by ``stop()``.
///
/// HTTP/2 over TLS, HTTP/1.1 over TLS, TLS that requires a client certificate, plain HTTP; each serves `/echo`
/// (protocol, method, ALPN), `/big` (a file of 8 MiB), `/text` (4 MiB that gzip well), `/put/…` (DAV: keeps what is
/// PUT), and `/slow` (8 MiB at 256 KiB/s).
final class Nginx: Sendable {
  let folder: URL
  let http2Port: Int
  let http1Port: Int
  let clientPort: Int
  let plainPort: Int
  private let process: Process

  enum Failure: Error { case command(String, Int32), notReady }

  /// Starts one; again with other ports where another process was quicker to take them.
  static func start() throws -> Nginx {
    for _ in 0..<4 {
      do { return try Nginx() } catch Failure.notReady { continue }
    }
    return try Nginx()
  }

  private init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "nginx-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder.appending(path: "www/put"), withIntermediateDirectories: true)
    (http2Port, http1Port, clientPort, plainPort) = try (
      freeLoopbackPort(), freeLoopbackPort(), freeLoopbackPort(), freeLoopbackPort()
    )
    try Nginx.makeCertificates(in: folder)
    try Data(repeating: 0x42, count: 8 << 20).write(to: folder.appending(path: "www/big"))
    try Data(String(repeating: "compress me, please. ", count: 200_000).utf8)
      .write(to: folder.appending(path: "www/text"))
    process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/sbin/nginx")
    process.arguments = ["-p", folder.path, "-c", "nginx.conf", "-e", folder.appending(path: "error.log").path]
    try configuration.write(to: folder.appending(path: "nginx.conf"), atomically: true, encoding: .utf8)
    process.standardError = FileHandle.nullDevice
    try process.run()
    do { try waitUntilReady() } catch {
      stop()
      throw error
    }
  }

  func stop() {
    process.terminate()
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }

  func path(_ name: String) -> String { folder.appending(path: name).path }

  func url(_ port: Int, _ path: String, scheme: String = "https", host: String = "localhost") throws -> URL {
    guard let url = URL(string: "\(scheme)://\(host):\(port)\(path)") else { throw Failure.notReady }
    return url
  }

  /// The pid file is written when the sockets listen.
  private func waitUntilReady() throws {
    let deadline = ContinuousClock.now + .seconds(15)
    while !FileManager.default.fileExists(atPath: path("nginx.pid")) {
      guard process.isRunning, ContinuousClock.now < deadline else { throw Failure.notReady }
      usleep(1000)
    }
  }

  private var configuration: String {
    """
    \(getuid() == 0 ? "user root;" : "") daemon off; worker_processes 1; pid \(path("nginx.pid")); error_log \(path("error.log"));
    events { worker_connections 512; }
    http {
      log_format note '"$request" $status $body_bytes_sent connection=$connection';
      access_log \(path("access.log")) note;
      client_body_temp_path \(path("body")); proxy_temp_path \(path("proxy")); fastcgi_temp_path \(path("fastcgi"));
      uwsgi_temp_path \(path("uwsgi")); scgi_temp_path \(path("scgi"));
      client_max_body_size 0; ssl_protocols TLSv1.2 TLSv1.3; gzip on; gzip_types *; gzip_min_length 1000; default_type application/octet-stream;
      ssl_certificate \(path("server.pem")); ssl_certificate_key \(path("server.key")); root \(path("www"));
      server { listen 127.0.0.1:\(http2Port) ssl http2; \(locations) }
      server { listen 127.0.0.1:\(http1Port) ssl; ssl_protocols TLSv1.2; \(locations) }
      server { listen 127.0.0.1:\(clientPort) ssl; ssl_client_certificate \(path("ca.pem")); ssl_verify_client on; \(locations) }
      server { listen 127.0.0.1:\(plainPort); \(locations) }
    }
    """
  }

  private var locations: String {
    """
    location = /echo { return 200 "$server_protocol $request_method $ssl_protocol $ssl_client_s_dn"; }
    location = /away { return 302 http://localhost:\(plainPort)/echo; }
    location = /client { return 302 https://localhost:\(clientPort)/echo; }
    location = /slow { limit_rate 256k; alias \(path("www/big")); gzip off; }
    location = /big { gzip off; }
    location = /text { add_header ETag '"1"'; }
    location /put/ { dav_methods PUT DELETE; }
    """
  }

  private static func makeCertificates(in folder: URL) throws {
    let extensions = "subjectAltName=DNS:localhost\n"
    try extensions.write(to: folder.appending(path: "san"), atomically: true, encoding: .utf8)
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    for name in ["ca", "other"] {
      try openssl(
        folder,
        [
          "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=\(name)", "-keyout", "\(name).key", "-out",
          "\(name).pem",
        ] + key)
    }
    for name in ["server", "client"] {
      try openssl(
        folder, ["req", "-nodes", "-subj", "/CN=\(name)", "-keyout", "\(name).key", "-out", "\(name).csr"] + key)
      try openssl(
        folder,
        [
          "x509", "-req", "-in", "\(name).csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
          "-extfile", "san", "-out", "\(name).pem",
        ])
    }
    try openssl(folder, ["pkey", "-in", "client.key", "-aes256", "-passout", "pass:secret", "-out", "locked.key"])
    try openssl(
      folder,
      [
        "pkcs12", "-export", "-in", "client.pem", "-inkey", "client.key", "-passout", "pass:secret", "-out",
        "client.p12",
      ])
  }

  private static func openssl(_ folder: URL, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.standardError = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 {
      throw Failure.command(arguments.joined(separator: " "), process.terminationStatus)
    }
  }
}
