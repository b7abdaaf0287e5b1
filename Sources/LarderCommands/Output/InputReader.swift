internal import Dispatch

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Reads a pipe, a terminal or a device in pieces, as its writer provides them.
///
/// The wait blocks none of the threads that tasks share. It ends when the task is cancelled, or at a deadline.
final class InputReader: Sendable {
  /// The error if the deadline has passed.
  struct TimedOut: Error {}

  private let input: InputDescriptor
  /// The pipe whose input ends the wait.
  private let wakeReadEnd: Int32
  private let wakeWriteEnd: Int32
  private let queue = DispatchQueue(label: "larder.input")

  init(_ input: InputDescriptor) throws(FileError.Reason) {
    self.input = input
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw FileError.Reason(errno) }
    (wakeReadEnd, wakeWriteEnd) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
  }

  deinit {
    close(wakeReadEnd)
    close(wakeWriteEnd)
  }

  /// Returns the next bytes, or nil at the end. Only one reader may call it at a time.
  ///
  /// Throws `CancellationError` if the task is cancelled, before or during the wait, ``TimedOut`` after the deadline, and
  /// `FileError.Reason`.
  func next(until deadline: ContinuousClock.Instant? = nil) async throws -> [UInt8]? {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        queue.async { continuation.resume(with: Result { try self.read(until: deadline) }) }
      }
    } onCancel: {
      var byte: UInt8 = 0
      _ = write(wakeWriteEnd, &byte, 1)
    }
  }

  private func read(until deadline: ContinuousClock.Instant?) throws -> [UInt8]? {
    while true {
      var entries = [
        pollfd(fd: wakeReadEnd, events: Int16(POLLIN), revents: 0),
        pollfd(fd: input.number, events: Int16(POLLIN), revents: 0),
      ]
      let timeout = deadline.map { InputReader.milliseconds($0 - .now) } ?? -1
      let count = poll(&entries, nfds_t(entries.count), timeout)
      if count < 0, errno != EINTR { throw FileError.Reason(errno) }
      if entries[0].revents != 0 { throw CancellationError() }
      if let deadline, deadline <= .now { throw TimedOut() }
      guard count > 0, entries[1].revents != 0 else { continue }
      do throws(FileError.Reason) {
        return try FileDescriptors.readChunk(input.number)
      } catch {
        // Another reader was faster; the wait continues.
        if error != FileError.Reason(EAGAIN) { throw error }
      }
    }
  }

  /// The milliseconds of a time span, rounded up, so that the wait never ends too early; at most a day at once.
  private static func milliseconds(_ span: Duration) -> Int32 {
    let limit: Duration = .seconds(86_400)
    let (seconds, attoseconds) = max(.zero, min(span, limit)).components
    return Int32(seconds) * 1000 + Int32((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
