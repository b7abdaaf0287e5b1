#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Ports for services of a test: on the loopback interface, below those the system hands to outgoing connections.
public enum LoopbackPort {
  /// A port that nothing listens on now. Another process may take it before it is used: be prepared to request another.
  public static func free() throws(ServiceStartError) -> Int {
    for _ in 0..<200 {
      let port = Int.random(in: 20_000..<32_000)
      if canBind(port) { return port }
    }
    throw ServiceStartError(service: "a loopback port", reason: "200 ports from 20000 to 31999 are in use", output: "")
  }

  private static func canBind(_ port: Int) -> Bool {
    guard let descriptor = loopbackSocket() else { return false }
    defer { close(descriptor) }
    return withLoopbackAddress(port: port) { address, length in bind(descriptor, address, length) == 0 }
  }
}

/// A TCP socket that processes started meanwhile do not inherit; `nil` where the system has none left.
func loopbackSocket() -> Int32? {
  #if canImport(Darwin)
    let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
  #elseif canImport(Musl)
    let descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)
  #else
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  #endif
  return descriptor >= 0 ? descriptor : nil
}

/// Calls `body` with the socket address 127.0.0.1 and a port.
func withLoopbackAddress<Result>(port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
  address.sin_addr = in_addr(s_addr: UInt32(0x7f00_0001).bigEndian)
  return withUnsafePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
  }
}
