import CLarderMicroHTTPD

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A bound TCP socket that clients connect to. Its owner closes it once.
struct ListeningSocket: Sendable {
  let descriptor: Int32
  /// The port it is bound to.
  let port: Int

  /// Binds an address and listens.
  init(host: String, port: Int) throws(HTTPServerError) {
    var address = try SocketAddress(host: host, port: port)
    let descriptor = socket(address.family, ListeningSocket.type, 0)
    guard descriptor >= 0 else { throw .failed(ListeningSocket.text(errno)) }
    do throws(HTTPServerError) {
      var one: Int32 = 1
      let size = socklen_t(MemoryLayout<Int32>.size)
      // Pointers to local values, for the calls alone, here and below.
      _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, size)
      if address.family == AF_INET6 { _ = unsafe setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &one, size) }
      guard unsafe address.withPointer({ unsafe bind(descriptor, $0, $1) }) == 0 else {
        throw ListeningSocket.error(errno, host, port)
      }
      guard listen(descriptor, 1024) == 0 else { throw ListeningSocket.error(errno, host, port) }
      let isBound = unsafe address.withMutablePointer { unsafe getsockname(descriptor, $0, $1) } == 0
      guard isBound, let bound = address.port else { throw .failed(ListeningSocket.text(errno)) }
      self.port = bound
      self.descriptor = descriptor
    } catch {
      close(descriptor)
      throw error
    }
  }

  private static let type = larder_listening_socket_type()

  private static func error(_ code: Int32, _ host: String, _ port: Int) -> HTTPServerError {
    switch code {
    case EADDRINUSE: .addressInUse(host: host, port: port)
    case EADDRNOTAVAIL: .addressNotAvailable(host: host)
    case EACCES, EPERM: .notPermitted(host: host, port: port)
    default: .failed(text(code))
    }
  }

  static func text(_ code: Int32) -> String { unsafe String(cString: strerror(code)) }
}

/// An IP address with a port, in the system's format.
struct SocketAddress {
  private var storage = sockaddr_storage()
  private var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

  /// An empty address that the system fills in.
  init() {}

  /// Parses an address of version 4 or 6.
  init(host: String, port: Int) throws(HTTPServerError) {
    guard let number = UInt16(exactly: port) else { throw .invalidOption("port must be 0 to 65535") }
    var v4 = sockaddr_in()
    var v6 = sockaddr_in6()
    // inet_pton fills in the local value.
    if unsafe inet_pton(AF_INET, host, &v4.sin_addr) == 1 {
      v4.sin_family = sa_family_t(AF_INET)
      v4.sin_port = number.bigEndian
      length = socklen_t(MemoryLayout<sockaddr_in>.size)
      unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: v4, as: sockaddr_in.self) }
    } else if unsafe inet_pton(AF_INET6, host, &v6.sin6_addr) == 1 {
      v6.sin6_family = sa_family_t(AF_INET6)
      v6.sin6_port = number.bigEndian
      length = socklen_t(MemoryLayout<sockaddr_in6>.size)
      unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: v6, as: sockaddr_in6.self) }
    } else {
      throw .invalidAddress(host)
    }
  }

  var family: Int32 { Int32(storage.ss_family) }

  var port: Int? {
    switch family {
    case AF_INET: Int(UInt16(bigEndian: read(as: sockaddr_in.self).sin_port))
    case AF_INET6: Int(UInt16(bigEndian: read(as: sockaddr_in6.self).sin6_port))
    default: nil
    }
  }

  /// The address as text, without the port; empty for another family.
  var text: String {
    var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    var v4 = read(as: sockaddr_in.self).sin_addr
    var v6 = read(as: sockaddr_in6.self).sin6_addr
    let size = socklen_t(buffer.count)
    // The buffer is as long as the longest text with its terminating zero.
    let written: Bool =
      switch family {
      case AF_INET: unsafe inet_ntop(AF_INET, &v4, &buffer, size) != nil
      case AF_INET6: unsafe inet_ntop(AF_INET6, &v6, &buffer, size) != nil
      default: false
      }
    guard written else { return "" }
    return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Both structures are smaller than the storage, and any bytes are valid values of them.
  private func read<Address>(as type: Address.Type) -> Address {
    unsafe withUnsafeBytes(of: storage) { unsafe $0.loadUnaligned(as: type) }
  }

  func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    unsafe withUnsafePointer(to: storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
    }
  }

  /// For calls that fill in an address: before the call the length is the capacity, afterwards the address's length.
  mutating func withMutablePointer<Result>(
    _ body: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Result
  ) -> Result {
    length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    var filled = length
    let result = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, &filled) }
    }
    length = filled
    return result
  }
}
