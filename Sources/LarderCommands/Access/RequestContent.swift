@_spi(Stores) internal import LarderCore
internal import LarderHTTP
internal import Synchronization

/// The content of a request, from a file or from standard input, of any length.
///
/// - A regular file longer than ``memoryLimit`` is read while it is sent, and can be sent again. Its length is declared.
/// - Any other input is read first, up to the limit: then its length is known, and it can be sent again.
/// - Input that exceeds the limit (a pipe, a device) is sent as it arrives, in chunks, and only once. If the request
///   must be repeated, it fails with `HTTPTransportError.invalidRequest`.
struct RequestContent: Sendable {
  /// The most bytes that are kept in memory.
  static let memoryLimit = 4 << 20
  private static let chunkSize = 1 << 16

  /// The rules above as a paragraph of a verb's help.
  static let help =
    "Data of any length is sent while it is read. The first 4 MiB of a pipe are kept in memory; a longer request "
    + "cannot be repeated, so use a file if a redirect or a token may require that."

  /// The content to send.
  let body: HTTPBody
  /// The first bytes of the content, from which its type is detected.
  let beginning: [UInt8]

  /// Opens a path, or standard input for `-`, and reads the first part of it.
  ///
  /// Throws ``FileError``, also if that part has not arrived before the deadline, and `CancellationError`.
  static func open(
    _ given: String, _ context: CommandContext, until deadline: ContinuousClock.Instant?
  ) async throws -> RequestContent {
    let displayName = context.displayName(of: given)
    do {
      let input: InputDescriptor
      switch try self.input(given, context) {
      case .bytes(let bytes): return RequestContent(bytes)
      case .descriptor(let descriptor): input = descriptor
      }
      if let (start, count) = input.remainder, count > memoryLimit {
        return try file(input, from: start, count: count, displayName)
      }
      let reader = try InputReader(input)
      let (bytes, isWhole) = try await beginning(of: reader, limit: memoryLimit, until: deadline)
      return isWhole ? RequestContent(bytes) : streaming(bytes, reader, displayName)
    } catch {
      throw failure(error, displayName)
    }
  }

  /// The complete content of a path, or of standard input for `-`, if it is not longer than a limit.
  static func read(
    _ given: String, _ context: CommandContext, limit: Int, until deadline: ContinuousClock.Instant?
  ) async throws -> [UInt8] {
    let displayName = context.displayName(of: given)
    do {
      let bytes: [UInt8]
      let isWhole: Bool
      switch try input(given, context) {
      case .bytes(let available): (bytes, isWhole) = (available, available.count <= limit)
      case .descriptor(let descriptor):
        (bytes, isWhole) = try await beginning(of: try InputReader(descriptor), limit: limit, until: deadline)
      }
      guard isWhole else { throw FileError.Reason(text: "it is larger than the limit of \(limit) bytes") }
      return bytes
    } catch {
      throw failure(error, displayName)
    }
  }

  private init(_ bytes: [UInt8]) {
    body = .bytes(bytes)
    beginning = Array(bytes.prefix(RequestContent.chunkSize))
  }

  private init(_ body: HTTPBody, _ beginning: [UInt8]) {
    self.body = body
    self.beginning = beginning
  }

  /// The source of the content.
  private enum Input {
    case bytes([UInt8])
    case descriptor(InputDescriptor)
  }

  private static func input(_ given: String, _ context: CommandContext) throws -> Input {
    guard given == "-" else { return .descriptor(try InputDescriptor(path: context.path(given))) }
    switch try context.input.take() {
    case .bytes(let bytes): return .bytes(bytes)
    case .descriptor(let number): return .descriptor(InputDescriptor(borrowing: number))
    }
  }

  /// The first part of the content, and whether that was all.
  private static func beginning(
    of reader: InputReader, limit: Int, until deadline: ContinuousClock.Instant?
  ) async throws -> (bytes: [UInt8], isWhole: Bool) {
    var bytes: [UInt8] = []
    while let chunk = try await reader.next(until: deadline) {
      bytes += chunk
      if bytes.count > limit { return (bytes, false) }
    }
    return (bytes, true)
  }

  private static func failure(_ error: any Error, _ displayName: String) -> any Error {
    switch error {
    case let reason as FileError.Reason: FileError(path: displayName, reason: reason.text)
    case is InputReader.TimedOut:
      FileError(path: displayName, reason: "it did not end within the time limit of --timeout")
    default: error
    }
  }

  // MARK: Content that is not in memory

  private static func file(
    _ input: InputDescriptor, from start: Int, count: Int, _ displayName: String
  ) throws(FileError.Reason) -> RequestContent {
    let beginning = try input.read(at: start, count: chunkSize)
    let open: @Sendable () -> HTTPBodyStream = {
      let position = Locked(start)
      return HTTPBodyStream(length: count) {
        let (offset, left) = position.withLock { ($0, start + count - $0) }
        if left <= 0 { return nil }
        do throws(FileError.Reason) {
          let bytes = try input.read(at: offset, count: min(chunkSize, left))
          position.withLock { $0 += bytes.count }
          return bytes.isEmpty ? nil : bytes
        } catch {
          throw HTTPTransportError.other(FileError(path: displayName, reason: error.text).description)
        }
      }
    }
    return RequestContent(.stream(length: count, open: open), beginning)
  }

  private static func streaming(_ beginning: [UInt8], _ reader: InputReader, _ displayName: String) -> RequestContent {
    let streaming = PipeContent(beginning, reader, displayName)
    return RequestContent(.stream(length: nil) { streaming.stream() }, Array(beginning.prefix(chunkSize)))
  }
}

/// Content of which only the beginning is in memory: it can be restarted until more than that has been read.
private final class PipeContent: Sendable {
  private let beginning: [UInt8]
  private let reader: InputReader
  private let displayName: String
  private let hasReadFurther = Atomic(false)

  init(_ beginning: [UInt8], _ reader: InputReader, _ displayName: String) {
    self.beginning = beginning
    self.reader = reader
    self.displayName = displayName
  }

  func stream() -> HTTPBodyStream {
    let hasSentBeginning = Atomic(false)
    let canSend = !hasReadFurther.load(ordering: .acquiring)
    return HTTPBodyStream {
      guard canSend else {
        throw HTTPTransportError.invalidRequest(
          "it must be repeated, but \(self.displayName) cannot be read again; put the data into a file")
      }
      if !hasSentBeginning.exchange(true, ordering: .relaxed) { return self.beginning }
      self.hasReadFurther.store(true, ordering: .releasing)
      do {
        return try await self.reader.next()
      } catch let error as FileError.Reason {
        throw HTTPTransportError.other(FileError(path: self.displayName, reason: error.text).description)
      }
    }
  }
}
