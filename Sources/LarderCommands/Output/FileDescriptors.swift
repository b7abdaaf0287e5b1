#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Reads and writes the process's own streams and files by descriptor.
enum FileDescriptors {
  /// The system's message for an error number.
  static func reason(_ number: Int32) -> String {
    switch number {
    case ENOSPC, EDQUOT: "the disk is full"
    case EMFILE, ENFILE: "too many files are open; 'ulimit -n' shows the limit"
    default: String(cString: strerror(number))
    }
  }

  /// Opens a replacement for each standard stream that the process was started without. Otherwise the next file to be
  /// opened would get that number, and printed output would be written to it. The input is then empty, and writing
  /// fails.
  static func fillStandard() {
    for descriptor in 0...2 as ClosedRange<Int32> where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
      _ = open("/dev/null", O_RDONLY)
    }
  }

  /// Whether the descriptor is a terminal.
  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// The number of characters on a line of the terminal; nil if it is not a terminal or does not say.
  static func columns(_ descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Writes all bytes, repeating partial writes.
  static func write(_ bytes: [UInt8], to descriptor: Int32) throws(OutputError) {
    var start = 0
    while start < bytes.count {
      let from = start
      let written = bytes.withUnsafeBytes { buffer in
        sysWrite(descriptor, UnsafeRawBufferPointer(rebasing: buffer[from...]))
      }
      if written > 0 {
        start += written
        continue
      }
      switch errno {
      case EINTR: continue
      case EPIPE: throw .closed
      case EAGAIN: waitUntilWritable(descriptor)
      case let number: throw .failed(reason(number))
      }
    }
  }

  /// Reads to the end; nil if there are more bytes than the limit.
  static func readAll(_ descriptor: Int32, limit: Int) throws(FileError.Reason) -> [UInt8]? {
    var all: [UInt8] = []
    while let chunk = try readChunk(descriptor) {
      guard chunk.count <= limit - all.count else { return nil }
      all.append(contentsOf: chunk)
    }
    return all
  }

  /// The next bytes; nil at the end.
  static func readChunk(_ descriptor: Int32) throws(FileError.Reason) -> [UInt8]? {
    while true {
      var count = 0
      let chunk = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, initialized in
        count = read(descriptor, buffer.baseAddress, buffer.count)
        initialized = max(count, 0)
      }
      if count > 0 { return chunk }
      if count == 0 { return nil }
      if errno != EINTR { throw FileError.Reason(errno) }
    }
  }

  private static func sysWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    #if canImport(Glibc)
      Glibc.write(descriptor, bytes.baseAddress, bytes.count)
    #elseif canImport(Musl)
      Musl.write(descriptor, bytes.baseAddress, bytes.count)
    #else
      Darwin.write(descriptor, bytes.baseAddress, bytes.count)
    #endif
  }

  /// Releases the file of a descriptor; what is written to the descriptor later is discarded.
  static func detach(_ descriptor: Int32) {
    let nullDevice = open("/dev/null", O_WRONLY | O_CLOEXEC)
    guard nullDevice >= 0 else { return }
    dup2(nullDevice, descriptor)
    close(nullDevice)
  }

  /// Raises the limit of open files and connections as far as the system allows, up to 65,536.
  static func raiseLimit() {
    #if canImport(Glibc)
      let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
      let resource = RLIMIT_NOFILE
    #endif
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0, limit.rlim_cur < 65_536 else { return }
    limit.rlim_cur = min(limit.rlim_max, 65_536)
    _ = setrlimit(resource, &limit)
  }

  /// Whether the process can open `count` more files. If it cannot, the system's libraries end the process with a
  /// signal.
  static func canOpen(_ count: Int) -> Bool {
    var copies: [Int32] = []
    defer { for copy in copies { close(copy) } }
    while copies.count < count {
      let copy = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
      guard copy >= 0 else { return false }
      copies.append(copy)
    }
    return true
  }

  private static func waitUntilWritable(_ descriptor: Int32) {
    var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    _ = poll(&entry, 1, -1)
  }
}
