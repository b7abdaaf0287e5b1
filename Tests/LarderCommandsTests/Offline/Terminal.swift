import Foundation
import LarderTestSupport

@testable import LarderCommands

/// The built executable on a pseudo-terminal.
enum Terminal {
  struct Ending {
    let code: Int32
    /// What a person sees, with the line ends of a terminal.
    let screen: String
  }

  /// Runs it with all three streams on the terminal, at which all lines were typed before the prompt.
  static func larder(_ arguments: [String], typing text: String) async throws -> Ending {
    let (master, slave) = try open()
    defer {
      close(master)
      close(slave)
    }
    let handle = FileHandle(fileDescriptor: slave, closeOnDealloc: false)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: LarderBinary.path)
    process.arguments = arguments
    (process.standardInput, process.standardOutput, process.standardError) = (handle, handle, handle)
    let typed = Array(text.utf8)
    guard write(master, typed, typed.count) == typed.count else { throw POSIXError(.EIO) }
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in done.resume() }
      do { try process.run() } catch { done.resume(throwing: error) }
    }
    // The process has gone, and what it wrote is there.
    _ = fcntl(master, F_SETFL, O_NONBLOCK)
    var screen: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = read(master, &buffer, buffer.count), count > 0 { screen += buffer[..<count] }
    return Ending(code: process.terminationStatus, screen: String(decoding: screen, as: UTF8.self))
  }

  /// Both ends of a new one.
  private static func open() throws -> (master: Int32, slave: Int32) {
    func check(_ result: Int32) throws { if result < 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) } }
    #if os(Linux)
      // What grantpt, unlockpt and ptsname do, which are not declared for Swift.
      let master = Foundation.open("/dev/ptmx", O_RDWR | O_NOCTTY)
      try check(master)
      var (number, lock) = (Int32(0), Int32(0))
      try check(ioctl(master, 0x4004_5431, &lock))
      try check(ioctl(master, 0x8004_5430, &number))
      let name = "/dev/pts/\(number)"
    #else
      let master = posix_openpt(O_RDWR | O_NOCTTY)
      try check(master)
      try check(grantpt(master))
      try check(unlockpt(master))
      let name = String(cString: ptsname(master))
    #endif
    let slave = Foundation.open(name, O_RDWR | O_NOCTTY)
    try check(slave)
    return (master, slave)
  }
}
